package disasm

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/image/codeinfo"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// MethodOptions selects what is listed besides the instructions of a method.
type MethodOptions struct {
	GCInfo   bool `opt:"gcinfo" help:"where slots begin and end to hold references"`
	Handlers bool `opt:"ehinfo" help:"where exception handlers and their code begin and end"`
	IL       bool `opt:"il" help:"the IL that code was made from"`
	Map      bool `opt:"map" help:"the map from IL to code, first"`
}

// Method disassembles the code at a, which is a MethodDesc or an address in a method's code. It only describes a method
// that was never compiled. The list of instructions ends when ctx is done.
func (l *Lister) Method(ctx context.Context, a target.Addr, o MethodOptions) (*answer.Disassembly, error) {
	info, err := l.code.CodeOf(a)
	if err != nil {
		return nil, err
	}
	out := &answer.Disassembly{Method: info.Method.Addr, Kind: info.Kind.String(), Start: info.Start, Size: info.Size, At: a}
	out.Name = out.Text(l.code.MethodName(info.Method, dac.MethodFull))
	if info.Start == 0 {
		return out, nil
	}
	if !Known(l.arch()) {
		return nil, target.Unsupportedf("the instructions of %v", l.arch())
	}
	b, err := l.code.Code(info)
	if err != nil {
		return nil, err
	}
	m := machineCode{l: l, info: info, bytes: b, mapped: map[uint32]int{}}
	if m.ilMap, err = l.code.ILMap(info); err != nil && !dac.NoDebugInfo(err) {
		out.Note(err)
	}
	for _, at := range m.ilMap {
		if _, known := m.mapped[at.Native]; !known && at.IL >= 0 {
			m.mapped[at.Native] = int(at.IL)
		}
	}
	l.addTables(info, o, out)
	if o.Map {
		out.Map = m.ranges()
	}
	if o.IL {
		m.il, out.ILErr = l.instructionsOf(info.Method, &out.Gaps)
		out.Note(out.ILErr)
	}
	out.Instructions = m.instructions(ctx, &out.Gaps)
	return out, nil
}

// addTables adds what the compiler recorded about the code.
func (l *Lister) addTables(info dac.CodeInfo, o MethodOptions, out *answer.Disassembly) {
	if o.GCInfo {
		if out.GC, out.GCErr = l.code.GCInfo(info); out.GCErr == nil {
			out.GC.Method, out.GC.Name = out.Method, out.Name
		}
		out.Note(out.GCErr)
	}
	if o.Handlers {
		out.Handlers, out.HandlersErr = l.code.Handlers(info, &out.Gaps)
		out.Note(out.HandlersErr)
	}
}

// instructionsOf returns the instructions of a method's IL. It returns nothing for a method without IL.
func (l *Lister) instructionsOf(m *dac.MethodDesc, g *answer.Gaps) ([]answer.ILInstruction, error) {
	b, err := l.methodIL(m)
	if errors.Is(err, dac.ErrNoIL) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []answer.ILInstruction
	for in, err := range metadata.Instructions(b.Code) {
		if err != nil {
			return out, fmt.Errorf("IL: %w", err)
		}
		out = append(out, b.instruction(&in, g))
	}
	return out, nil
}

// A machineCode is the code of a method with its map to IL.
type machineCode struct {
	l      *Lister
	info   dac.CodeInfo
	bytes  []byte
	ilMap  []codeinfo.ILMapping
	mapped map[uint32]int // from code offset to IL offset
	il     []answer.ILInstruction
}

func (m *machineCode) ranges() []answer.ILRange {
	out := make([]answer.ILRange, len(m.ilMap))
	end := m.info.Start + target.Addr(m.info.Size)
	for i := len(m.ilMap) - 1; i >= 0; i-- {
		at := m.ilMap[i]
		out[i] = answer.ILRange{IL: answer.Hex(uint32(at.IL)), Start: m.info.Start + target.Addr(at.Native), End: end}
		end = out[i].Start
	}
	return out
}

func (m *machineCode) instructions(ctx context.Context, g *answer.Gaps) iter.Seq2[answer.MachineInstruction, error] {
	return answer.NewRows(g, func(yield func(answer.MachineInstruction, error) bool) error {
		for in := range Decode(m.l.arch(), m.bytes, m.info.Start) {
			if ctx.Err() != nil || !yield(m.instruction(&in), nil) {
				break
			}
		}
		return ctx.Err()
	})
}

func (m *machineCode) instruction(in *Instruction) answer.MachineInstruction {
	out := answer.MachineInstruction{Offset: uint32(in.Addr - m.info.Start), Bytes: hex.EncodeToString(in.Bytes),
		Text: in.Text, Name: m.nameOf(in)}
	if in.Kind != RefNone {
		out.Ref = &in.Ref
	}
	il, ok := m.mapped[out.Offset]
	if !ok {
		return out
	}
	out.IL, out.ILCode = &il, m.ilFrom(il)
	at := m.info
	at.Offset = out.Offset
	if line, err := m.l.code.SourceLine(at); err == nil { // most code has no source
		out.Source = &answer.SourcePlace{File: line.File, Line: line.Line}
	}
	return out
}

// nameOf returns what an instruction refers to. It is empty for jumps within the method.
func (m *machineCode) nameOf(in *Instruction) string {
	if in.Kind == RefJump && uint64(in.Ref-m.info.Start) < m.info.Size {
		return ""
	}
	return m.l.names.Of(in)
}

// ilFrom returns the IL from an offset in the map up to the next mapped offset.
func (m *machineCode) ilFrom(start int) []answer.ILInstruction {
	end := -1
	for _, at := range m.ilMap {
		if il := int(at.IL); il > start && (end < 0 || il < end) {
			end = il
		}
	}
	var out []answer.ILInstruction
	for i := range m.il {
		if o := m.il[i].Offset; o >= start && (end < 0 || o < end) {
			out = append(out, m.il[i])
		}
	}
	return out
}

// A Lister disassembles methods, in IL and machine code, with names. It is safe for concurrent use.
type Lister struct {
	rt      *dac.Runtime
	code    *dac.CodeReader
	objects *objects.Reader
	names   *Names
}

// NewLister returns a Lister for a runtime's methods.
func NewLister(rt *dac.Runtime, r *objects.Reader) *Lister {
	return &Lister{rt: rt, code: dac.CodeOf(rt), objects: r, names: NewNames(rt, r)}
}

// arch returns the processor of the machine code.
func (l *Lister) arch() target.Arch { return l.rt.Target().Platform().Arch }

// A NoMethodError reports why there is no method at an address. It has the text and the kind of Reason.
type NoMethodError struct{ Reason error }

func (e *NoMethodError) Error() string {
	if e.Reason == nil {
		return "no method"
	}
	return e.Reason.Error()
}
func (e *NoMethodError) Unwrap() error { return e.Reason }
