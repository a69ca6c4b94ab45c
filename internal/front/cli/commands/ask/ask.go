// Package ask holds the parts that commands share to call the library: the dump, its runtime, and the threads or
// objects that options select. It prints nothing. Start with View and Context.
package ask

import (
	"context"
	"sync"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/process"
)

// Dump returns the open dump of a command that NeedsDump.
func Dump(c *cli.Context) *process.Dump { return c.Dump().(*process.Dump) }

// View returns the view of the session's runtime. Without a runtime, the view's methods return the reason.
func View(c *cli.Context) *process.Process {
	v, _ := Dump(c).Process(c.Session.Runtime())
	return v
}

// Context returns the context for calls of a view, with the command's workers, warnings and progress displays.
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

// Plain returns the function of a command without options. It calls answer with the view and writes the answer even
// if there is an error.
func Plain[T any](answer func(context.Context, *process.Process) (T, error)) func(*cli.Context, *cli.None) (T, error) {
	return func(c *cli.Context, _ *cli.None) (T, error) {
		out, err := answer(Context(c), View(c))
		return out, cli.WithAnswer(err)
	}
}

// With returns the function of a command with the options of answer. It calls answer with the view and these options.
func With[O, T any](answer func(context.Context, *process.Process, O) (T, error)) func(*cli.Context, *O) (T, error) {
	return func(c *cli.Context, o *O) (T, error) { return answer(Context(c), View(c), *o) }
}

// Runtime opens the session's runtime.
func Runtime(c *cli.Context) (*dac.Runtime, error) { return View(c).Runtime() }

// Code returns the reader of the session runtime's methods and code.
func Code(c *cli.Context) (*dac.CodeReader, error) {
	rt, err := Runtime(c)
	if err != nil {
		return nil, err
	}
	return dac.CodeOf(rt), nil
}

// Heap opens the GC heap of the session's runtime and passes its warnings on.
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

// Say returns the answer v with its renderer, or err.
func Say[T any](v T, err error, text func(*report.Page, T)) (report.Answer, error) {
	if err != nil {
		return report.Answer{}, err
	}
	return report.Say(v, text), nil
}

// Objects returns the reader of the session runtime's objects.
func Objects(c *cli.Context) (*objects.Reader, error) { return View(c).Objects() }

// A Form holds the library options that differ between SOS's form and sosgo's own.
type Form struct {
	Paths       graph.PathOrder // which retention path is shown
	Plain       bool            // objects without collection elements and task state
	SlotOrder   bool            // concurrent queues in slot order
	Referred    bool            // objects that elements of collections refer to
	FirstThread bool            // the current thread is the first thread instead of the crashed one
	Now         bool            // the registers at the time of the dump, even of the thread that raised the exception
	Carried     bool            // registers unknown to explicit frames; see stackwalk.WalkOptions
	Extended    bool            // rows from above the stack; see threads.ObjectOptions
	OneRuntime  bool            // frames of one runtime only
	Machines    bool            // async stacks from state machines only; see tasks.StackOptions
	NoAdvice    bool            // no warning about an empty selection, and no exceptions of other threads
}

// FormOf returns the options for the form of the command's answer.
func FormOf(c *cli.Context) Form {
	if !c.SOS {
		return Form{}
	}
	return Form{Paths: graph.OrderSOS, Plain: true, SlotOrder: true, Referred: true, FirstThread: true, Now: true, Carried: true, Extended: true,
		OneRuntime: true, Machines: true, NoAdvice: true}
}
