package code

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/image/codeinfo"
	"github.com/sosgo/sosgo/internal/layout"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/target"
)

// A CodeKind says where code comes from.
type Kind uint8

// The kinds.
const (
	JIT        Kind = iota // compiled in the process
	ReadyToRun             // compiled ahead of time, in an image
	Stub                   // made by the runtime; belongs to no method
)

func (k Kind) String() string {
	return [...]string{"JIT", "ReadyToRun", "stub"}[k]
}

// ErrNoCode is the error for an address that lies in no managed code. It is
// target.ErrCorrupt: what named the address as code was wrong.
var ErrNoCode = target.Corruptf("not in managed code")

// A RuntimeFunction says which unwind information holds for a range of code
// (RUNTIME_FUNCTION). Managed code has the format of Windows on every OS.
type RuntimeFunction struct {
	Begin, End target.Addr
	Unwind     target.Addr // of the UNWIND_INFO or .xdata record; 0 where Packed is
	Packed     uint32      // on ARM64: the unwind information itself, or 0
}

// CodeInfo is what is known about one address in managed code.
type Info struct {
	Kind     Kind
	Method   *MethodDesc // nil for a stub
	Start    target.Addr // of the body: its entry point
	Size     uint64      // of the body with its funclets in bytes, without the cold part; 0 where unknown
	Offset   uint32      // of the address from Start; in a cold part, the hot part's size is counted in
	Base     target.Addr // that the RVAs in unwind information count from
	Function RuntimeFunction
	Funclet  bool // Function is that of an exception handler
	Cold     bool // the address lies in the method's cold part
	GCInfo   target.Addr
	Header   target.Addr // RealCodeHeader of compiled code, 0 for others
	Image    *dac.Module // with the code of CodeReadyToRun
	StubKind uint8       // of CodeStub inside a heap of the compiler (codeman.h, StubCodeBlockKind)

	index int   // of the RUNTIME_FUNCTION of Start, in the image's table
	lack  error // why Size or GCInfo is not known, where the image has it and the dump does not
}

// unknown is the error about something that info lacks: why the dump does not tell it, or else that nothing does.
func (i *Info) unknown(what string) error {
	if i.lack != nil {
		return fmt.Errorf("%s of the code at %016x: %w", what, uint64(i.Start), i.lack)
	}
	return target.Unsupportedf("%s of the code at %016x: there is none", what, uint64(i.Start))
}

// A codeBody is the code of one method: what all its addresses share.
type body struct {
	info      Info
	functions []RuntimeFunction // of compiled code, by address
}

// MethodAt tells what managed code the address ip lies in. An address outside
// of managed code is ErrNoCode.
func (r *Reader) MethodAt(ip target.Addr) (Info, error) {
	if r.rt.IsNative() {
		return Info{}, ErrNoCode
	}
	c, err := r.members()
	if err != nil {
		return Info{}, err
	}
	s, err := r.rangeSection(c, ip)
	if err != nil {
		return Info{}, err
	}
	switch s.Kind {
	case JIT:
		return r.jitCode(c, s, ip)
	case ReadyToRun:
		return r.imageCode(c, s, ip)
	}
	return Info{Kind: Stub, Start: s.Range.Start, Offset: uint32(ip - s.Range.Start), Base: s.Range.Start}, nil
}

// jitCode looks ip up in a heap of the JIT compiler.
func (r *Reader) jitCode(c *members, s *RangeSection, ip target.Addr) (Info, error) {
	h := &s.heap
	if !h.code.Contains(ip) {
		return Info{}, ErrNoCode
	}
	off, ok, hole := h.nib.start(uint64(ip - h.base))
	none := ErrNoCode
	if hole != nil { // there may be a start that the dump lacks
		none = fmt.Errorf("code of %016x: %w", uint64(ip), hole)
	}
	start := h.base + target.Addr(off)
	if !ok || start > ip || start < h.code.Start {
		return Info{}, none
	}
	body, err := r.jitBody(c, s, start)
	if err != nil {
		return Info{}, fmt.Errorf("code at %016x: %w", uint64(start), err)
	}
	info := body.info
	if hole != nil && (info.Kind == Stub || info.Size == 0) {
		return Info{}, none // it is not known how far it goes
	}
	if info.Kind == Stub {
		info.Offset = uint32(ip - start)
		return info, nil
	}
	if info.Size != 0 && uint64(ip-start) >= info.Size {
		return Info{}, none // in what the heap has no code in
	}
	info.Offset = uint32(ip - start)
	info.Function, info.Funclet = body.function(ip)
	return info, nil
}

// function is the RUNTIME_FUNCTION that covers ip, and whether it is not the
// first.
func (b *body) function(ip target.Addr) (RuntimeFunction, bool) {
	for i := len(b.functions) - 1; i > 0; i-- {
		if ip >= b.functions[i].Begin {
			return b.functions[i], true
		}
	}
	return b.functions[0], false
}

// jitBody reads what stands in front of the code at start: a pointer to its
// RealCodeHeader, or a small number for a stub (codeman.h, CodeHeader).
func (r *Reader) jitBody(c *members, s *RangeSection, start target.Addr) (*body, error) {
	if b, ok := r.bodies.Load(start); ok {
		return b.(*body), nil
	}
	header, err := target.Pointer(r.mem, start-8)
	if err != nil {
		return nil, err
	}
	b := &body{info: Info{Start: start, Base: s.Range.Start}}
	if uint64(header) <= c.stubKindLast {
		b.info.Kind, b.info.StubKind = Stub, uint8(header)
	} else if err := r.readCodeHeader(c, b, header); err != nil {
		return nil, err
	}
	kept, _ := r.bodies.LoadOrStore(start, b)
	return kept.(*body), nil
}

