package threadtext

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// OSThreadsOptions select what OSThreads writes.
type OSThreadsOptions struct {
	Verbose bool // with the addresses of code, stack, frame and environment block
	Times   bool // with processor times
}

// OSThreads is the text of threads.
func OSThreads(p *report.Page, l *answer.OSThreads, o OSThreadsOptions) {
	if o.Times {
		timesHead(p)
		p.Print("Thread\n")
	}
	for i := range l.Threads {
		osThread(p, &l.Threads[i], o)
	}
	for i := range l.Threads {
		if o.Times {
			noTimes(p, &l.Threads[i].Thread, l.Threads[i].NoTimes)
		}
	}
}

func osThread(p *report.Page, t *answer.OSThread, o OSThreadsOptions) {
	mark := " "
	if t.Current {
		mark = "*"
	}
	if o.Times {
		timesOf(p, t.User, t.Kernel)
	}
	p.Printf("%s%s 0x%04X (%d)", mark, index(&t.Thread), t.OSID, t.OSID)
	if !p.SOS {
		remark(p, t)
	}
	p.Print("\n")
	if !o.Verbose {
		return
	}
	for _, r := range []struct {
		label string
		value answer.Maybe[target.Addr]
	}{{"IP", t.IP}, {"SP", t.SP}, {"FP", t.FP}} {
		text := "0x" + report.Hex16(r.value.Value)
		if r.value.Err() != nil {
			text = answer.Absent(r.value.Err())
		}
		p.Printf("    %-3s %s\n", r.label, text)
	}
	p.Printf("    TEB 0x%s\n", report.Hex16(t.TEB))
}

// timesWidth is the width of the columns with processor times.
const timesWidth = 25

// timesHead writes the heads of the columns with processor times.
func timesHead(p *report.Page) { p.Printf("%11s %11s  ", "User", "Kernel") }

// timesOf writes the columns with processor times.
func timesOf(p *report.Page, user, kernel answer.Maybe[answer.Seconds]) {
	p.Printf("%11s %11s  ", seconds(user), seconds(kernel))
}

// seconds formats a processor time.
func seconds(t answer.Maybe[answer.Seconds]) string {
	if t.Err() != nil {
		return answer.Absent(t.Err())
	}
	return fmt.Sprintf("%.3f s", float64(t.Value))
}

// noTimes writes why a thread has no times, if other threads have some.
func noTimes(p *report.Page, t *answer.Thread, why string) {
	if why != "" && !p.SOS {
		p.Printf("Thread %s: %s\n", index(t), report.Escape(why))
	}
}

// remark writes sosgo's additions to a line of threads.
func remark(p *report.Page, t *answer.OSThread) {
	if t.Thread.Thread != 0 {
		p.Print(" managed")
		if t.ManagedID != 0 { // NativeAOT programs do not record it
			p.Printf(" %d", t.ManagedID)
		}
	}
	if t.Name != "" {
		p.Print(" " + answer.Quote(t.Name))
	}
	if t.Crashed != "" {
		p.Print(" crashed: " + report.Escape(t.Crashed))
	}
}

// index formats the number of a thread, as SOS and debuggers count.
func index(t *answer.Thread) string {
	if t.Index == nil {
		return "XXXX"
	}
	return strconv.Itoa(*t.Index)
}

// Registers is the text of registers. SOS prints only the registers in the processor's CONTEXT.
func Registers(p *report.Page, r *answer.Registers) {
	if r.Others && !p.SOS {
		p.Print("At the exception; registers -now has those of the moment of the dump.\n")
	}
	inContext := len(r.Registers) > 0 && r.Registers[0].InContext
	for i := range r.Registers {
		switch g := &r.Registers[i]; {
		case p.SOS && inContext && !g.InContext:
		case g.Value.Err() != nil:
			p.Printf("%s = %s\n", g.Name, answer.Absent(g.Value.Err()))
		default:
			p.Printf("%s = 0x%0*X\n", g.Name, 2*g.Size, uint64(g.Value.Value))
		}
	}
	vectors(p, r.Vectors)
	if r.Float == nil {
		return
	}
	p.Printf("mxcsr = 0x%08x\n", uint64(r.Float.MXCSR))
	for _, w := range r.Float.ST {
		p.Printf("%s = 0x%04x%016x\n", w.Name, uint64(w.High), uint64(w.Low))
	}
	vectors(p, r.Float.XMM)
}

// vectors writes vector registers with their lower halves as numbers.
func vectors(p *report.Page, list []answer.WideRegister) {
	for _, w := range list {
		p.Printf("%s = 0x%016x%016x (%v)\n", w.Name, uint64(w.High), uint64(w.Low), math.Float64frombits(uint64(w.Low)))
	}
}

// States is the text of threadstate.
func States(p *report.Page, s *answer.ThreadStates) {
	for _, words := range s.States {
		p.Printf("    %s\n", words)
	}
}

// SyncBlocks is the text of syncblk.
func SyncBlocks(p *report.Page, l *answer.SyncBlocks) {
	p.Print("Index         SyncBlock MonitorHeld Recursion Owning Thread Info          SyncBlock Owner\n")
	for b, err := range l.Blocks {
		switch {
		case p.Err() != nil || p.Ended(err):
			return
		case err != nil:
			p.Warn(err)
			p.Printf("%5d %s\n", b.Index, answer.Absent(err))
		default:
			syncBlock(p, &b)
		}
	}
	if l.Total.Err() == nil {
		p.Printf("-----------------------------\nTotal           %d\nFree            %d\n", l.Total.Value, l.Free.Value)
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

// invalidObject is SOS's text for an object with an invalid type.
const invalidObject = "<Invalid Object>"

// objectType returns the name of an object's type. SOS has its own text for invalid objects.
func objectType(p *report.Page, name answer.Text) string {
	if p.SOS && errors.Is(name.Err, target.ErrCorrupt) {
		return invalidObject
	}
	return report.Escape(name.String())
}
