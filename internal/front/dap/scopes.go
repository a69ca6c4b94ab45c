package dap

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/go-dap"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/methods"
	"github.com/sosgo/sosgo/internal/app/values"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// A scope is one group of variables of a frame.
type scope struct {
	frame *frame
	list  func(*session, context.Context, *frame) ([]dap.Variable, error)
}

func (n scope) children(ctx context.Context, s *session, p part) ([]dap.Variable, error) {
	if !p.named {
		return nil, nil
	}
	return n.list(s, ctx, n.frame)
}

func (s *session) scopes(ctx context.Context, id int) (any, error) {
	f, err := s.frame(ctx, id)
	if err != nil {
		return nil, err
	}
	body := dap.ScopesResponseBody{Scopes: []dap.Scope{}}
	add := func(name, hint string, expensive bool, n node) {
		body.Scopes = append(body.Scopes, dap.Scope{Name: name, PresentationHint: hint, Expensive: expensive, VariablesReference: s.values.add(n)})
	}
	if f.later != nil {
		if o := f.later.link.Object; o != 0 {
			add("Task", "", false, &object{view: f.later.view, at: o})
		}
		return body, nil
	}
	if f.Kind == answer.FrameManaged {
		add("Arguments", "arguments", false, scope{f, (*session).listArguments})
		add("Locals", "locals", false, scope{f, (*session).listLocals})
	}
	if m := f.thread.managed; m != nil && (m.Exception != nil || m.ExceptionError != nil) {
		add("Exception", "", false, scope{f, (*session).listException})
	}
	if f.Kind == answer.FrameManaged && f.MethodDesc != 0 {
		add("Statics of the type", "", true, scope{f, (*session).listStatics})
	}
	add("Registers", "registers", false, scope{f, (*session).listRegisters})
	return body, nil
}

// described returns a frame with the details that a scope shows.
func (s *session) described(ctx context.Context, f *frame, d threads.StackOptions) (*answer.Frame, error) {
	list, _, err := s.walk(ctx, f.thread, d, f.index, 1)
	if err == nil && len(list) == 0 {
		err = target.Corruptf("the stack ends before this frame")
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

func (s *session) listArguments(ctx context.Context, f *frame) ([]dap.Variable, error) {
	d, err := s.described(ctx, f, threads.StackOptions{Arguments: true})
	if err != nil {
		return nil, err
	}
	return s.frameVariables(ctx, f, d.Arguments, unnamedArgument), nil
}

func (s *session) listLocals(ctx context.Context, f *frame) ([]dap.Variable, error) {
	d, err := s.described(ctx, f, threads.StackOptions{Locals: true})
	if err != nil {
		return nil, err
	}
	return s.frameVariables(ctx, f, d.Locals, unnamedLocal), nil
}

// frameVariables returns arguments or locals. A variable without a name is shown by its number.
func (s *session) frameVariables(ctx context.Context, f *frame, list []answer.Variable, unnamed string) []dap.Variable {
	out := make([]dap.Variable, 0, len(list))
	for i := range list {
		v := &list[i]
		out = append(out, s.frameVariable(ctx, f, v, shownName(v, unnamed)))
	}
	return out
}

// The beginnings of names for variables without a name.
const (
	unnamedArgument = "A"
	unnamedLocal    = "V"
)

// shownName returns the name that a client sees for a variable.
func shownName(v *answer.Variable, unnamed string) string {
	return cmpText(v.Name, fmt.Sprintf("%s_%d", unnamed, v.Index))
}

func (s *session) frameVariable(ctx context.Context, f *frame, v *answer.Variable, name string) dap.Variable {
	out := s.variable(ctx, f.thread.view, named{name: name, typ: v.Type.String(), stored: &v.Stored, evaluate: name})
	if v.State == answer.VariableNoData {
		out.Value = "<no data>" // optimized away, or not live here
	}
	if out.MemoryReference == "" && v.Address != 0 {
		out.MemoryReference = reference(v.Address)
	}
	return out
}

// thrown returns the exception that a thread threw last.
func (t *thread) thrown() (target.Addr, error) {
	switch {
	case t.managed == nil:
		return 0, errors.New("the thread runs no managed code")
	case t.managed.ExceptionError != nil:
		return 0, t.managed.ExceptionError
	case t.managed.Exception == nil:
		return 0, errors.New("the thread has thrown nothing")
	}
	return t.managed.Exception.Address, nil
}

func (s *session) listException(ctx context.Context, f *frame) ([]dap.Variable, error) {
	a, err := f.thread.thrown()
	if err != nil {
		return []dap.Variable{{Name: "$exception", Value: words(err)}}, nil
	}
	return []dap.Variable{s.reference(ctx, f.thread.view, named{name: "$exception"}, a)}, nil
}

func (s *session) listStatics(ctx context.Context, f *frame) ([]dap.Variable, error) {
	fields, of, v, err := s.statics(ctx, f)
	if err != nil {
		return nil, err
	}
	return s.fields(ctx, v, fields, of, func(kind answer.FieldKind) bool { return kind != answer.FieldInstance }), nil
}

// statics returns the fields of the type of a frame's method, and the type's name if it is known.
func (s *session) statics(ctx context.Context, f *frame) (fields []answer.Field, of string, v *process.Process, err error) {
	m, v, err := asked(s, f.thread.view, func(v *process.Process) (*answer.Method, error) { return methods.Method(ctx, v, f.MethodDesc) })
	if err != nil {
		return nil, "", v, err
	}
	t, err := values.Type(ctx, v, m.MethodTable, objects.TypeOptions{Fields: true})
	switch {
	case err != nil:
		return nil, "", v, err
	case !t.Listed():
		return nil, "", v, nil
	case t.FieldsErr != nil:
		return nil, "", v, t.FieldsErr
	}
	if t.Name.Err() == nil {
		of = t.Name.Value
	}
	return t.Fields, of, v, nil
}

func (s *session) listRegisters(ctx context.Context, f *frame) ([]dap.Variable, error) {
	d, err := s.described(ctx, f, threads.StackOptions{Registers: true})
	if err != nil {
		return nil, err
	}
	var out []dap.Variable
	for reg, value := range d.Registers.All {
		a := target.Addr(value)
		out = append(out, dap.Variable{Name: target.RegName(d.Registers.Arch, reg), Value: reference(a), MemoryReference: reference(a)})
	}
	return out, nil
}
