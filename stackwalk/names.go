package stackwalk

import (
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/image/codeinfo"
	"github.com/sosgo/sosgo/target"
)

// This file has the names and the source places of frames.

// Name returns the name of the frame's method in SOS's form: type, name, type arguments and parameters in full. It is
// empty for a frame without a method, such as native code.
func (f *Frame) Name() (string, error) {
	md, err := f.Method()
	if err != nil || md == nil {
		return "", err
	}
	return dac.CodeOf(f.Runtime).MethodName(md, dac.MethodFull)
}

// ExactName returns Name with the exact type arguments of GenericContext in place of System.__Canon. If they are
// unknown, it returns Name.
func (f *Frame) ExactName() (string, error) {
	c, err := f.GenericContext()
	if err != nil || len(c.TypeArgs) == 0 && len(c.MethodArgs) == 0 {
		return f.Name()
	}
	return dac.CodeOf(f.Runtime).MethodNameIn(f.Code.Method, c)
}

// CallSite returns the place of the frame in its method. The instruction pointer of a calling frame is after the call,
// and may be in the next line, scope, exception clause or method. CallSite moves it back by a byte, into the call. It
// does not move an Exact frame.
func (f *Frame) CallSite() dac.CodeInfo {
	at := f.Code
	if !f.Exact && at.Offset > 0 {
		at.Offset--
	}
	return at
}

// SourceLine returns the place of the frame in the source: the line of its call, or of its instruction (see CallSite).
// The error is target.ErrUnsupported for a frame without source, such as native code or a stub. If the module's PDB is
// not available, it is the error of Module.PDB.
func (f *Frame) SourceLine() (dac.SourceLine, error) {
	if f.Unplaced != nil {
		return dac.SourceLine{}, f.Unplaced
	}
	if f.Kind != FrameManaged || f.Runtime == nil {
		return dac.SourceLine{}, target.Unsupportedf("a frame of kind %v has no source", f.Kind)
	}
	return dac.CodeOf(f.Runtime).SourceLine(f.CallSite())
}

// GenericContext returns the meaning of the type parameters in the signature and code of the frame's method. Shared
// code gets its exact type arguments, or System.__Canon if the frame no longer has them.
func (f *Frame) GenericContext() (dac.SigContext, error) {
	if f.Kind != FrameManaged || f.Runtime == nil || f.Code.Method == nil {
		return dac.SigContext{}, target.Unsupportedf("a frame of kind %v has no generic context", f.Kind)
	}
	sig, _, err := f.Code.Method.Signature()
	if err != nil {
		return dac.SigContext{}, err
	}
	var places []codeinfo.Variable // not every method has them
	if v, err := dac.CodeOf(f.Runtime).Variables(f.Code); err == nil {
		places = v
	}
	return frameContext(f, places, sig.Conv.HasThis()), nil
}

// ShortName returns a method's name for diagrams of many stacks: the type in full, the parameters without namespaces.
func ShortName(rt *dac.Runtime, md *dac.MethodDesc) (string, error) {
	full, err := dac.CodeOf(rt).MethodName(md, dac.MethodFull)
	if err != nil {
		return "", err
	}
	name, err := md.Name()
	if err != nil {
		return "", err
	}
	class := dynamicClass
	if t, err := rt.TypeName(md.MethodTable, dac.NameManaged); err == nil && t != "" {
		class = t
	}
	return class + "." + name + shortParameters(parameters(full)), nil
}

// dynamicClass is the class name for methods without a class.
const dynamicClass = "(dynamicClass)"

// parameters returns the parameter list of a method's full name, from the first parenthesis outside of type arguments
// on.
func parameters(full string) string {
	depth := 0
	for i := range len(full) {
		switch full[i] {
		case '[':
			depth++
		case ']':
			depth--
		case '(':
			if depth == 0 {
				return full[i:]
			}
		}
	}
	return ""
}

// shortParameters removes namespaces and the numbers of generic parameters from the types in s.
func shortParameters(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		n := strings.IndexAny(s, "<>(),[] ")
		if n < 0 {
			n = len(s)
		}
		word := s[:n]
		word = word[strings.LastIndexByte(word, '.')+1:]
		if i := strings.IndexByte(word, '`'); i >= 0 {
			word = word[:i]
		}
		b.WriteString(word)
		if n < len(s) {
			b.WriteByte(s[n])
			n++
		}
		s = s[n:]
	}
	return b.String()
}
