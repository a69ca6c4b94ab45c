package objects

import (
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/target"
)

// A NotDelegateError reports that an object makes no calls that can be listed.
type NotDelegateError struct {
	Type answer.Text // the object's type
	Err  error       // why
}

func (e *NotDelegateError) Error() string {
	if e.Err == nil {
		return "not a delegate"
	}
	return e.Err.Error()
}

func (e *NotDelegateError) Unwrap() error { return e.Err }

// DelegateCalls lists the calls that the delegate at a makes, in order. Unreadable parts are errors yielded first. The
// error is an *InvalidError if there is no object at a, and a *NotDelegateError if it is not a delegate.
func (r *Reader) DelegateCalls(a target.Addr) (iter.Seq2[answer.DelegateCall, error], error) {
	o, err := r.Proven(a)
	if err != nil {
		return nil, err
	}
	calls, callsErr := o.Delegate()
	if callsErr != nil && len(calls) == 0 {
		name, err := o.Type.Name()
		return nil, &NotDelegateError{answer.Text{S: name, Err: err}, callsErr}
	}
	return func(yield func(answer.DelegateCall, error) bool) {
		if callsErr != nil && !yield(answer.DelegateCall{}, callsErr) {
			return
		}
		for _, call := range calls {
			row := answer.DelegateCall{Delegate: call.Delegate, Target: call.Target}
			row.Method, row.Name, row.Missing.Err = call.methodName()
			if row.Missing.Err != nil && !yield(answer.DelegateCall{}, row.Missing.Err) || !yield(row, nil) {
				return
			}
		}
	}, nil
}

// methodName returns the method that the call reaches, and its name.
func (c DelegateCall) methodName() (target.Addr, string, error) {
	md, err := c.Method()
	if err != nil {
		return 0, "", err
	}
	name, err := code.Of(c.r.Runtime()).MethodName(md, code.MethodFull)
	return md.Addr, name, err
}
