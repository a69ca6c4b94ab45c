package tasks

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/shapes"
	"github.com/sosgo/sosgo/target"
)

// A NotTaskError says that an object is no task. It is a kind of target.ErrUnsupported.
type NotTaskError struct {
	Addr target.Addr
	Type answer.Text // the object's type
}

func (e *NotTaskError) Error() string {
	return fmt.Sprintf("%v is no task but an object of type %v", e.Addr, e.Type)
}

// Unwrap is target.ErrUnsupported.
func (e *NotTaskError) Unwrap() error { return target.ErrUnsupported }

// DescribeFlags says what flags of a task mean.
func DescribeFlags(f Flags) *answer.TaskState {
	return &answer.TaskState{Flags: answer.Hex(f), Status: f.Status(), Names: f.Names(), ID: answer.Of[uint64](0, errNoTask)}
}

// errNoTask is why flags alone tell no more.
var errNoTask = target.Unsupportedf("flags alone are of no task")

// DescribeState says in which state the task at a is. An object of another type is a *NotTaskError, an address that holds
// no object an *objects.InvalidError.
func (r *Reader) DescribeState(a target.Addr) (*answer.TaskState, error) {
	o, err := r.r.Proven(a)
	if err != nil {
		return nil, err
	}
	name, nameErr := o.Type.ManagedName()
	k := r.kindAt(o.Type.MT.Addr)
	switch {
	case k.err != nil:
		return nil, k.err
	case k.task == nil:
		return nil, &NotTaskError{Addr: a, Type: answer.Text{S: name, Err: nameErr}}
	}
	flags, err := k.task.Flags.Uint(shapes.Of(o))
	if err != nil {
		return nil, err
	}
	out := DescribeFlags(Flags(flags))
	out.Task, out.Type = a, answer.Text{S: name, Err: nameErr}
	r.describeTask(out, k, o)
	return out, nil
}
