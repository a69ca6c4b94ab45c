package threads

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/image/unwind"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// DescribeOptions selects what a Describer adds to frames.
type DescribeOptions struct {
	Arguments bool
	Locals    bool
	Registers bool
	Pretty    bool                // lambdas, local functions and async methods by the names in the source; see metadata.PrettyMethod
	Source    bool                // source files and lines
	Mask      func(string) string // hides values with parts of secrets; nil without masking
	Symbols   *image.Symbols      // names native code; if nil, native code has only its module
}

// A Describer describes frames. It caches facts that frames share. It is not safe for concurrent use.
type Describer struct {
	options DescribeOptions
	lines   map[sourcePlace]sourceLine
	objects map[*dac.Runtime]*objects.Reader // a stack can have frames of several runtimes
	gaps    *answer.Gaps
}

// A sourcePlace identifies the source line of a frame.
type sourcePlace struct {
	ip    target.Addr
	exact bool
}

type sourceLine struct {
	file string
	line int
	err  error
}

// NewDescriber returns a Describer that notes unreadable parts in gaps.
func NewDescriber(o DescribeOptions, gaps *answer.Gaps) *Describer {
	return &Describer{options: o, lines: map[sourcePlace]sourceLine{}, objects: map[*dac.Runtime]*objects.Reader{}, gaps: gaps}
}

// Frame describes f, except OSID and References.
func (d *Describer) Frame(f *stackwalk.Frame) *answer.Frame {
	_, known := f.Regs.IP()
	out := &answer.Frame{Kind: answer.FrameKind(f.Kind.String()), IP: place(f, f.IP, known), Trust: f.Trust.String(), Guessed: f.Trust < unwind.TrustUnwind,
		AtException: f.AtException, Generated: f.Generated, Err: answer.Reason{Err: f.Err}}
	_, known = f.Regs.SP()
	out.SP = place(f, f.SP, known)
	if f.Kind == stackwalk.FrameExplicit {
		out.Class = f.Explicit.Class
	}
	if f.Kind == stackwalk.FrameOther && f.Runtime != nil {
		index := f.Runtime.Instance().Index
		out.Runtime, out.Count = &index, f.Count
	}
	if f.Module.Base != 0 {
		offset := uint64(f.IP - f.Module.Base)
		out.Module, out.Offset = target.BaseName(f.Module.Path), &offset
	}
	d.symbol(f, out)
	d.method(f, out)
	if d.options.Registers {
		out.Registers = answer.FrameRegisters{Registers: f.Regs}
	}
	d.variables(f, out)
	return out
}

// place returns a register of f. A known register of 0 is a value: it results from a call through a null pointer.
func place(f *stackwalk.Frame, a target.Addr, known bool) answer.Maybe[target.Addr] {
	if a != 0 || known {
		return answer.Known(a)
	}
	err := f.Err
	if err == nil {
		err = target.ErrNotInDump
	}
	return answer.Of(a, err)
}

// sharedArgument stands for a reference type in the names of shared code.
const sharedArgument = "System.__Canon"

// symbol names native code by the exports of its module.
func (d *Describer) symbol(f *stackwalk.Frame, out *answer.Frame) {
	if f.Kind != stackwalk.FrameNative || f.Generated || d.options.Symbols == nil {
		return
	}
	if s, ok := d.options.Symbols.At(f.IP); ok && s.Name != "" {
		out.Symbol, out.SymbolOffset = s.Name, s.Offset
	}
}

// method sets the name of f's method and the place in it.
func (d *Describer) method(f *stackwalk.Frame, out *answer.Frame) {
	md, err := f.Method()
	if err != nil {
		out.Method = d.gaps.Text("", err)
		return
	}
	if md == nil {
		return
	}
	out.MethodDesc = md.Addr
	out.Method = d.gaps.Text(f.Name())
	if strings.Contains(out.Method.S, sharedArgument) {
		if name, err := f.ExactName(); err == nil {
			out.Exact = name
		}
	}
	if d.options.Pretty {
		out.Method.S, out.Exact = metadata.PrettyMethod(out.Method.S), metadata.PrettyMethod(out.Exact)
	}
	if m, err := md.Module(); err == nil {
		if file, err := m.File(); err == nil {
			out.Module = target.BaseName(file)
		}
	}
	d.gaps.Note(f.Unplaced)
	if f.Kind == stackwalk.FrameManaged {
		offset := uint64(f.Code.Offset)
		out.Offset = &offset
		out.File, out.Line, out.SourceErr = d.source(f)
	}
}

