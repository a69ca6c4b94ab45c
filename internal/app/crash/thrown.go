package crash

import (
	"context"
	"errors"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// ExceptionOptions select what Exception describes. The zero value is the exception that the thread threw last.
type ExceptionOptions struct {
	Address target.Addr // an exception object, or 0 for what the thread threw last
	Nested  bool        `opt:"nested" help:"also the exceptions that the thread was handling when it threw"`
	All     bool        `opt:"all" help:"the exceptions of all threads"`
}

// Exception describes an exception with its stack trace: the object at o.Address, or what thread t threw last. If t
// threw none, or runs no managed code, the answer lists the exceptions of the other threads. With o.All it describes the
// exceptions of all threads. Both have the exception that ended the process if no thread has it. With o.Address or o.All,
// t may be nil. The error for an object of another type is dac.ErrNotException.
func Exception(ctx context.Context, p *process.Process, t *stackwalk.Thread, o ExceptionOptions) (*answer.ThrownException, error) {
	return process.WithRuntime(ctx, p, func(_ context.Context, c *process.Call, rt *dac.Runtime) (*answer.ThrownException, error) {
		list, err := c.ThreadList()
		if err != nil {
			return nil, err
		}
		_, lost := c.Threads()
		if o.All {
			return carriedByAll(c, rt, list, true, lost)
		}
		var none *process.LostThreadsError
		if o.Address == 0 && errors.As(lost, &none) && none.Listed == 0 { // nothing says which thread t should be
			return nil, lost
		}
		if t == nil && o.Address == 0 {
			return nil, process.ErrNoThread
		}
		if t == nil {
			t = &stackwalk.Thread{Index: -1} // no thread's nested exceptions
		}
		if o.Address != 0 {
			r, err := c.Objects()
			if err == nil {
				_, err = r.Proven(o.Address)
			}
			if err != nil {
				return nil, err
			}
		}
		x, err := threads.DescribeException(t, rt, o.Address, threads.ExceptionOptions{Nested: o.Nested})
		if err == nil && x.Exception == nil {
			if t.Managed != nil {
				lost = nil // t's record says that it threw none
			}
			return carriedByAll(c, rt, list, false, lost)
		}
		if err == nil && o.Address == 0 && lastState(rt, x.Exception.Address) == answer.CarriedFatal {
			own, err := carriedBy(rt, []stackwalk.Thread{*t})
			x.Note(err)
			x.Others = describeCarried(rt, slices.DeleteFunc(own, func(other carried) bool { return other.thrown == x.Exception.Address }), &x.Gaps)
		}
		return x, err
	})
}

// carriedByAll lists the exceptions of all threads, with their stack traces if described is set, and the one that ended
// the process. lost is why another thread may have an exception that list lacks; it is the error if there is nothing to list.
func carriedByAll(c *process.Call, rt *dac.Runtime, list []stackwalk.Thread, described bool, lost error) (*answer.ThrownException, error) {
	x := &answer.ThrownException{Unread: lost}
	all, err := carriedBy(rt, list)
	x.Note(err)
	rows := describeCarried(rt, all, &x.Gaps)
	if !described {
		x.Others = rows
	} else {
		x.All = answer.NewRows(&x.Gaps, func(yield func(*answer.ThreadException, error) bool) error {
			for _, row := range rows {
				e, err := dac.CodeOf(rt).DescribeException(row.Exception, dac.ExceptionOptions{})
				if err == nil {
					x.NoteAll(e.Noted())
				}
				if !yield(&answer.ThreadException{Carried: row, Exception: *e}, err) {
					break
				}
			}
			return nil
		})
	}
	record, err := Read(c.Process, Options{})
	if len(x.Noted()) == 0 {
		x.Note(err) // otherwise it is noted
	}
	x.Ended = ending(rt, record, &x.Gaps)
	return process.UnlessEmpty(x, len(all) == 0 && x.Ended == nil, lost)
}
