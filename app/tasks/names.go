package tasks

import (
	"sync"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// An actionKey is a task type and the method that its tasks run.
type actionKey struct {
	kind  *kind
	entry target.Addr // a code address or a MethodDesc
}

// actionNames caches the names of tasks that run a delegate.
type actionNames struct {
	known sync.Map // actionKey -> *answer.AsyncName
}

// actionName returns the name of a task that runs a delegate's method, or nil if it is unknown.
func (r *Reader) actionName(k *kind, delegate target.Addr) *answer.AsyncName {
	call, ok := r.call(delegate)
	if !ok {
		return nil
	}
	key := actionKey{k, call.Entry | call.MethodDesc}
	if n, ok := r.actions.known.Load(key); ok {
		return n.(*answer.AsyncName)
	}
	var out *answer.AsyncName
	if name, err := r.methodName(call); err == nil {
		n := k.answerName()
		out = &answer.AsyncName{Type: n.Type, Name: n.Name}
		if out.Name.Err == nil {
			out.Name.S += " {" + name + "}"
		}
	}
	r.actions.known.Store(key, out)
	return out
}

// call returns the call that a delegate makes; for several, the last.
func (r *Reader) call(delegate target.Addr) (objects.DelegateCall, bool) {
	o, err := r.r.Object(delegate)
	if err != nil {
		return objects.DelegateCall{}, false
	}
	calls, _ := o.Delegate()
	if len(calls) == 0 {
		return objects.DelegateCall{}, false
	}
	return calls[len(calls)-1], true
}

// methodName returns a delegate's method with its parameters.
func (r *Reader) methodName(call objects.DelegateCall) (string, error) {
	m, err := call.Method()
	if err != nil {
		return "", err
	}
	return r.code.MethodName(m, code.MethodFull)
}

// answerName returns the name of the kind's objects.
func (k *kind) answerName() *answer.AsyncName {
	n, _ := k.said.Get(func() (*answer.AsyncName, error) {
		n, err := k.names()
		return &answer.AsyncName{Type: answer.Text{S: n.full, Err: err}, Name: answer.Text{S: n.short, Err: err}}, nil
	})
	return n
}
