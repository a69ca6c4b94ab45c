package threadtext

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/target"
)

// SyncBlocks is the text of syncblk.
func SyncBlocks(p *report.Page, l *answer.SyncBlocks) {
	p.Print("Index         SyncBlock MonitorHeld Recursion Owning Thread Info          SyncBlock Owner\n")
	for b, err := range l.Blocks {
		switch {
		case p.Err() != nil:
			return
		case errors.Is(err, target.ErrNotInDump), errors.Is(err, target.ErrCorrupt), errors.Is(err, target.ErrUnsupported):
			p.Warn(err)
			p.Printf("%5d %s\n", b.Index, answer.Absent(err))
		case err != nil: // the user wants no more
			p.Fail(err)
			return
		default:
			syncBlock(p, &b)
		}
	}
	if l.SyncBlockCounts != nil {
		p.Printf("-----------------------------\nTotal           %d\nFree            %d\n", l.Total, l.Free)
	}
}

func syncBlock(p *report.Page, b *answer.SyncBlock) {
	thread, info := b.Thread, fmt.Sprintf("%x  XXX ", b.OSID)
	switch {
	case !b.Held:
		thread, info = b.Recorded, "    none  "
	case b.Thread == 0:
		thread, info = b.Recorded, " orphaned "
	case b.OwnerIndex != nil:
		info = fmt.Sprintf("%x %3d ", b.OSID, *b.OwnerIndex)
	}
	p.Printf("%5d %s  %11d %9d %s %s  %s %s\n", b.Index, report.Hex16(b.Address), b.MonitorHeld, b.Recursion, report.Hex16(thread), info,
		report.Hex16(b.Object), objectType(p, b.Type))
}

// invalidObject is what SOS prints for an object with an impossible type.
const invalidObject = "<Invalid Object>"

// objectType returns the name of an object's type. SOS has words of its own for what
// is no object.
func objectType(p *report.Page, name answer.Text) string {
	if p.SOS && errors.Is(name.Err, target.ErrCorrupt) {
		return invalidObject
	}
	return report.Escape(name.String())
}
