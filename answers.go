package sosgo

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/leaks"
	"github.com/sosgo/sosgo/app/triage"
	"github.com/sosgo/sosgo/dump/crashreport"
	"github.com/sosgo/sosgo/export/summary"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/objects/collections"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/stackwalk/threads"
	"github.com/sosgo/sosgo/target"
)

// Options of answers. The zero value of each is the default.
type (
	// QueryOptions bound a query.
	QueryOptions = query.Options
	// StaticsOptions choose static fields.
	StaticsOptions = objects.StaticsOptions
	// ItemOptions choose elements of a collection.
	ItemOptions = collections.Options
	// ArrayOptions choose elements of an array.
	ArrayOptions = objects.ArrayOptions
	// TypesOptions choose loaded types.
	TypesOptions = heap.LoadedTypesOptions
)

// ID returns the dump's own id: 16 hexadecimal digits that depend on its content alone.
func (d *Dump) ID() (string, error) {
	if d == nil || d.file == nil {
		return "", errNoDump
	}
	f, err := d.file.Fingerprint()
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(f[:8]), nil
}

// SummaryOptions select what a summary holds.
type SummaryOptions struct {
	NoHeap bool   // leaves out sizes and suspects, which take most of the time of a large dump, and what CrashOptions.NoHeap leaves out
	Rules  string // text of the rules by which crashes are signed (docs/fleet.md); empty stands for the default
}

// Summary describes the dump in one record for a crash pipeline: signature, reason, top frame, suspects, sizes. What could not
// be read is absent and counted in Missing.
func (v *View) Summary(ctx context.Context, o ...SummaryOptions) (*answer.Summary, error) {
	return ask(ctx, v, func(q *question) (*answer.Summary, error) {
		process, platform := q.dump.file.Process(), q.dump.file.Platform()
		s := &answer.Summary{Dump: target.BaseName(q.dump.file.Path), Process: process.Command, PID: process.ID,
			System: fmt.Sprintf("%s %s", platform.OS, platform.Arch)}
		var err error
		if s.ID, err = q.dump.ID(); errors.Is(err, target.ErrUnsupported) {
			s.Note(err) // a target that is no dump
		} else if err != nil {
			return nil, err
		}
		if t := process.DumpTime; !t.IsZero() {
			t = t.UTC()
			s.Time = &t
		}
		if inst, err := q.Instance(); err == nil {
			s.Runtime = inst.Version()
		}
		list, err := q.Threads()
		s.Note(err)
		n := 0
		for i := range list {
			if list[i].OS != nil { // the runtime also lists threads that have ended or not started
				n++
			}
		}
		if n > 0 {
			s.Threads = &n
		}
		var questions triage.Questions // of a dump without the runtime's data, about the crash alone
		_, none := q.Instance()
		if none == nil && !q.StacksOnly() {
			questions = q.triageQuestions()
		}
		x, err := q.describeCrash(q.ctx, CrashOptions{NoHeap: option(o).NoHeap})
		if err == nil {
			summary.AddCrash(s, x)
			if err := summary.Sign(s, x, option(o).Rules); err != nil {
				return nil, err
			}
		}
		questions.Crash = func(context.Context) (*answer.Crash, error) { return x, err }
		if !option(o).NoHeap && !q.StacksOnly() {
			found, err := q.summarizeHeap(s)
			questions.Leaks = func(context.Context) (*answer.Leaks, error) { return found, err }
		}
		t, err := q.triage(questions, TriageOptions{Jobs: q.jobs(q.ctx), Rules: option(o).Rules})
		if t == nil {
			return nil, err
		}
		summary.AddTriage(s, t) // it notes what could not be looked at
		s.NoteFirst(q.notes)
		q.notes = nil
		s.Missing = len(s.Noted())
		return s, q.ctx.Err()
	})
}

// summarizeHeap adds what the heap holds to a summary, and returns its holders.
func (q *question) summarizeHeap(s *answer.Summary) (*answer.Leaks, error) {
	_, _ = q.Graph(q.ctx, graph.Options{Census: true}) // as in Triage
	h, err := q.holders()
	if err != nil {
		return nil, err
	}
	r, err := q.Objects()
	if err != nil {
		return nil, err
	}
	found, err := leaks.Find(q.ctx, h, r, leaks.Options{Jobs: q.jobs(q.ctx)})
	if err != nil {
		return nil, err
	}
	summary.AddLeaks(s, found)
	return found, nil
}

