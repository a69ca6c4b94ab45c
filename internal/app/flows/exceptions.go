package flows

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/objects"
)

// An anyException is an exception.
type anyException struct {
	_       objects.Shape    `of:"System.Exception"`
	Message objects.RefField `field:"_message"`
	Inner   objects.RefField `field:"_innerException,optional"`
}

// Exception describes the exception o and returns its inner exception, or the zero Object. It notes unreadable parts in
// in.
func Exception(in shapes.Reading, o objects.Object) (answer.TaskException, objects.Object) {
	out := answer.TaskException{Object: o.Addr, Type: in.TypeText(o)}
	s, x := shapes.BindAs[*anyException](in, o)
	if s == nil {
		return out, objects.Object{}
	}
	out.Message = in.TextAt(&s.Message, x)
	return out, in.ObjectAt(&s.Inner, x)
}

// Causes describes the exception o and its inner exceptions, the innermost last.
func Causes(in shapes.Reading, o objects.Object) []answer.TaskException {
	var out []answer.TaskException
	for o.Addr != 0 && len(out) < limits.WrappedExceptions {
		var x answer.TaskException
		x, o = Exception(in, o)
		out = append(out, x)
	}
	return out
}
