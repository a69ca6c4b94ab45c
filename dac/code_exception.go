package dac

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// ExceptionOptions select what DescribeException reads.
type ExceptionOptions struct {
	// Brief omits what takes long to find: the type of the inner exception, the stack trace as text, all frames
	// except the innermost, and the place of that frame in its method and source.
	Brief bool
}

// maxExceptionText is the number of UTF-16 code units to read of an exception's texts.
const maxExceptionText = 1 << 20

// DescribeException describes the exception object at a with its stack trace. The answer notes missing parts.
// It returns an error for an object that is not an exception.
func (r *CodeReader) DescribeException(a target.Addr, o ExceptionOptions) (*answer.Exception, error) {
	e, err := r.Runtime().Exception(a)
	if err != nil {
		return nil, fmt.Errorf("not a valid exception object: %w", err)
	}
	d := &answer.Exception{Address: a, MethodTable: e.Type.Addr, HResult: answer.Hex(e.HResult), Inner: e.Inner, Fault: looksLikeFault(&e)}
	if d.Type.S, d.Type.Err = r.Runtime().TypeName(e.Type.Addr, NameNative); d.Type.Err != nil && r.Runtime().isSystemException(e.Type.Addr) {
		d.Type = answer.Text{S: "System.Exception"}
	}
	if d.Type.Err != nil {
		d.Definition = r.typeDefinition(e.Type)
	}
	d.Note(d.Type.Err)
	d.Message = r.exceptionText(&d.Gaps, e.Message)
	if !o.Brief {
		d.StackTrace = r.exceptionText(&d.Gaps, e.StackTraceString)
		if e.Inner != 0 {
			d.InnerType = d.Text(r.Runtime().ObjectTypeName(e.Inner))
		}
	}
	frames, err := r.Runtime().StackTrace(&e)
	d.Note(err)
	d.TraceError = err
	if o.Brief {
		frames = frames[:min(len(frames), 1)]
	}
	for i := range frames {
		d.Frames = append(d.Frames, r.describeTraceFrame(&d.Gaps, &frames[i], o))
	}
	return d, nil
}

// exceptionText reads a string, nil for a null reference.
func (r *CodeReader) exceptionText(g *answer.Gaps, a target.Addr) *answer.Text {
	if a == 0 {
		return nil
	}
	t := g.Text(r.Runtime().StringAt(a, maxExceptionText))
	return &t
}

func (r *CodeReader) describeTraceFrame(g *answer.Gaps, f *TraceFrame, o ExceptionOptions) answer.TraceFrame {
	d := answer.TraceFrame{SP: f.SP, IP: f.IP, Foreign: f.Foreign}
	if r.Runtime().Check(FeatureMethods) != nil {
		r.describeNativeFrame(g, &d, o)
		return d
	}
	md, err := r.TrustedMethodDesc(f.Method)
	if err != nil {
		d.Method = g.Text("", err)
		d.Function = d.Method
	} else {
		d.Method = g.Text(r.MethodName(md, MethodFull))
		d.Function = r.traceFunction(g, md, d.Method)
		if d.Method.Err != nil {
			d.Definition = md.Definition()
		}
	}
	if f.IP == 0 || o.Brief {
		return d // 0 was written before the runtime knew the address
	}
	info, err := r.PlaceAt(f.IP)
	if err != nil {
		g.Note(err)
		return d
	}
	offset := uint64(f.IP - info.Start)
	if info.Cold {
		offset = uint64(info.Offset)
	}
	d.Offset = &offset
	// Most modules have no symbols; that is not a gap.
	if line, err := r.SourceLine(info); err == nil {
		d.File, d.Line = line.File, line.Line
	}
	return d
}

// describeNativeFrame names the method of a NativeAOT program with the frame's call.
func (r *CodeReader) describeNativeFrame(g *answer.Gaps, d *answer.TraceFrame, o ExceptionOptions) {
	m, err := r.NativeAt(d.IP - 1)
	if err == nil && m.Name == "" {
		err = target.Unsupportedf("the program has no name for its code at %016x", uint64(m.Start))
	}
	d.Method = g.Text(m.Name, err)
	if d.Function = d.Method; err == nil {
		d.Function.S = target.BaseName(r.Runtime().Instance().Module.Path) + "!" + m.Name
	}
	if m.Start != 0 && !o.Brief {
		offset := uint64(d.IP - m.Start)
		d.Offset = &offset
	}
}

// traceFunction returns Module.dll!Type.Method(Parameters).
func (r *CodeReader) traceFunction(g *answer.Gaps, md *MethodDesc, method answer.Text) answer.Text {
	if method.Err != nil {
		return method
	}
	mod, err := md.Module()
	if err != nil {
		return g.Text("", err)
	}
	path, err := mod.Path()
	if err != nil && !errors.Is(err, target.ErrNotInDump) {
		return g.Text("", err)
	}
	if path == "" {
		return method
	}
	return answer.Text{S: target.BaseName(path) + "!" + method.S}
}

// typeDefinition returns the definition of a type, or nil if it is missing or not fully in the dump.
func (r *CodeReader) typeDefinition(mt *MethodTable) *answer.Definition {
	m, err := r.Runtime().ModuleOf(mt)
	if err != nil {
		return nil
	}
	return definition(m, mt.Token)
}

// Definition returns the definition of the method, or nil if it is missing or not fully in the dump.
func (m *MethodDesc) Definition() *answer.Definition {
	mod, err := m.Module()
	if err != nil {
		return nil
	}
	return definition(mod, m.Token)
}

func definition(m *Module, token metadata.Token) *answer.Definition {
	build, err := m.buildName()
	if err != nil || token.IsNil() {
		return nil
	}
	return &answer.Definition{Module: m.Label(), Build: build, Token: uint32(token)}
}

// codeManaged is the code of exceptions thrown by managed code (EXCEPTION_COMPLUS, corexcep.h).
const codeManaged = 0xe0434352

// faultResults are the HRESULTs of exceptions that report hardware faults (corerror.h).
var faultResults = [...]uint32{
	0x80070216, // COR_E_ARITHMETIC
	0x80131516, // COR_E_OVERFLOW
	0x80020012, // COR_E_DIVIDEBYZERO
	0x80131537, // COR_E_FORMAT
	0x80004003, // COR_E_NULLREFERENCE
	0x80131541, // COR_E_DATAMISALIGNED
}

// looksLikeFault is SOS's guess that the processor raised an exception. SOS adds 1 to the addresses of its
// trace.
func looksLikeFault(e *Exception) bool {
	return e.XCode != codeManaged || slices.Contains(faultResults[:], e.HResult)
}
