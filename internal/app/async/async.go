// Package async answers queries about the tasks and suspended async methods of a process: what each waits for and what
// continues after it. It only calls the reader in package tasks, and adds the hosts' services. Start with Stacks.
package async

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/hosting"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// Tasks counts the tasks of the heap by state and method.
func Tasks(ctx context.Context, p *process.Process, o tasks.ListOptions) (*answer.Tasks, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Tasks, error) {
		s, err := tasks.Collected(ctx, c)
		if err != nil {
			return nil, err
		}
		out, err := s.List(ctx, o)
		if err != nil || !o.Faulted {
			return out, err
		}
		out.Note(held(ctx, p, out))
		if err := ctx.Err(); err != nil || out.Seen == 0 {
			return out, err
		}
		hosts, err := hosting.Hosts(ctx, p) // a host observes the exceptions of its services
		if err != nil {
			out.Note(err)
			return out, ctx.Err()
		}
		out.NoteAll(hosts.Noted())
		for i := range hosts.Hosts {
			for _, service := range hosts.Hosts[i].Services {
				if service.State.S == answer.ServiceFailed {
					out.Services = append(out.Services, service)
				}
			}
		}
		return out, nil
	})
}

// State describes the state of a task. The error for another object is a *tasks.NotTaskError.
func State(ctx context.Context, p *process.Process, task target.Addr) (*answer.TaskState, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.TaskState, error) {
		r, err := tasks.Of(p)
		if err != nil {
			return nil, err
		}
		return r.DescribeState(task)
	})
}

// Forms of StackOptions.
const (
	Listed  = iota // each stack
	Merged         // equal frames of stacks together
	Counted        // frames by name
)

// StackOptions selects stacks of async methods.
type StackOptions struct {
	tasks.StackOptions
	Form      int  // Listed, Merged or Counted
	WithRoots bool // with what keeps each stack alive, for Listed
}

// Stacks lists the stacks of async methods: what each waits for and what continues after it.
func Stacks(ctx context.Context, p *process.Process, o StackOptions) (*answer.Async, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Async, error) {
		s, err := tasks.Collected(ctx, c)
		if err != nil {
			return nil, err
		}
		switch o.Form {
		case Merged:
			return s.Merged(ctx, o.StackOptions)
		case Counted:
			return s.Count(o.StackOptions)
		}
		if o.WithRoots {
			h, err := c.Holders(ctx, graph.Options{})
			if err != nil {
				return nil, err
			}
			c.Rests(h.Graph())
			o.Roots = func(ctx context.Context, a target.Addr) (*answer.RootPaths, error) {
				return h.RootPaths(ctx, a, graph.HoldOptions{})
			}
		}
		return s.Listed(ctx, o.StackOptions)
	})
}

// Calls merges the stacks of async methods into trees.
func Calls(ctx context.Context, p *process.Process, o tasks.StackOptions) (*answer.AsyncCalls, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.AsyncCalls, error) {
		s, err := tasks.Collected(ctx, c)
		if err != nil {
			return nil, err
		}
		return s.Calls(ctx, o)
	})
}
