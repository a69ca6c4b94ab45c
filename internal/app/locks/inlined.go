package locks

import (
	"errors"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/locks/internal/reach"
	"github.com/sosgo/sosgo/stackwalk"
)

// inlined returns the method that a frame's method calls where the stack has called, both with their signatures. In optimized code the caller may have
// the body of SemaphoreSlim.Wait() or of BlockingCollection.Add(item), so that the stack has a method that it calls, with a token that the program
// never gave. unread reports that the IL of the frame's method is missing.
func (s *survey) inlined(f *stackwalk.Frame, md *dac.MethodDesc, called string) (method string, unread bool) {
	il, err := reach.ILOffset(f)
	if err != nil {
		return called, false
	}
	name, _, _ := strings.Cut(called, "(")
	class, _, _ := strings.Cut(shortMethod(name), ".")
	method, parameters, err := s.found.tasks.CalledAt(md, il, class)
	if err != nil {
		return called, errors.Is(err, dac.ErrILMissing)
	}
	return calls(called, method, parameters), false
}

// calls returns the method that IL calls, with its signature, if it is of the class of the method that the stack has, and else that one.
func calls(called, method string, parameters []string) string {
	name, _, signature := strings.Cut(called, "(")
	at := strings.LastIndexByte(name, '.')
	class, short, _ := strings.Cut(method, ".")
	if !signature || at < 0 || shortMethod(name) != class+name[at:] {
		return called
	}
	return name[:at+1] + short + "(" + strings.Join(parameters, ", ") + ")"
}
