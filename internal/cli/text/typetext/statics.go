package typetext

import (
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli/text"
	"github.com/sosgo/sosgo/internal/report"
)

// Statics is the text of statics.
func Statics(p *report.Page, fields iter.Seq2[answer.StaticField, error]) {
	for f := range report.Each(p, fields) {
		value, note := text.PlaceText(p.SOS, &f.Place)
		if note != "" {
			note = " = " + report.Escape(note)
		}
		thread := ""
		if f.Thread != 0 {
			thread = fmt.Sprintf(" (thread %x)", f.Thread)
		}
		slot := ""
		if f.Slot != 0 { // a field that was never initialised has none, and that of another may not be known
			slot = report.Hex16(f.Slot)
		}
		p.Printf("%16s %16s %s.%s%s%s\n", slot, value,
			report.Escape(f.DeclaringType.String()), report.Escape(f.Name.String()), thread, note)
	}
}
