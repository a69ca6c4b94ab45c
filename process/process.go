// Package process is one .NET process in a dump, as one of its runtimes sees it. It opens the readers of packages
// below it (runtime, heap, objects, collections, threads, stacks, roots, graph) on first use and shares them.
//
// It holds no algorithms: each reader has a package of its own. It answers no questions either. Packages above it, such
// as those in app, answer them with functions of the form
//
//	answer, err := package.Function(ctx, p, options)
//
// Start at Process (process.go) and Dump (dump.go). To write such a function, read Answer (answer.go) and PerProcess
// (extend.go).
//
// Stability: stable.
package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/internal/dump/crashreport"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackscan"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A Process is a dumped process as one of its runtimes sees it. It opens each reader on first use and keeps it. It is
// safe for concurrent use.
type Process struct {
	dump *Dump
	inst *dac.Instance // nil if there is no such runtime
	err  error         // why inst is nil

	runtime     lazy.Value[*dac.Runtime]
	heap        lazy.Value[*heap.Heap]
	objects     lazy.Value[*objects.Reader]
	shapes      lazy.Value[*objects.Binder]
	collections lazy.Value[*objects.Collections]
	scanner     lazy.Value[*stackscan.Scanner]
	walker      lazy.Value[*stackwalk.Walker]
	native      lazy.Value[*stackwalk.Walker]
	threads     lazy.Value[[]stackwalk.Thread]
	roots       lazy.Value[*graph.RootReader]
	graph       lazy.Value[*graph.Graph]
	premises    sync.Map // answer.Premise -> *lazy.Value[answer.PremiseState]: State
	above       sync.Map // *extension -> *lazy.Value[T]: the values of PerProcess
}

// Process returns the process as one of its runtimes sees it. The runtime is selected by its number in Runtimes, or
// by the start of its release or file version (dac.Instance.Is). An empty name selects Options.Runtime; if that is
// empty too, the first CLR. Each runtime has one Process. No reader is opened yet.
//
// If there is no such runtime, Process returns an error and a Process without a runtime. It provides the
// operating system's threads and the signal or exception record.
func (d *Dump) Process(runtime string) (*Process, error) {
	inst, err := d.choose(runtime)
	if err != nil {
		return d.withoutRuntime(err), err
	}
	return d.ProcessOf(inst), nil
}

// withoutRuntime returns the Process without a runtime for a reason. The last one is kept: a session asks for it again
// with each question, and its threads may be many.
func (d *Dump) withoutRuntime(reason error) *Process {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bare == nil || d.bare.err.Error() != reason.Error() {
		d.bare = &Process{dump: d, err: reason}
	}
	return d.bare
}

// ProcessOf returns the Process of a runtime in Runtimes.
func (d *Dump) ProcessOf(inst *dac.Instance) *Process {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.processes[inst]
	if p == nil {
		p = &Process{dump: d, inst: inst}
		d.processes[inst] = p
	}
	return p
}

// Processes returns one Process for each runtime, in the order of Runtimes.
func (d *Dump) Processes() []*Process {
	list := d.Runtimes()
	out := make([]*Process, len(list))
	for i, inst := range list {
		out[i] = d.ProcessOf(inst)
	}
	return out
}

// choose returns the runtime that want selects; see Process. The error lists the runtimes of the process.
func (d *Dump) choose(want string) (*dac.Instance, error) {
	if crashreport.Of(d.file.Target) != nil {
		return nil, &crashreport.NoMemoryError{}
	}
	if want == "" {
		want = d.options.Runtime
	}
	all := d.Runtimes()
	want = strings.TrimPrefix(want, "#")
	if len(all) == 0 {
		if headless := dac.Headless(d.file, d.read); len(headless) > 0 {
			m := &headless[0]
			_, err := d.files.Found(m)
			return nil, fmt.Errorf("nothing shows whether %s is a .NET runtime: what it exports is %w, and of files: %v",
				target.BaseName(m.Path), target.ErrNotInDump, err)
		}
		if what := dac.ForeignRuntime(d.file); what != "" {
			return nil, target.Unsupportedf("%s", what)
		}
		return nil, target.Unsupportedf("no .NET runtime found among %d modules of the process", len(d.file.Modules()))
	}
	if want == "" {
		// Prefer a CLR: more is known about it than about a NativeAOT image.
		for _, inst := range all {
			if inst.Flavor == dac.FlavorCoreCLR {
				return inst, nil
			}
		}
		return all[0], nil
	}
	if n, err := strconv.Atoi(want); err == nil && n >= 0 && n < len(all) {
		return all[n], nil
	}
	for _, inst := range all {
		if inst.Is(want) {
			return inst, nil
		}
	}
	titles := make([]string, len(all))
	for i, inst := range all {
		titles[i] = inst.Title()
	}
	return nil, target.NoSuchf("the process has no runtime %q; it has %s", want, strings.Join(titles, ", "))
}

// Dump returns the dump that p belongs to.
func (p *Process) Dump() *Dump { return p.dump }

// Target returns the dumped process with the memory that the dump holds.
func (p *Process) Target() target.Target { return p.dump.file }

// Memory returns the process's memory. Read-only parts of module files fill its gaps.
func (p *Process) Memory() target.Memory { return p.dump.read }

// Instance returns the runtime's module in the process, or why there is no runtime.
func (p *Process) Instance() (*dac.Instance, error) { return p.inst, p.err }