// Query answers a question in sosgo's query language: "from objects of Order | where Total > 100 | select count()", or in SQL.
// A question that can't be understood is a *query.Error.
func (v *View) Query(ctx context.Context, text string, o ...QueryOptions) (*answer.Query, error) {
	return ask(ctx, v, func(q *question) (*answer.Query, error) {
		p, err := q.queryProcess("asking the heap")
		if err != nil {
			return nil, err
		}
		return query.Run(q.ctx, p, text, option(o))
	})
}

// EvaluateOptions choose what an expression is about.
type EvaluateOptions struct {
	Thread *Thread // whose registers (@rip) and thread statics are meant
}

// Evaluate evaluates an expression in C# syntax, or several between commas: "Contoso.Cache.s_items.Count". A value that
// could not be computed carries the reason, and the error is the first such reason: query.ErrNoThread for a register or a thread static
// where the options have no thread.
func (v *View) Evaluate(ctx context.Context, expression string, o ...EvaluateOptions) (*answer.Evaluations, error) {
	return ask(ctx, v, func(q *question) (*answer.Evaluations, error) {
		p, err := q.queryProcess("asking the heap")
		if err != nil {
			return nil, err
		}
		return query.Evaluate(q.ctx, p.OfThread(option(o).Thread), expression)
	})
}

// DescribeOptions choose parts of the description of an object.
type DescribeOptions struct {
	objects.DescribeOptions
	Plain bool   // leaves out the elements of a collection and the state of a task
	Show  string // expressions about the object to evaluate, such as "Customer.Name, size"; the fields are then left to the caller

	EvaluateOptions // of Show
}

// firstElements is how many elements of a collection Describe lists.
const firstElements = 5

// Describe describes an object: its type, size and fields, the first elements of a collection, and the state of a task.
// Where there is no object, the error is an *objects.InvalidError.
func (v *View) Describe(ctx context.Context, object target.Addr, o ...DescribeOptions) (*answer.Object, error) {
	return read(ctx, v, func(q *question, r *objects.Reader) (*answer.Object, error) {
		o := option(o)
		out, err := r.Describe(q.ctx, object, o.DescribeOptions)
		if err != nil {
			return nil, err
		}
		switch {
		case o.Show != "":
			return q.show(out, o.Show, o.Thread)
		case !o.NoFields && !o.Plain:
			q.summarize(r, out)
		}
		return out, nil
	})
}

// summarize adds the first elements of a collection, and the state of a task, to the description of an object. An object that
// is neither, or that can't be read, stays as it is: the fields carry the reasons.
func (q *question) summarize(r *objects.Reader, out *answer.Object) {
	l, err := q.Collections()
	if err != nil {
		return
	}
	object, err := r.Object(out.Address)
	if err != nil {
		return
	}
	out.Collection, err = l.Summary(object, firstElements)
	out.Note(err)
	t, err := q.TaskReader()
	if err != nil {
		return
	}
	if state, err := t.DescribeState(out.Address); err == nil {
		out.NoteAll(state.Noted())
		out.Task = state
	}
}

// show evaluates expressions about an object.
func (q *question) show(out *answer.Object, expressions string, t *Thread) (*answer.Object, error) {
	p, err := q.queryProcess("asking the heap")
	if err != nil {
		return nil, err
	}
	of, err := p.Objects.Proven(out.Address)
	if err != nil {
		return nil, err
	}
	e, err := query.EvaluateOf(q.ctx, p.OfThread(t), of, expressions)
	if e == nil {
		return nil, err
	}
	out.NoteAll(e.Noted())
	out.Shown = e.Values
	return out, err
}

// Items lists the elements of a collection. An object that is no collection is an error.
func (v *View) Items(ctx context.Context, collection target.Addr, o ...ItemOptions) (*answer.Collection, error) {
	return ask(ctx, v, func(q *question) (*answer.Collection, error) {
		r, err := q.Collections()
		if err != nil {
			return nil, err
		}
		o := option(o)
		if o.Jobs == 0 {
			o.Jobs = q.jobs(q.ctx)
		}
		return r.Describe(q.ctx, collection, o)
	})
}

// Array lists the elements of an array. An object that is no array is objects.ErrNotArray.
func (v *View) Array(ctx context.Context, array target.Addr, o ...ArrayOptions) (*answer.Array, error) {
	return read(ctx, v, func(q *question, r *objects.Reader) (*answer.Array, error) {
		return r.DescribeArray(q.ctx, array, option(o))
	})
}

