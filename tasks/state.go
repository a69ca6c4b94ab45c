package tasks

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// taskClass is the name of the class that all tasks derive from.
const taskClass = "System.Threading.Tasks.Task"

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
	return &answer.TaskState{Flags: answer.Hex(f), Status: f.Status(), Names: f.Names()}
}

// DescribeState says in which state the task at a is. An object of another type is a *NotTaskError, an address that holds
// no object an *objects.InvalidError.
func DescribeState(r *objects.Reader, a target.Addr) (*answer.TaskState, error) {
	o, err := r.Proven(a)
	if err != nil {
		return nil, err
	}
	name, err := o.Type.ManagedName()
	if is, err := isTask(o.Type); err != nil {
		return nil, err
	} else if !is {
		return nil, &NotTaskError{Addr: a, Type: answer.Text{S: name, Err: err}}
	}
	flags, ferr := o.Field("m_stateFlags").Bits()
	if ferr != nil {
		return nil, ferr
	}
	out := DescribeFlags(Flags(flags))
	out.Task, out.Type = a, answer.Text{S: name, Err: err}
	return out, nil
}

// isTask reports whether a type is Task or derives from it.
func isTask(t *objects.Type) (bool, error) {
	for t != nil {
		name, err := t.ManagedName()
		if err != nil {
			return false, err
		}
		if name == taskClass {
			return true, nil
		}
		if t, err = t.Base(); err != nil {
			return false, err
		}
	}
	return false, nil
}
