package objects

import (
	"cmp"
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// A DelegateCall is one call that a delegate makes when it is invoked.
type DelegateCall struct {
	Delegate   target.Addr // the delegate, or a member of its invocation list
	Target     target.Addr // _target; the delegate itself for a static method
	Entry      target.Addr // called code, 0 if only MethodDesc is known
	MethodDesc target.Addr

	r *Reader
}

// Method returns the called method.
func (c DelegateCall) Method() (*dac.MethodDesc, error) {
	find, at := dac.CodeOf(c.r.Runtime()).MethodOfEntry, c.Entry
	if c.MethodDesc != 0 {
		find, at = dac.CodeOf(c.r.Runtime()).TrustedMethodDesc, c.MethodDesc
	}
	m, err := find(at)
	return m, target.InHeap(err)
}

// maxInvocations bounds the list of a multicast delegate.
const maxInvocations = 1 << 20

// Delegate returns the calls that a delegate makes, in order. The error is target.ErrArgument if the object does not have
// the fields of System.MulticastDelegate. Calls before an unreadable part are returned with the error.
func (o Object) Delegate() ([]DelegateCall, error) {
	call, err := o.delegateCall()
	if err != nil {
		return nil, fmt.Errorf("delegate %016x: %w", uint64(o.Addr), err)
	}
	list := o.fieldOr("_invocationList", "_helperObject")
	if err := list.Err(); err != nil {
		return nil, fmt.Errorf("delegate %016x: %w", uint64(o.Addr), err)
	}
	if list.IsNull() {
		return []DelegateCall{call}, nil
	}
	l, err := list.Object()
	if err != nil {
		return []DelegateCall{call}, err
	}
	if !l.Type.MT.IsArray() {
		// The object is a collectible or dynamic method that the delegate keeps alive, or the method's reflection
		// object.
		return []DelegateCall{call}, nil
	}
	return o.invocations(l)
}

func (o Object) invocations(list Object) ([]DelegateCall, error) {
	a, err := list.Array()
	if err != nil {
		return nil, err
	}
	count, err := o.fieldOr("_invocationCount", "_extraData").Addr()
	if err != nil {
		return nil, err
	}
	if uint64(count) > uint64(a.Len) || count > maxInvocations {
		return nil, target.CorruptHeapf("%d of %d invocations", count, a.Len)
	}
	var out []DelegateCall
	for i := range uint32(count) {
		d, err := invokedDelegate(a.At(i))
		if err != nil {
			return out, err
		}
		call, err := d.delegateCall()
		if err != nil {
			return out, err
		}
		out = append(out, call)
	}
	return out, nil
}

// invokedDelegate returns the delegate in an element of an invocation list. Since .NET 11 the elements are structs with
// one field.
func invokedDelegate(v Value) (Object, error) {
	if v.Kind() == KindStruct {
		s, err := v.Struct()
		if err != nil {
			return Object{}, err
		}
		a, err := target.Pointer(s.Type.r.mem, s.Addr)
		if err != nil {
			return Object{}, target.InHeap(err)
		}
		return s.Type.r.TrustedObject(a)
	}
	return v.Object()
}

// fieldOr returns the field with the first name that the type has.
func (o Object) fieldOr(name, since11 string) Value {
	if v := o.Field(name); !otherShape(v.Err()) {
		return v
	}
	return o.Field(since11)
}

// delegateCall reads the call of one delegate; comdelegate.cpp describes the forms, and dotnet/runtime pull request
// 99200 describes them for .NET 11. For a static method, or an instance method without a target, _methodPtrAux is the
// method and _methodPtr a thunk. For a virtual method without a target, _invocationCount or _extraData is the
// MethodDesc. Since .NET 11 it is so for other methods too, and _helperObject may be an object of reflection.
func (o Object) delegateCall() (DelegateCall, error) {
	if o.Type == nil {
		return DelegateCall{}, errNoObject
	}
	call := DelegateCall{Delegate: o.Addr, r: o.Type.r}
	if otherShape(o.Field("_methodPtr").Err()) {
		name, err := o.Type.ManagedName()
		if err != nil {
			return DelegateCall{}, err
		}
		return DelegateCall{}, target.Argumentf("it is not a delegate but a %s", name)
	}
	var err error
	read := func(name string) target.Addr {
		a, ferr := o.Field(name).Addr()
		if ferr != nil && err == nil {
			err = ferr
		}
		return a
	}
	call.Target = read("_target")
	ptr, aux := read("_methodPtr"), read("_methodPtrAux")
	count, countErr := o.fieldOr("_invocationCount", "_extraData").Addr()
	if err = cmp.Or(err, countErr); err != nil {
		return DelegateCall{}, err
	}
	call.Entry = ptr
	if aux == 0 {
		return call, nil
	}
	call.Entry = aux
	if list := o.Field("_invocationList"); count != 0 && (list.IsNull() || otherShape(list.Err())) {
		if _, err := dac.CodeOf(call.r.Runtime()).TrustedMethodDesc(count); err == nil {
			call.Entry, call.MethodDesc = 0, count
		}
	}
	return call, nil
}

// A NotDelegateError reports that an object is not a delegate with readable calls.
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

// DelegateCalls lists the calls that the delegate at a makes, in order. Errors for unreadable parts come first. The
// error is an *InvalidError if there is no object at a, and a *NotDelegateError if the object is not a delegate.
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

// methodName returns the address and the name of the called method.
func (c DelegateCall) methodName() (target.Addr, string, error) {
	md, err := c.Method()
	if err != nil {
		return 0, "", err
	}
	name, err := dac.CodeOf(c.r.Runtime()).MethodName(md, dac.MethodFull)
	return md.Addr, name, err
}