func (r *Reader) readCodeHeader(c *members, b *body, header target.Addr) error {
	o := &c.CodeHeader
	rd := layout.Reader{Mem: r.mem, Base: header}
	b.info.Header = header
	b.info.GCInfo = rd.Ptr(o.GCInfo)
	md, n := rd.Ptr(o.MethodDesc), rd.U32(o.NumUnwind)
	if rd.Err != nil {
		return fmt.Errorf("RealCodeHeader %016x: %w", uint64(header), rd.Err)
	}
	if n == 0 || n > limits.Funclets {
		return target.Corruptf("RealCodeHeader %016x with %d unwind infos", uint64(header), n)
	}
	var err error
	if b.info.Method, err = r.TrustedMethodDesc(md); err != nil {
		return err
	}
	b.functions, err = r.functions(c, header+target.Addr(o.Unwind), int(n), b.info.Base)
	if len(b.functions) == 0 || err != nil && !errors.Is(err, target.ErrNotInDump) {
		return err
	}
	if b.functions[0].Begin != b.info.Start {
		return target.Corruptf("code at %016x with the unwind info of %016x", uint64(b.info.Start), uint64(b.functions[0].Begin))
	}
	b.info.Size = uint64(b.functions[len(b.functions)-1].End - b.info.Start)
	if err != nil { // the dump lacks funclets
		b.info.Size = 0
		if n, err := r.gcCodeLength(r.mem, b.info); err == nil {
			b.info.Size = n
		}
	}
	return nil
}

// functions decodes n RUNTIME_FUNCTIONs in ascending order. The last one may be
// reserved for a cold part that the method does not have.
func (r *Reader) functions(c *members, at target.Addr, n int, base target.Addr) ([]RuntimeFunction, error) {
	if c.Function.Size == layout.Absent {
		return nil, &layout.Error{Type: "RuntimeFunction"}
	}
	var out []RuntimeFunction
	for i := range n {
		b, err := target.Bytes(r.mem, at+target.Addr(i*c.Function.Size), c.Function.Size)
		if err != nil {
			return out, err
		}
		f := c.function(b, base)
		if i > 0 && (f.Begin == base || f.Unwind == base) {
			break // reserved, and never written
		}
		if err := r.complete(c, r.mem, &f); err != nil {
			return out, err
		}
		if i > 0 && f.End <= f.Begin {
			break
		}
		if f.End <= f.Begin || i > 0 && f.Begin < out[i-1].End {
			return out, target.Corruptf("RUNTIME_FUNCTION %d at %016x", i, uint64(at))
		}
		out = append(out, f)
	}
	return out, nil
}

// function decodes the RUNTIME_FUNCTION at b[0]. Where entries do not say where the function ends, as those of ARM64,
// End is Begin unless the unwind information is packed into the entry: complete it.
func (c *members) function(b []byte, base target.Addr) RuntimeFunction {
	le, o := binary.LittleEndian, &c.Function
	f := RuntimeFunction{Begin: base + target.Addr(le.Uint32(b[o.Begin:]))}
	f.End = f.Begin
	word := le.Uint32(b[o.Unwind:])
	switch {
	case o.End != layout.Absent:
		f.End, f.Unwind = base+target.Addr(le.Uint32(b[o.End:])), base+target.Addr(word)
	case word&packedUnwind != 0:
		f.Packed, f.End = word, f.Begin+target.Addr(4*(word>>2&packedLength))
	default:
		f.Unwind = base + target.Addr(word)
	}
	return f
}

// What tells packed unwind information, and the length in it, in instructions.
const (
	packedUnwind = 3
	packedLength = 1<<11 - 1
)

// complete gives f its end where that is told by the unwind information alone, which mem has.
func (r *Reader) complete(c *members, mem target.Memory, f *RuntimeFunction) error {
	if c.Function.End != layout.Absent || f.End != f.Begin {
		return nil
	}
	n, err := codeinfo.FunctionLength(mem, r.rt.Target().Platform().Arch, f.Unwind)
	f.End += target.Addr(n)
	return err
}

// Functions returns all RUNTIME_FUNCTIONs of the body that info describes: the
// first is the method itself, the others its funclets.
func (r *Reader) Functions(info Info) ([]RuntimeFunction, error) {
	c, err := r.members()
	if err != nil {
		return nil, err
	}
	switch info.Kind {
	case JIT:
		b, err := r.jitBody(c, &RangeSection{Range: target.Range{Start: info.Base}}, info.Start)
		if err != nil {
			return nil, err
		}
		return b.functions, nil
	case ReadyToRun:
		return r.imageFunctions(c, info)
	}
	return nil, target.Unsupportedf("a stub has no unwind information")
}

// CodeKindAt tells what kind of code lies around ip, without asking which
// method it belongs to.
func (r *Reader) KindAt(ip target.Addr) (Kind, error) {
	c, err := r.members()
	if err != nil {
		return Stub, err
	}
	s, err := r.rangeSection(c, ip)
	if err != nil {
		return Stub, err
	}
	return s.Kind, nil
}

// IsCode reports whether ip lies in managed code of a method.
func (r *Reader) IsCode(ip target.Addr) (bool, error) {
	info, err := r.MethodAt(ip)
	if errors.Is(err, ErrNoCode) {
		return false, nil
	}
	return err == nil && info.Method != nil, err
}
