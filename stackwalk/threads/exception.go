package threads

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/target"
)

// DescribeException describes the exception object at a of rt. If nested is set, it adds the other exceptions that t
// was handling. Address 0 is an empty answer. It fails if a is not an exception.
func (t *Thread) DescribeException(rt *dac.Runtime, a target.Addr, nested bool) (*answer.ThrownException, error) {
	if a == 0 {
		return &answer.ThrownException{}, nil
	}
	x, err := code.Of(rt).DescribeException(a, code.ExceptionOptions{})
	if err != nil {
		return nil, err
	}
	out := &answer.ThrownException{Exception: x}
	out.NoteAll(x.Noted())
	if t.Managed == nil {
		return out, nil
	}
	others, err := rt.NestedExceptions(t.Managed)
	if err != nil {
		out.Note(fmt.Errorf("nested exceptions of thread %d: %w", t.Managed.ManagedID, err))
	}
	if out.HasNested = len(others) > 0; !out.HasNested || !nested {
		return out, nil
	}
	out.Nested = func(yield func(*answer.Exception, error) bool) {
		for _, n := range others {
			x, err := code.Of(rt).DescribeException(n, code.ExceptionOptions{})
			if err != nil {
				x = &answer.Exception{Address: n}
			}
			out.NoteAll(x.Noted())
			if !yield(x, err) {
				return
			}
		}
	}
	return out, nil
}
