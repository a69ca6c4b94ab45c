package tasks

import (
	"sync"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// An actionKey is a type of tasks with a method that they run.
type actionKey struct {
	kind  *kind
	entry target.Addr // code, or a MethodDesc
}

// actionNames are how tasks with a delegate are called.
type actionNames struct {
	known sync.Map // actionKey -> *answer.AsyncName
}

// actionName is how a task is called that runs the method of a delegate, nil where that is not known.
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

// call is the call that a delegate makes, the last one of several.
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

// methodName is the method of a delegate with its parameters.
func (r *Reader) methodName(call objects.DelegateCall) (string, error) {
	m, err := call.Method()
	if err != nil {
		return "", err
	}
	return r.code.MethodName(m, code.MethodFull)
}

// answerName is what objects of a kind are called.
func (k *kind) answerName() *answer.AsyncName {
	n, _ := k.said.Get(func() (*answer.AsyncName, error) {
		n, err := k.names()
		return &answer.AsyncName{Type: answer.Text{S: n.full, Err: err}, Name: answer.Text{S: n.short, Err: err}}, nil
	})
	return n
}
