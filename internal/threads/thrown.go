package threads

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// ExceptionOptions control DescribeException.
type ExceptionOptions struct {
	Nested bool // with the other exceptions that the thread was handling
}

// DescribeException describes the exception object at a of rt, or for address 0 what t threw last; the answer is empty if
// t threw none. It fails if a is not an exception.
func DescribeException(t *stackwalk.Thread, rt *dac.Runtime, a target.Addr, o ExceptionOptions) (*answer.ThrownException, error) {
	if a == 0 && t.Managed != nil {
		if err := t.Managed.LastThrownError; err != nil {
			return nil, err
		}
		a = t.Managed.LastThrown
	}
	if a == 0 {
		return &answer.ThrownException{}, nil
	}
	x, err := dac.CodeOf(rt).DescribeException(a, dac.ExceptionOptions{})
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
	if out.HasNested = len(others) > 0; !out.HasNested || !o.Nested {
		return out, nil
	}
	out.Nested = answer.NewRows(&out.Gaps, func(yield func(*answer.Exception, error) bool) error {
		for _, n := range others {
			x, err := dac.CodeOf(rt).DescribeException(n, dac.ExceptionOptions{})
			if err != nil {
				x = &answer.Exception{Address: n}
			}
			out.NoteAll(x.Noted())
			if !yield(x, err) {
				break
			}
		}
		return nil
	})
	return out, nil
}
