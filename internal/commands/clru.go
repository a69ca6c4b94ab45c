package commands

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/codeinfo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/disasm"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func clruCommand() cli.Command {
	return cli.Command{
		Name:    "clru",
		Aliases: []string{"u"},
		Group:   cli.GroupTypes,
		Summary: "disassemble a method",
		Help: "The whole code of the method, with the names of what it calls and of types, objects and strings that it " +
			"loads. An address inside the code is marked with >>>.",
		Options: []cli.Option{
			{Name: "gcinfo", Summary: "show where slots begin and end to hold references"},
			{Name: "ehinfo", Summary: "show where exception handlers and their code begin and end"},
			{Name: "il", Summary: "show the IL that code was made from"},
			{Name: "map", Summary: "list the map from IL to code first"},
			{Name: "o", Summary: "show the offset of each instruction"},
			{Name: "n", Summary: "leave out source lines"},
		},
		Args: []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "MethodDesc, or address in its code"}},
		Examples: []cli.Example{
			{Line: "clru 7f27f48618d8", Text: "the code of a method"},
			{Line: "clru -gcinfo -ehinfo 7f27f487b3a0", Text: "with what the compiler recorded beside it"},
		},
		NeedsDump: true,
		Result:    []report.Part{report.Whole[disassemblyResult]()},
		Run:       runClru,
	}
}

// disassemblyResult is the JSON form.
type disassemblyResult struct {
	Method       report.Address      `json:"method" doc:"MethodDesc"`
	Name         string              `json:"name" doc:"method"`
	Kind         string              `json:"kind" doc:"JIT or ReadyToRun"`
	Start        report.Address      `json:"start" doc:"entry point of the code, 0x0 if there is none"`
	Size         uint64              `json:"size" doc:"bytes"`
	Instructions []instructionResult `json:"instructions" doc:"by address"`
}

type instructionResult struct {
	Offset uint32          `json:"offset" doc:"from the start, in bytes"`
	Bytes  string          `json:"bytes" doc:"hexadecimal"`
	Text   string          `json:"text,omitempty" doc:"mnemonic and operands; absent for bytes that are no instruction"`
	Ref    *report.Address `json:"ref,omitempty" doc:"address that the instruction names"`
	Name   string          `json:"name,omitempty" doc:"what lies there"`
	IL     *int            `json:"il,omitempty" doc:"offset of the IL that the code from here on was made from"`
	Source *sourcePlace    `json:"source,omitempty" doc:"source line from here on"`
}

// A disassembly prints one method.
type disassembly struct {
	c     *cli.Context
	rt    *dac.Runtime
	info  code.Info
	asked target.Addr
	names *disasm.Names

	gc     []gcLine
	eh     []codeinfo.EHClause
	ilMap  []code.ILMapping
	il     *ilListing
	source code.SourceLine
}

func runClru(c *cli.Context) error {
	rt, err := runtimeOf(c)
	if err != nil {
		return err
	}
	r, err := viewOf(c).Objects()
	if err != nil {
		return err
	}
	a, _ := c.Addr("address")
	info, err := codeAt(rt, a)
	if err != nil {
		return err
	}
	d := &disassembly{c: c, rt: rt, info: info, asked: a, names: disasm.NewNames(rt, r)}
	if info.Start == 0 {
		return noCode(c, "Not jitted yet", d.result(nil))
	}
	text, err := code.Of(rt).Code(info)
	if err != nil {
		return err
	}
	if d.ilMap, err = code.Of(rt).ILMap(info); err != nil && !code.NoDebugInfo(err) {
		c.Warn(err)
	}
	if e := c.JSON(); e != nil {
		return e.Value(d.result(text))
	}
	return d.print(text)
}

func (d *disassembly) print(code []byte) error {
	c := d.c
	_, name := methodLabel(c, d.rt, d.info)
	c.Printf("%s\n%s\n", codeOrigin(d.info), report.Escape(name))
	d.printMap()
	c.Printf("Begin %s, size %x\n", report.Hex16(d.info.Start), d.info.Size)
	if err := d.gather(); err != nil {
		return err
	}
	for in := range disasm.Decode(code, d.info.Start) {
		if err := c.Context().Err(); err != nil {
			return err
		}
		offset := uint32(in.Addr - d.info.Start)
		d.before(offset)
		d.instruction(&in, offset)
	}
	d.printGC(uint32(len(code)))
	d.printEH(uint32(len(code)))
	return nil
}