// Runtime opens the runtime. The error lists the layouts that were tried and why each was refused. The runtime of a
// NativeAOT program has fewer structures than a CLR; see dac.Instance.Open.
func (p *Process) Runtime() (*dac.Runtime, error) {
	if p.err != nil {
		return nil, p.err
	}
	return p.runtime.Get(p.inst.Open)
}

// StacksOnly reports whether the dump holds nothing of the runtime's data (dac.StacksOnlyError), or is a crash
// report. If so, Threads returns the operating system's threads, or those that the report lists. NativeWalker walks
// their stacks.
func (p *Process) StacksOnly() bool {
	_, err := p.Runtime()
	return errors.As(err, new(*dac.StacksOnlyError)) || crashreport.Of(p.dump.file.Target) != nil
}

// Heap opens the runtime's GC heap.
func (p *Process) Heap() (*heap.Heap, error) {
	return p.heap.Get(func() (*heap.Heap, error) {
		rt, err := p.Runtime()
		if err != nil {
			return nil, err
		}
		return heap.Open(rt, p.dump.file)
	})
}

// Objects returns the reader of objects.
func (p *Process) Objects() (*objects.Reader, error) {
	return p.objects.Get(func() (*objects.Reader, error) {
		rt, err := p.Runtime()
		if err != nil {
			return nil, err
		}
		r := objects.NewIn(rt, p.Heap)
		r.CountsBy(func(o objects.Object) (uint64, bool, error) {
			c, err := p.Collections()
			if err != nil {
				return 0, false, nil // callers of Collections report it
			}
			return c.CountOf(o)
		})
		return r, nil
	})
}

// Shapes returns the binder of shapes, which describe the fields of class library types, to the runtime's types.
func (p *Process) Shapes() (*objects.Binder, error) {
	return p.shapes.Get(func() (*objects.Binder, error) {
		r, err := p.Objects()
		if err != nil {
			return nil, err
		}
		return objects.NewBinder(r, p.Heap), nil
	})
}

// Collections returns the reader of collections, such as lists and dictionaries.
func (p *Process) Collections() (*objects.Collections, error) {
	return p.collections.Get(func() (*objects.Collections, error) {
		b, err := p.Shapes()
		if err != nil {
			return nil, err
		}
		return objects.NewCollections(b), nil
	})
}

// Scanner returns the scanner that finds objects on stacks, word by word. If the dump lacks the heap's structures,
// the scanner recognizes objects by their types alone.
func (p *Process) Scanner() (*stackscan.Scanner, error) {
	return p.scanner.Get(func() (*stackscan.Scanner, error) {
		rt, err := p.Runtime()
		if err != nil {
			return nil, err
		}
		h, err := p.Heap()
		if err != nil && !errors.Is(err, target.ErrNotInDump) {
			return nil, err
		}
		return stackscan.New(rt, h), nil
	})
}

// Walker returns the walker of the runtime's threads. It unwinds through code of other runtimes in the process.
func (p *Process) Walker() (*stackwalk.Walker, error) {
	return p.walker.Get(func() (*stackwalk.Walker, error) {
		rt, err := p.Runtime()
		if err != nil {
			return nil, err
		}
		return stackwalk.NewWalker(rt, p.otherRuntimes()...), nil
	})
}

// NativeWalker returns a walker of native stacks, which needs no runtime; see stackwalk.NewNativeWalker.
func (p *Process) NativeWalker() *stackwalk.Walker {
	w, _ := p.native.Get(func() (*stackwalk.Walker, error) {
		return stackwalk.NewNativeWalker(p.dump.Target(), p.dump.Memory()), nil
	})
	return w
}

// otherRuntimes opens the other CLRs of the process. It skips those that cannot be opened; their code then counts as
// native code.
func (p *Process) otherRuntimes() []*dac.Runtime {
	var out []*dac.Runtime
	for _, inst := range p.dump.Runtimes() {
		if inst == p.inst || inst.Flavor != dac.FlavorCoreCLR {
			continue
		}
		if rt, err := p.dump.ProcessOf(inst).Runtime(); err == nil {
			out = append(out, rt)
		}
	}
	return out
}

// Threads returns all threads of the process, joined with the runtime's threads; see stackwalk.Threads. If the runtime
// cannot be opened, it returns the operating system's threads and the error. If StacksOnly, that is no error. If the
// dump has lost threads, because its file is cut off or lists none, Threads returns the others and a LostThreadsError.
// All callers share the list and must not change it.
func (p *Process) Threads() ([]stackwalk.Thread, error) {
	return p.threads.Get(func() ([]stackwalk.Thread, error) {
		rt, err := p.Runtime()
		list, lerr := stackwalk.Threads(p.dump.file, rt)
		if err == nil || p.StacksOnly() {
			err = cmp.Or(lerr, p.lostThreads(list))
		}
		return list, err
	})
}

// Walk walks the stack of a thread; see stackwalk.Walker.Walk. A thread unknown to the runtime has only native frames.
// If the walk cannot start, it yields one frame with Err set.
func (p *Process) Walk(ctx context.Context, t *stackwalk.Thread, o stackwalk.WalkOptions) iter.Seq[stackwalk.Frame] {
	walker, err := p.Walker()
	switch {
	case err != nil:
	case t == nil:
		err = ErrNoThread
	case t.OS == nil:
		err = fmt.Errorf("registers of thread %#x: %w", t.ID(), target.ErrNotInDump)
	}
	if err != nil {
		return func(yield func(stackwalk.Frame) bool) { yield(stackwalk.Frame{Kind: stackwalk.FrameNative, Err: err}) }
	}
	return walker.Walk(ctx, t.Managed, t.OS.Registers, o)
}