// source returns f's place in the source, or why it is unknown: f has no source, or the PDB is not available. Neither is
// an error of the dump.
func (d *Describer) source(f *stackwalk.Frame) (file string, line int, err error) {
	if !d.options.Source {
		return "", 0, nil
	}
	at := sourcePlace{f.IP, f.Exact}
	known, ok := d.lines[at]
	if !ok {
		l, err := f.SourceLine()
		if err == nil {
			known = sourceLine{l.File, l.Line, nil}
		} else {
			known.err = err
		}
		d.lines[at] = known
	}
	return known.file, known.line, known.err
}

// variables describes the selected variables.
func (d *Describer) variables(f *stackwalk.Frame, out *answer.Frame) {
	if !d.options.Arguments && !d.options.Locals || f.Kind != stackwalk.FrameManaged {
		return
	}
	r := d.objects[f.Runtime]
	if r == nil {
		r = objects.New(f.Runtime)
		d.objects[f.Runtime] = r
	}
	args, locals, err := stackwalk.Variables(f, r)
	d.gaps.Note(err)
	if d.options.Arguments {
		out.Arguments = d.list(args, out.Method)
	}
	if d.options.Locals {
		out.Locals = d.list(locals, out.Method)
	}
}

func (d *Describer) list(vars []stackwalk.Variable, method answer.Text) []answer.Variable {
	out := make([]answer.Variable, len(vars))
	for i := range vars {
		out[i] = d.variable(&vars[i], method)
	}
	return out
}

func (d *Describer) variable(v *stackwalk.Variable, method answer.Text) answer.Variable {
	out := answer.Variable{Name: v.Name, Index: v.Index, State: answer.VariableValue, Register: v.Register(), Address: v.Addr,
		Located: v.Located, Split: v.Split(), WordSize: v.Size()}
	name, err := v.TypeName(dac.NameManaged)
	if err != nil {
		err = fmt.Errorf("type of variable %s of %s: %w", v.Name, method.String(), err)
	}
	out.Type = d.gaps.Text(name, err)
	if !v.Located && v.Err == nil {
		_, out.Stored.Missing.Err = v.Value()
		out.State = answer.VariableNoData
		return out
	}
	word, err := v.Word()
	out.Word, out.WordErr = answer.Hex(word), err
	value, err := v.Value()
	if err != nil {
		if v.Located { // else the reason is one of the whole method
			d.gaps.Note(fmt.Errorf("variable %s of %s: %w", v.Name, method.String(), err))
		} else {
			d.gaps.Note(err)
		}
		out.State, out.Stored.Missing.Err = answer.VariableState(strings.Trim(answer.Absent(err), "<>")), err
		return out
	}
	if stored, ok := value.HiddenAs(v.Name, d.options.Mask); ok {
		out.Value, out.Stored = secrets.Mask, stored
		if err := stored.Missing.Err; err != nil {
			out.Value, out.Word, out.WordErr = answer.Absent(err), 0, err
		}
		return out
	}
	out.Value, out.Stored = variableText(value), value.StoredMasked(d.options.Mask)
	return out
}

// maxInline is the maximum number of characters of text in a line.
const maxInline = 80

// variableText formats a value. A reference starts with its address, which other commands accept.
func variableText(v objects.Value) string {
	text := v.Plain(maxInline)
	if a, err := v.Addr(); err == nil && v.Kind() == objects.KindReference && a != 0 {
		if more := v.Inline(maxInline); more != "" {
			text = a.String() + " " + more
		}
		return "0x" + text
	}
	return text
}

// DescribeRoot describes a reference that a frame holds. r reads the objects. Unreadable parts are noted in gaps.
func DescribeRoot(root *stackwalk.Root, r *objects.Reader, gaps *answer.Gaps) answer.Root {
	out := answer.Root{Address: root.Addr, Object: root.Object, Interior: root.Interior, Pinned: root.Pinned}
	if root.Explicit == "" {
		out.Place = root.Slot.String()
	}
	if root.Object != 0 && !root.Interior {
		out.Type, out.Value = describeObject(root.Object, r, gaps)
	}
	return out
}

// describeObject returns an object's type. For a string it also returns the text.
func describeObject(a target.Addr, r *objects.Reader, gaps *answer.Gaps) (name answer.Text, text answer.QuotedText) {
	o, err := r.TrustedObject(a)
	if err == nil {
		name.S, err = o.Type.Name()
	}
	if err != nil {
		return gaps.Text("", fmt.Errorf("object %016x: %w", uint64(a), err)), text
	}
	if o.IsString() {
		s, err := o.Start(maxInline)
		text = answer.QuotedText{Text: gaps.Text(s, err), Present: true}
	}
	return name, text
}
