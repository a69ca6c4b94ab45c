// Package ask has what the commands share when they put a question to the library: the dump and its runtime, the thread or the objects that
// options choose.
package ask

import (
	"context"
	"sync"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/process"
)

// Dump returns the open dump of a command that NeedsDump.
func Dump(c *cli.Context) *process.Dump { return c.Dump().(*process.Dump) }

// View returns the view of the runtime that the session looks at. If there is none, the view's methods return why.
func View(c *cli.Context) *process.Process {
	v, _ := Dump(c).Process(c.Session.Runtime())
	return v
}

// Context returns the context for the answers of a view: with the command's workers, warnings and progress displays.
func Context(c *cli.Context) context.Context {
	var mu sync.Mutex
	shown := map[string]*cli.Progress{}
	ctx := process.WithNotes(process.WithJobs(c.Context(), c.Jobs), c.Warn)
	return process.WithProgress(ctx, func(work string, done, total uint64) {
		mu.Lock()
		defer mu.Unlock()
		p := shown[work]
		if p == nil {
			p = c.Progress(work)
			shown[work] = p
		}
		p.Set(done, total)
		if done == total {
			p.Done()
			delete(shown, work)
		}
	})
}

// Plain returns the function of a command without options: it asks the view, and writes an answer beside an error.
func Plain[T any](answer func(context.Context, *process.Process) (T, error)) func(*cli.Context, *cli.None) (T, error) {
	return func(c *cli.Context, _ *cli.None) (T, error) {
		out, err := answer(Context(c), View(c))
		return out, cli.WithAnswer(err)
	}
}

// Runtime opens the runtime that the session looks at.
func Runtime(c *cli.Context) (*dac.Runtime, error) { return View(c).Runtime() }

// Code reads the methods and the code of that runtime.
func Code(c *cli.Context) (*code.Reader, error) {
	rt, err := Runtime(c)
	if err != nil {
		return nil, err
	}
	return code.Of(rt), nil
}

// Heap opens the GC heap of that runtime and passes its warnings on.
func Heap(c *cli.Context) (*heap.Heap, error) {
	h, err := View(c).Heap()
	if err != nil {
		return nil, err
	}
	for _, w := range h.Warnings() {
		c.Warn(w)
	}
	return h, nil
}

// Say returns the answer v, written by text, unless err says that there is none.
func Say[T any](v T, err error, text func(*report.Page, T)) (report.Answer, error) {
	if err != nil {
		return report.Answer{}, err
	}
	return report.Say(v, text), nil
}

// Objects opens the objects of that runtime.
func Objects(c *cli.Context) (*objects.Reader, error) { return View(c).Objects() }

// A Form holds what SOS's form asks of the library differently from sosgo's own. Each field is an option of some call.
type Form struct {
	Paths       graph.PathOrder // which path shows what keeps an object alive
	Plain       bool            // objects without the elements of a collection and the state of a task
	SlotOrder   bool            // concurrent queues in the order of their slots
	Referred    bool            // what elements of collections refer to
	FirstThread bool            // the first thread is the current one, and not the thread of the crash
	Now         bool            // the registers at the time of the dump, also of the thread that raised its exception
	Carried     bool            // registers that explicit frames do not know; see stackwalk.WalkOptions
	Extended    bool            // rows from behind the stack; see threads.ObjectOptions
	OneRuntime  bool            // the frames of one runtime, where the process has several
	Machines    bool            // stacks of async methods with state machines alone; see tasks.StackOptions
	NoAdvice    bool            // no warning that options choose nothing, and no exceptions of other threads
}

// FormOf returns the options that the form of the command's answer wants.
func FormOf(c *cli.Context) Form {
	if !c.SOS {
		return Form{}
	}
	return Form{Paths: graph.OrderSOS, Plain: true, SlotOrder: true, Referred: true, FirstThread: true, Now: true, Carried: true, Extended: true,
		OneRuntime: true, Machines: true, NoAdvice: true}
}
