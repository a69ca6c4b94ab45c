package stackwalk

import (
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/image/codeinfo"
	"github.com/sosgo/sosgo/target"
)

// This file has what a frame is called and where it stands in the source.

// Name is the name of the frame's method as SOS prints it: type, name, type
// arguments and parameters in full. It is empty for a frame without a method, as
// that of native code.
func (f *Frame) Name() (string, error) {
	md, err := f.Method()
	if err != nil || md == nil {
		return "", err
	}
	return code.Of(f.Runtime).MethodName(md, code.MethodFull)
}

// ExactName is Name with the type arguments that the frame tells of code that
// instances share, in the place of System.__Canon: those of GenericContext. Where
// the frame tells none it is the same as Name.
func (f *Frame) ExactName() (string, error) {
	c, err := f.GenericContext()
	if err != nil || len(c.TypeArgs) == 0 && len(c.MethodArgs) == 0 {
		return f.Name()
	}
	return code.Of(f.Runtime).MethodNameIn(f.Code.Method, c)
}

// CallSite is the place in its method that the frame stands for, and the home of
// the rule for it: the instruction pointer of a frame that called is behind the
// call, which may be the last instruction of a line, of a scope, of an exception
// clause or of the method itself. So such a frame counts from the byte before,
// inside the call; a frame that is Exact, from its instruction.
func (f *Frame) CallSite() code.Info {
	at := f.Code
	if !f.Exact && at.Offset > 0 {
		at.Offset--
	}
	return at
}

// SourceLine is the place of the frame in the source: that of the call it waits
// for, or of its instruction (see CallSite). It is target.ErrUnsupported for a
// frame without one, as that of native code or of a stub; where the module's PDB is
// not at hand the error is that of Module.PDB.
func (f *Frame) SourceLine() (code.SourceLine, error) {
	if f.Kind != FrameManaged || f.Runtime == nil {
		return code.SourceLine{}, target.Unsupportedf("a frame of kind %v has no source", f.Kind)
	}
	return code.Of(f.Runtime).SourceLine(f.CallSite())
}

// GenericContext is what the type parameters in the signature and the code of the
// frame's method mean. Code that instantiations share was passed its exact type
// arguments; where the frame no longer tells them they are the shared ones
// (System.__Canon).
func (f *Frame) GenericContext() (dac.SigContext, error) {
	if f.Kind != FrameManaged || f.Runtime == nil || f.Code.Method == nil {
		return dac.SigContext{}, target.Unsupportedf("a frame of kind %v has no generic context", f.Kind)
	}
	sig, _, err := f.Code.Method.Signature()
	if err != nil {
		return dac.SigContext{}, err
	}
	var places []codeinfo.Variable // not every method has them
	if v, err := code.Of(f.Runtime).Variables(f.Code); err == nil {
		places = v
	}
	return frameContext(f, places, sig.Conv.HasThis()), nil
}

// ShortName names a method as pictures of many stacks do: its type in full, its
// parameters without their namespaces.
func ShortName(rt *dac.Runtime, md *code.MethodDesc) (string, error) {
	full, err := code.Of(rt).MethodName(md, code.MethodFull)
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

// dynamicClass stands for the class of methods that have none.
const dynamicClass = "(dynamicClass)"

// parameters is the part of a method's full name that lists its parameters:
// from the first parenthesis outside of type arguments on.
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

// shortParameters takes the namespaces and the numbers of generic parameters
// out of the types of s.
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
