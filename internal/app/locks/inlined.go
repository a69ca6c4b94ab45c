package locks

import (
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/stackwalk"
)

// inlined returns the method that a frame's method calls where the stack has called, both with their signatures. In optimized code the caller may have
// the body of SemaphoreSlim.Wait(), so that the stack has a method that it calls, with a token that the program never gave.
func (s *survey) inlined(f *stackwalk.Frame, md *dac.MethodDesc, called string) string {
	name, _, signature := strings.Cut(called, "(")
	at := strings.LastIndexByte(name, '.')
	if !signature || at < 0 {
		return called
	}
	il, err := ilOffset(f)
	if err != nil {
		return called
	}
	method, arguments, err := s.found.tasks.CalledAt(md, il)
	class, short, _ := strings.Cut(method, ".")
	if err != nil || arguments != 1 || shortMethod(name) != class+name[at:] {
		return called
	}
	return name[:at+1] + short + "()"
}
