package typetext

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// DisassemblyOptions select how Disassembly writes instructions.
type DisassemblyOptions struct {
	Offsets  bool // with the offset of each
	NoSource bool // without lines of the source
}

// Disassembly is the text of clru.
func Disassembly(p *report.Page, d *answer.Disassembly, o DisassemblyOptions) {
	if d.Start == 0 {
		p.Print("Not jitted yet\n")
		return
	}
	p.Printf("%s\n%s\n", codeOrigin(d.Kind), report.Escape(d.Name.String()))
	for _, r := range d.Map {
		p.Printf("%08x %s %s\n", uint64(r.IL), report.Hex16(r.Start), report.Hex16(r.End))
	}
	p.Printf("Begin %s, size %x\n", report.Hex16(d.Start), d.Size)
	l := machineListing{p: p, d: d, o: o}
	if d.GC != nil {
		gcFacts(p, d.GC)
		l.gc = gcLines(d.GC)
	}
	missingPart(p, "GC info", d.GCErr)
	missingPart(p, "EH info", d.HandlersErr)
	missingPart(p, "IL", d.ILErr)
	for in := range report.Each(p, d.Instructions) {
		l.before(&in)
		l.instruction(&in)
	}
	if p.Err() == nil {
		l.changes(uint32(d.Size))
		l.handlers(uint32(d.Size))
	}
}

func missingPart(p *report.Page, what string, err error) {
	if err != nil {
		p.Printf("%s: %s\n", what, answer.Absent(err))
	}
}

// A machineListing writes instructions with what happens before each.
type machineListing struct {
	p      *report.Page
	d      *answer.Disassembly
	o      DisassemblyOptions
	gc     []gcLine // what is still to be written
	source answer.SourcePlace
}

// before writes what holds from an instruction on.
func (l *machineListing) before(in *answer.MachineInstruction) {
	if s := in.Source; s != nil && !l.o.NoSource && *s != l.source {
		l.source = *s
		l.p.Printf("\n%s @ %d:\n", report.Escape(s.File), s.Line)
	}
	for i := range in.ILCode {
		il := &in.ILCode[i]
		l.p.Printf("IL_%04x: %s %s\n", il.Offset, il.Opcode, report.Escape(ilOperand(l.p, &il.Operand)))
	}
	l.changes(in.Offset)
	l.handlers(in.Offset)
}

// changes writes the changes of live slots up to an offset.
func (l *machineListing) changes(offset uint32) {
	for len(l.gc) > 0 && l.gc[0].offset <= offset {
		l.p.Printf("%08x%s\n", l.gc[0].offset, l.gc[0].text)
		l.gc = l.gc[1:]
	}
}

// handlers writes the exception handlers that end or begin at an offset: ends innermost first, then begins outermost
// first. It skips duplicates, except copies of finally blocks.
func (l *machineListing) handlers(offset uint32) {
	all := l.d.Handlers
	for i := range all {
		if c := &all[i]; c.Cloned && c.Handler.End == offset {
			l.p.Printf("EHHandler %d: CLONED FINALLY END\n", i)
		}
	}
	for i := range all {
		if !all[i].Duplicate {
			l.handlerEnd(i, &all[i], offset)
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		c := &all[i]
		if c.Cloned && c.Handler.Start == offset {
			l.p.Printf("EHHandler %d: CLONED FINALLY BEGIN\n", i)
		}
		if !c.Duplicate {
			l.handlerBegin(i, c, offset)
		}
	}
}

func (l *machineListing) handlerEnd(i int, c *answer.HandlerClause, offset uint32) {
	if c.Try.End == offset {
		l.p.Printf("EHHandler %d: %s CLAUSE END\n", i, c.Kind)
	}
	if c.Handler.End == offset {
		l.p.Printf("EHHandler %d: %s HANDLER END\n", i, c.Kind)
	}
}

func (l *machineListing) handlerBegin(i int, c *answer.HandlerClause, offset uint32) {
	caught := ""
	if c.Kind == answer.HandlerTyped {
		caught = " catch(" + report.Escape(c.Catches.String()) + ") "
	}
	if c.Try.Start == offset {
		l.p.Printf("EHHandler %d: %s CLAUSE BEGIN%s\n", i, c.Kind, caught)
	}
	if c.Handler.Start == offset {
		l.p.Printf("EHHandler %d: %s HANDLER BEGIN%s\n", i, c.Kind, caught)
	}
	if c.Filter != nil && *c.Filter == offset {
		l.p.Printf("EHHandler %d: %s FILTER BEGIN\n", i, c.Kind)
	}
}

// instruction writes one instruction.
func (l *machineListing) instruction(in *answer.MachineInstruction) {
	var b strings.Builder
	at := l.d.Start + target.Addr(in.Offset)
	if at == l.d.At && at != l.d.Start {
		b.WriteString(">>> ")
	}
	if l.o.Offsets {
		fmt.Fprintf(&b, "%04x ", in.Offset)
	}
	text := in.Text
	if text == "" {
		text = "(bad)"
	}
	fmt.Fprintf(&b, "%s %-20s %s", report.Hex16(at), in.Bytes, text)
	if in.Name != "" {
		fmt.Fprintf(&b, " (%s)", report.Escape(in.Name))
	}
	l.p.Printf("%s\n", b.String())
}