// gather reads what the options ask for, and prints what holds for the whole
// method.
func (d *disassembly) gather() error {
	c := d.c
	if c.Bool("gcinfo") {
		if err := d.gatherGC(); err != nil {
			c.Printf("GC info: %s\n", absent(c, err))
		}
	}
	if c.Bool("ehinfo") {
		var err error
		if d.eh, err = code.Of(d.rt).EHClauses(d.info); err != nil {
			c.Printf("EH info: %s\n", absent(c, err))
		}
	}
	if c.Bool("il") {
		il, err := methodIL(c, d.rt, d.info.Method)
		switch {
		case err == nil:
			d.il = il
		case !errors.Is(err, code.ErrNoIL):
			c.Printf("IL: %s\n", absent(c, err))
		}
	}
	return nil
}

func (d *disassembly) gatherGC() error {
	var g codeinfo.GCDecoder
	if err := code.Of(d.rt).DecodeGCInfo(&g, d.info); err != nil {
		return err
	}
	states, err := gcStates(&g)
	if err != nil {
		return err
	}
	printGCFacts(d.c, &g)
	d.gc = gcLines(&g, states)
	return nil
}

// before prints what holds from an instruction on.
func (d *disassembly) before(offset uint32) {
	if !d.c.Bool("n") {
		d.printSource(offset)
	}
	d.printIL(offset)
	d.printGC(offset)
	d.printEH(offset)
}

// printSource prints the source line where it changes.
func (d *disassembly) printSource(offset uint32) {
	if _, ok := d.mapped(offset); !ok {
		return
	}
	line, ok := d.sourceAt(offset)
	if ok && (line.File != d.source.File || line.Line != d.source.Line) {
		d.source = line
		d.c.Printf("\n%s @ %d:\n", report.Escape(line.File), line.Line)
	}
}

func (d *disassembly) sourceAt(offset uint32) (code.SourceLine, bool) {
	info := d.info
	info.Offset = offset
	line, err := code.Of(d.rt).SourceLine(info)
	return line, err == nil
}

// mapped is the IL offset that the map has for exactly this offset.
func (d *disassembly) mapped(offset uint32) (int, bool) {
	for _, m := range d.ilMap {
		if m.Native == offset && m.IL >= 0 {
			return int(m.IL), true
		}
	}
	return 0, false
}

// printMap prints the map from IL to code, for -map.
func (d *disassembly) printMap() {
	if !d.c.Bool("map") {
		return
	}
	for i, m := range d.ilMap {
		end := d.info.Start + target.Addr(d.info.Size)
		if i+1 < len(d.ilMap) {
			end = d.info.Start + target.Addr(d.ilMap[i+1].Native)
		}
		d.c.Printf("%08x %s %s\n", uint32(m.IL), report.Hex16(d.info.Start+target.Addr(m.Native)), report.Hex16(end))
	}
}

// printIL prints the IL from the offset that the map has here to the next one
// that it has anywhere.
func (d *disassembly) printIL(offset uint32) {
	start, ok := d.mapped(offset)
	if !ok || d.il == nil {
		return
	}
	end := len(d.il.body.Code)
	for _, m := range d.ilMap {
		if int(m.IL) > start {
			end = min(end, int(m.IL))
		}
	}
	for in, err := range metadata.Instructions(d.il.body.Code) {
		if err != nil || in.Offset >= end {
			return
		}
		if in.Offset >= start {
			d.c.Printf("IL_%04x: %s %s\n", in.Offset, in.Opcode, report.Escape(d.il.operandText(&in)))
		}
	}
}

// printGC prints the changes of live slots up to an offset.
func (d *disassembly) printGC(offset uint32) {
	for len(d.gc) > 0 && d.gc[0].offset <= offset {
		d.c.Printf("%08x%s\n", d.gc[0].offset, d.gc[0].text)
		d.gc = d.gc[1:]
	}
}

