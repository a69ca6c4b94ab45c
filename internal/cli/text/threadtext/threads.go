package threadtext

import (
	"math"
	"strconv"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/target"
)

// OSThreadsOptions select what OSThreads writes.
type OSThreadsOptions struct {
	Verbose bool // also pointers to code, stack, frame and environment block
}

// OSThreads is the text of threads.
func OSThreads(p *report.Page, l *answer.OSThreads, o OSThreadsOptions) {
	for i := range l.Threads {
		osThread(p, &l.Threads[i], o)
	}
}

func osThread(p *report.Page, t *answer.OSThread, o OSThreadsOptions) {
	mark := " "
	if t.Current {
		mark = "*"
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
		if r.value.Err != nil {
			text = answer.Absent(r.value.Err)
		}
		p.Printf("    %-3s %s\n", r.label, text)
	}
	p.Printf("    TEB 0x%s\n", report.Hex16(t.TEB))
}

// remark is what sosgo adds to a line of threads.
func remark(p *report.Page, t *answer.OSThread) {
	if t.Thread.Thread != 0 {
		p.Print(" managed")
		if t.ManagedID != 0 { // a NativeAOT program does not record it
			p.Printf(" %d", t.ManagedID)
		}
	}
	if t.Name != "" {
		p.Print(" " + strconv.Quote(t.Name))
	}
	if t.Crashed != "" {
		p.Print(" crashed: " + report.Escape(t.Crashed))
	}
}

// index returns the number of a thread, as SOS and debuggers count.
func index(t *answer.Thread) string {
	if t.Index == nil {
		return "XXXX"
	}
	return strconv.Itoa(*t.Index)
}

// Registers is the text of registers. SOS has those of the processor's CONTEXT
// alone.
func Registers(p *report.Page, r *answer.Registers) {
	if r.Others && !p.SOS {
		p.Print("At the exception; registers -now has those of the moment of the dump.\n")
	}
	inContext := len(r.Registers) > 0 && r.Registers[0].InContext
	for i := range r.Registers {
		switch g := &r.Registers[i]; {
		case p.SOS && inContext && !g.InContext:
		case g.Value.Err != nil:
			p.Printf("%s = %s\n", g.Name, answer.Absent(g.Value.Err))
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

// vectors are vector registers, with the number that is in the lower half of each.
func vectors(p *report.Page, list []answer.WideRegister) {
	for _, w := range list {
		p.Printf("%s = 0x%016x%016x (%v)\n", w.Name, uint64(w.High), uint64(w.Low), math.Float64frombits(uint64(w.Low)))
	}
}