// ReadString reads a string. Its text is read while it is streamed.
func (v *View) ReadString(ctx context.Context, object target.Addr) (*answer.String, error) {
	return read(ctx, v, func(_ *question, r *objects.Reader) (*answer.String, error) {
		return r.DescribeString(object)
	})
}

// Statics lists static fields with their values.
func (v *View) Statics(ctx context.Context, o ...StaticsOptions) (iter.Seq2[answer.StaticField, error], error) {
	return read(ctx, v, func(q *question, r *objects.Reader) (iter.Seq2[answer.StaticField, error], error) {
		list, _ := q.Threads() // Statics, too, reads the runtime's threads, and notes what it lacks
		return named(r.Statics(q.ctx, option(o)), list), nil
	})
}

// named completes the threads of thread statics from a list of threads.
func named(fields iter.Seq2[answer.StaticField, error], list []Thread) iter.Seq2[answer.StaticField, error] {
	return func(yield func(answer.StaticField, error) bool) {
		owners := map[uint32]*answer.Thread{} // by managed id
		for f, err := range fields {
			if f.Thread != nil {
				id := f.Thread.ManagedID
				if t := threads.ByManagedID(list, id); owners[id] == nil && t != nil {
					var gaps answer.Gaps
					d := t.Describe(&gaps)
					owners[id] = &d
					for _, gap := range gaps.Noted() {
						if !yield(answer.StaticField{}, gap) {
							return
						}
					}
				}
				f.Thread = cmp.Or(owners[id], f.Thread)
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

// Types lists the types that the runtime has loaded, with the numbers of their objects.
func (v *View) Types(ctx context.Context, o ...TypesOptions) (iter.Seq2[answer.LoadedType, error], error) {
	return ask(ctx, v, func(q *question) (iter.Seq2[answer.LoadedType, error], error) {
		rt, err := q.Runtime()
		if err != nil {
			return nil, err
		}
		h, err := q.Heap() // without one the types are listed without numbers
		o := option(o)
		o.Scan = q.scanning("counting objects", o.Scan)
		list := heap.LoadedTypes(q.ctx, rt, h, o)
		if err == nil {
			return list, nil
		}
		return func(yield func(answer.LoadedType, error) bool) {
			if yield(answer.LoadedType{}, err) {
				list(yield)
			}
		}, nil
	})
}

// Crash describes why the process died on one page. For a process that did not crash it lists the threads that wait.
func (v *View) Crash(ctx context.Context, o ...CrashOptions) (*answer.Crash, error) {
	return ask(ctx, v, func(q *question) (*answer.Crash, error) { return q.describeCrash(q.ctx, option(o)) })
}

// Runtimes that a stack shows the frames of, in a process with several.
const (
	AllRuntimes     = iota // frames of all runtimes
	FoldedRuntimes         // frames of the view's runtime, and one line for each run of frames of others
	ViewRuntimeOnly        // frames of the view's runtime; code of others is native
)

// StackOptions choose threads and frames.
type StackOptions struct {
	threads.StackOptions
	Threads  []*Thread // the threads, in this order; nil for all managed threads that an OS thread runs
	Runtimes int       // AllRuntimes, FoldedRuntimes or ViewRuntimeOnly
}

// Stacks lists the stacks of threads. Its frames are walked while they are ranged over. Without options, frames have source
// lines and native frames are left out.
func (v *View) Stacks(ctx context.Context, o ...StackOptions) (*answer.Stacks, error) {
	return ask(ctx, v, func(q *question) (*answer.Stacks, error) {
		so := option(o)
		if len(o) == 0 {
			so.Source = true
		}
		walker, err := q.stackWalker(so.Native)
		if err != nil {
			return nil, err
		}
		list := so.Threads
		if list == nil {
			if list, err = q.running(walker); err != nil {
				return nil, err
			}
		}
		if r := q.dump.file.Report(); r != nil {
			return r.Stacks(q.ctx, reportOptions(&so, list)), nil
		}
		if so.Symbols == nil {
			so.Symbols = q.dump.Symbols()
		}
		if so.Walk == nil && q.dump.SeveralRuntimes() {
			switch so.Runtimes {
			case AllRuntimes:
				so.Walk = q.dump.MergedWalk
			case FoldedRuntimes:
				so.Walk = q.FoldedWalk
			}
		}
		return threads.Stacks(q.ctx, walker, list, so.StackOptions), nil
	})
}

// reportOptions returns the options as far as a crash report has what they ask for.
func reportOptions(o *StackOptions, list []*Thread) crashreport.StackOptions {
	out := crashreport.StackOptions{Native: o.Native, Limit: o.Limit, Lacking: o.Arguments || o.Locals || o.References || o.Registers}
	for _, t := range list {
		out.Threads = append(out.Threads, t.ID())
	}
	return out
}

// stackWalker returns the walker of stacks. For native frames the runtime is not needed: why it can't be opened is noted. A dump
// without any of the runtime's data has native frames alone.
func (q *question) stackWalker(native bool) (*stackwalk.Walker, error) {
	w, err := q.Walker()
	switch {
	case err == nil || !native && !q.StacksOnly():
		return w, err
	case q.StacksOnly():
		return q.NativeWalker(), nil
	}
	q.note(err)
	return q.NativeWalker(), nil
}

// running returns the managed threads that an OS thread runs. What can't be read of the list is noted.
func (q *question) running(w *stackwalk.Walker) ([]*Thread, error) {
	all, err := q.threads()
	if err != nil {
		return nil, err
	}
	list, err := threads.Running(all, w.Runtime())
	q.note(err)
	return list, nil
}

// ParallelStacks merges the stacks of all managed threads into trees. With explicit, the runtime's own frames are shown too.
func (v *View) ParallelStacks(ctx context.Context, explicit bool) (*answer.ParallelStacks, error) {
	return ask(ctx, v, func(q *question) (*answer.ParallelStacks, error) {
		w, list, err := q.ownStacks(false)
		if err != nil {
			return nil, err
		}
		return threads.ParallelStacks(q.ctx, w, list, explicit)
	})
}

// Profile collects the stacks of all managed threads for tools that show profiles.
func (v *View) Profile(ctx context.Context, native bool) (*answer.Profile, error) {
	return ask(ctx, v, func(q *question) (*answer.Profile, error) {
		w, list, err := q.ownStacks(native)
		if err != nil {
			return nil, err
		}
		return threads.Profile(q.ctx, w, list, threads.ProfileOptions{Native: native, Symbols: q.dump.Symbols()})
	})
}

// ownStacks returns what walks the stacks of the view's runtime alone. In a process with several that is noted.
func (q *question) ownStacks(native bool) (*stackwalk.Walker, []*Thread, error) {
	w, err := q.stackWalker(native)
	if err != nil {
		return nil, nil, err
	}
	list, err := q.running(w)
	if err != nil {
		return nil, nil, err
	}
	return w, list, nil
}

// ManagedOptions choose managed threads.
type ManagedOptions struct {
	threads.ManagedOptions
	Activities bool // what each thread does, which its stack is walked for
}

// ManagedThreads lists the runtime's threads. Of a crash report they have their OS ids and exceptions alone.
func (v *View) ManagedThreads(ctx context.Context, o ...ManagedOptions) (*answer.ManagedThreads, error) {
	return ask(ctx, v, func(q *question) (*answer.ManagedThreads, error) {
		o := option(o)
		if r := q.dump.file.Report(); r != nil {
			return r.ManagedThreads(), nil
		}
		rt, err := q.Runtime()
		if err != nil {
			return nil, err
		}
		list, err := q.threads()
		if err != nil {
			return nil, err
		}
		if o.Activities {
			if o.Walker, err = q.Walker(); err != nil {
				return nil, err
			}
		}
		out, err := threads.DescribeManaged(q.ctx, q.dump.file, rt, list, o.ManagedOptions)
		if pool, unread := q.ThreadPoolReader(); err == nil && unread == nil {
			pool.MarkWorkers(out)
		}
		return out, err
	})
}

// OSThreads lists the threads of the process. The one that crashed is marked as the current one, or else the first.
func (v *View) OSThreads(ctx context.Context) (*answer.OSThreads, error) {
	return ask(ctx, v, func(q *question) (*answer.OSThreads, error) {
		list, err := q.threads()
		if err != nil {
			return nil, err
		}
		current := &list[0]
		if id, ok := q.CrashedThread(); ok {
			if t := threads.ByID(list, id); t != nil {
				current = t
			}
		}
		return threads.DescribeOS(q.dump.file, list, current), nil
	})
}