// printEH prints what of the exception clauses ends and begins at an offset:
// ends innermost first, then begins outermost first. Duplicates say nothing
// new, but for the copies of finally blocks.
func (d *disassembly) printEH(offset uint32) {
	for i := range d.eh {
		if e := &d.eh[i]; e.ClonedFinally() && e.Handler.End == offset {
			d.c.Printf("EHHandler %d: CLONED FINALLY END\n", i)
		}
	}
	for i := range d.eh {
		if e := &d.eh[i]; !e.Duplicated {
			d.printEHEnd(i, e, offset)
		}
	}
	for i := len(d.eh) - 1; i >= 0; i-- {
		e := &d.eh[i]
		if e.ClonedFinally() && e.Handler.Start == offset {
			d.c.Printf("EHHandler %d: CLONED FINALLY BEGIN\n", i)
		}
		if !e.Duplicated {
			d.printEHBegin(i, e, offset)
		}
	}
}

func (d *disassembly) printEHEnd(i int, e *codeinfo.EHClause, offset uint32) {
	if e.Try.End == offset {
		d.c.Printf("EHHandler %d: %s CLAUSE END\n", i, e.Kind)
	}
	if e.Handler.End == offset {
		d.c.Printf("EHHandler %d: %s HANDLER END\n", i, e.Kind)
	}
}

func (d *disassembly) printEHBegin(i int, e *codeinfo.EHClause, offset uint32) {
	caught := func() string {
		if e.Kind != codeinfo.EHTyped {
			return ""
		}
		return " catch(" + report.Escape(caughtType(d.c, d.rt, d.info, e)) + ") "
	}
	if e.Try.Start == offset {
		d.c.Printf("EHHandler %d: %s CLAUSE BEGIN%s\n", i, e.Kind, caught())
	}
	if e.Handler.Start == offset {
		d.c.Printf("EHHandler %d: %s HANDLER BEGIN%s\n", i, e.Kind, caught())
	}
	if e.Kind == codeinfo.EHFilter && e.Filter == offset {
		d.c.Printf("EHHandler %d: %s FILTER BEGIN\n", i, e.Kind)
	}
}

// instruction prints one instruction.
func (d *disassembly) instruction(in *disasm.Instruction, offset uint32) {
	var b strings.Builder
	if in.Addr == d.asked && d.asked != d.info.Start {
		b.WriteString(">>> ")
	}
	if d.c.Bool("o") {
		fmt.Fprintf(&b, "%04x ", offset)
	}
	text := in.Text
	if text == "" {
		text = "(bad)"
	}
	fmt.Fprintf(&b, "%s %-20s %s", report.Hex16(in.Addr), hex.EncodeToString(in.Bytes), text)
	if name := d.nameOf(in); name != "" {
		fmt.Fprintf(&b, " (%s)", report.Escape(name))
	}
	d.c.Printf("%s\n", b.String())
}

// nameOf says what an instruction refers to. Of a jump within the method its
// address says enough.
func (d *disassembly) nameOf(in *disasm.Instruction) string {
	if in.Kind == disasm.RefJump && uint64(in.Ref-d.info.Start) < d.info.Size {
		return ""
	}
	return d.names.Of(in)
}

func (d *disassembly) result(code []byte) disassemblyResult {
	out := disassemblyResult{Kind: d.info.Kind.String(), Start: report.Address(d.info.Start), Size: d.info.Size, Instructions: []instructionResult{}}
	out.Method, out.Name = methodLabel(d.c, d.rt, d.info)
	for in := range disasm.Decode(code, d.info.Start) {
		offset := uint32(in.Addr - d.info.Start)
		res := instructionResult{Offset: offset, Bytes: hex.EncodeToString(in.Bytes), Text: in.Text, Name: d.nameOf(&in)}
		if in.Kind != disasm.RefNone {
			ref := report.Address(in.Ref)
			res.Ref = &ref
		}
		if il, ok := d.mapped(offset); ok {
			res.IL = &il
			if line, ok := d.sourceAt(offset); ok {
				res.Source = &sourcePlace{line.File, line.Line}
			}
		}
		out.Instructions = append(out.Instructions, res)
	}
	return out
}
