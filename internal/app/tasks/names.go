package tasks

import (
	"cmp"
	"sync"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
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
	known sync.Map // actionKey -> actionName
}

// An actionName is the name of a task with the method that it runs. If err is set, a description stands for the method.
type actionName struct {
	name *answer.AsyncName
	err  error
}

// actionName returns the name of a task that runs a delegate's method.
func (r *Reader) actionName(k *kind, delegate target.Addr) actionName {
	call, err := r.call(delegate)
	if err != nil {
		return k.running("", err)
	}
	key := actionKey{k, call.Entry | call.MethodDesc}
	if n, ok := r.actions.known.Load(key); ok {
		return n.(actionName)
	}
	out := k.running(r.methodName(call, dac.MethodQualified))
	sos := k.running(r.methodName(call, dac.MethodFull))
	out.name.SOS, out.err = sos.name.Name, cmp.Or(out.err, sos.err)
	r.actions.known.Store(key, out)
	return out
}

// running names a task of the kind that runs a method.
func (k *kind) running(method string, err error) actionName {
	if err != nil {
		method = answer.Absent(err)
	}
	n := *k.answerName()
	if n.Name.Err == nil {
		n.Name.S += " {" + method + "}"
		n.SOS = n.Name
	}
	return actionName{&n, err}
}

// call returns the call that a delegate makes; for a multicast delegate, the last one.
func (r *Reader) call(delegate target.Addr) (objects.DelegateCall, error) {
	o, err := r.r.TrustedObject(delegate)
	if err != nil {
		return objects.DelegateCall{}, err
	}
	calls, err := o.Delegate()
	if len(calls) == 0 {
		return objects.DelegateCall{}, cmp.Or(err, target.CorruptHeapf("the delegate %016x calls nothing", uint64(delegate)))
	}
	return calls[len(calls)-1], nil
}

// methodName returns the name of a delegate's method.
func (r *Reader) methodName(call objects.DelegateCall, style dac.MethodStyle) (string, error) {
	m, err := call.Method()
	if err != nil {
		return "", err
	}
	return r.code.MethodName(m, style)
}

// answerName returns the name of the kind's objects.
func (k *kind) answerName() *answer.AsyncName {
	n, _ := k.said.Get(func() (*answer.AsyncName, error) {
		n, err := k.names()
		short := answer.Text{S: n.short, Err: err}
		return &answer.AsyncName{Type: answer.Text{S: n.full, Err: err}, Name: short, SOS: short}, nil
	})
	return n
}
