package threadtext

import (
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// StackObjects is the text of dumpstackobjects.
func StackObjects(p *report.Page, s *answer.StackObjects) {
	first := true
	for t := range report.Each(p, s.Threads) {
		if !first {
			p.Print("\n")
		}
		first = false
		switch {
		case t.Objects == nil:
		case t.Precise:
			threadHeading(p, &t.ThreadID)
			heldObjects(p, t)
		default:
			threadHeading(p, &t.ThreadID)
			scannedObjects(p, t)
		}
	}
}

func scannedObjects(p *report.Page, t *answer.ThreadObjects) {
	if t.Normal != nil {
		p.Printf("Note: Thread appears to be on alternate signal stack. Also scanning normal thread stack %x-%x.\n",
			uint64(t.Normal.Start), uint64(t.Normal.End))
	}
	table := p.Table(report.Column{Name: "SP/REG", Kind: report.Pointer}, report.Column{Name: "Object", Kind: report.Pointer},
		report.Column{Name: "Name", Kind: report.TypeName})
	table.Header()
	for o := range report.Each(p, t.Objects) {
		if o.Register != "" {
			table.Text(o.Register)
		} else {
			table.Uint(uint64(o.Slot))
		}
		table.Uint(uint64(o.Object))
		table.Text(objectName(p, &o))
		table.End()
	}
	p.Fail(table.Flush())
}

// objectName returns an object's type and, in sosgo's form, what is in it.
func objectName(p *report.Page, o *answer.StackObject) string {
	if p.SOS {
		if o.Type.Err != nil {
			return "Unknown (MethodTable: " + report.Hex12(o.MethodTable) + ")"
		}
		return o.Type.S
	}
	name := o.Type.String()
	if o.Value != "" {
		name += " " + o.Value
	}
	if o.Unproven {
		name += " (unproven)"
	}
	return name
}

// heldObjects are the references of frames, below a line for each frame.
func heldObjects(p *report.Page, t *answer.ThreadObjects) {
	last := new(answer.HeldReference)
	for o := range report.Each(p, t.Objects) {
		r := o.Held
		if r.FrameSP != last.FrameSP || r.FrameIP != last.FrameIP {
			p.Printf("%s %s %s\n", report.Hex16(r.FrameSP), report.Hex16(r.FrameIP), report.Escape(r.Holder.String()))
		}
		last = r
		p.Printf("    %s\n", referenceLine(p, &r.Root))
	}
}

// Returns is the text of dumpstack.
func Returns(p *report.Page, r *answer.Returns) {
	for t := range report.Each(p, r.Threads) {
		threadHeading(p, &t.ThreadID)
		threadReturns(p, t)
	}
}

// AllReturns is the text of eestack.
func AllReturns(p *report.Page, r *answer.Returns) {
	for t := range report.Each(p, r.Threads) {
		p.Printf("---------------------------------------------\nThread %3d\n", t.Index)
		threadReturns(p, t)
	}
}

// returnSize is how far below its slot a return address leaves the stack pointer of the callee, as SOS shows it.
const returnSize = 8

func threadReturns(p *report.Page, t *answer.ThreadReturns) {
	if t.Returns == nil {
		return
	}
	if t.Current != "" {
		p.Printf("Current frame: %s\n", report.Escape(t.Current))
	}
	note := " (found by scan: each is a call that may have ended)"
	if p.SOS {
		note = ""
	}
	p.Printf("%-16s %-16s %s%s\n", "Child-SP", "RetAddr", "Caller, Callee", note)
	for r := range report.Each(p, t.Returns) {
		line := report.Hex16(r.Slot-returnSize) + " " + report.Hex16(r.IP) + " " + report.Escape(r.Method)
		if r.CalleeIn != "" {
			line += ", calling " + report.Escape(r.CalleeIn)
		}
		p.Printf("%s\n", strings.TrimRight(line, " "))
	}
}
