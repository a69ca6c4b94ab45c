package sosgo

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/crash"
	"github.com/sosgo/sosgo/app/doctor"
	"github.com/sosgo/sosgo/app/hosting"
	"github.com/sosgo/sosgo/app/interop"
	"github.com/sosgo/sosgo/app/locks"
	"github.com/sosgo/sosgo/app/resolve"
	"github.com/sosgo/sosgo/app/settings"
	"github.com/sosgo/sosgo/app/sqlpools"
	"github.com/sosgo/sosgo/app/tasks"
	"github.com/sosgo/sosgo/app/threadpool"
	"github.com/sosgo/sosgo/app/tracing"
	"github.com/sosgo/sosgo/app/web"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump/crashreport"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/graph/roots"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/objects/collections"
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/stackscan"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/stackwalk/threads"
	"github.com/sosgo/sosgo/target"
)

// A Thread is a thread of the process. See package threads.
type Thread = threads.Thread

// A View is the process as one of its runtimes sees it. It opens what it is
// asked for at the first use, keeps it, and is safe for concurrent use.
type View struct {
	dump *Dump
	inst *dac.Instance // nil where there is no such runtime
	err  error         // why there is none

	runtime lazy.Value[*dac.Runtime]
	heap    lazy.Value[*heap.Heap]
	objects lazy.Value[*objects.Reader]
	scanner lazy.Value[*stackscan.Scanner]
	native  lazy.Value[*stackwalk.Walker]
	walker  lazy.Value[*stackwalk.Walker]
	roots   lazy.Value[*roots.Reader]
	graph   lazy.Value[*graph.Graph]
	tasks   lazy.Value[*tasks.Reader]
	shapes  lazy.Value[*shapes.Binder]
	held    lazy.Value[*collections.Reader] // what collections hold
	web     lazy.Value[*web.Reader]
	sql     lazy.Value[*sqlpools.Reader]
	hosting lazy.Value[*hosting.Reader]
	setting lazy.Value[*settings.Reader]
	tracing lazy.Value[*tracing.Reader]
	interop lazy.Value[*interop.Reader]
	secret  lazy.Value[*masking]
}

// View returns the view of a runtime of the process: its number in Runtimes, or
// the start of its version, that of the release or of the file (dac.Instance.Is). Empty is Options.Runtime and, where that is empty
// too, the first CLR. There is one View of a runtime; nothing of the runtime is
// read for it but what Runtimes reads.
//
// Where the process has no such runtime, the View that comes with the error
// answers what needs no runtime: the threads of the operating system, and the
// signal or exception record.
func (d *Dump) View(runtime string) (*View, error) {
	if d == nil || d.file == nil {
		return &View{err: errNoDump}, errNoDump
	}
	inst, err := d.choose(runtime)
	if err != nil {
		return &View{dump: d, err: err}, err
	}
	return d.viewOf(inst), nil
}

// of returns the dump of v.
func (v *View) of() *Dump {
	if v == nil {
		return none()
	}
	return v.dump.orNone()
}

// viewOf returns the only view of a runtime.
func (d *Dump) viewOf(inst *dac.Instance) *View {
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.views[inst]
	if v == nil {
		v = &View{dump: d, inst: inst}
		d.views[inst] = v
	}
	return v
}

func (d *Dump) choose(want string) (*dac.Instance, error) {
	if d.file.Report() != nil {
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
		// A CLR answers more than a NativeAOT image beside it.
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
	return nil, target.Unsupportedf("the process has no runtime %q; it has %s", want, strings.Join(titles, ", "))
}

// Dump returns the dump that the view is of.
func (v *View) Dump() *Dump { return v.dump }

// Instance returns which runtime the view is of.
func (v *View) Instance() (*dac.Instance, error) { return v.inst, v.err }

// Runtime opens the runtime. The error lists the layouts that were tried and why each was refused. For
// a NativeAOT program the runtime provides what such a program shares with a CLR: see
// dac.Instance.Open.
func (v *View) Runtime() (*dac.Runtime, error) {
	if v.err != nil {
		return nil, v.err
	}
	if v.inst == nil {
		return nil, errNoDump
	}
	return v.runtime.Get(v.inst.Open)
}

// StacksOnly reports whether the dump has none of the runtime's data: see dac.StacksOnlyError, and dump.File.Report. Threads are those of the
// operating system then, and NativeWalker walks their stacks; those of a crash report are what it lists.
func (v *View) StacksOnly() bool {
	_, err := v.Runtime()
	return errors.As(err, new(*dac.StacksOnlyError)) || v.of().file.Report() != nil
}

// Heap opens the runtime's GC heap.
func (v *View) Heap() (*heap.Heap, error) {
	return v.heap.Get(func() (*heap.Heap, error) {
		if v.err != nil {
			return nil, v.err
		}
		rt, err := v.Runtime()
		if err != nil {
			return nil, err
		}
		return heap.Open(rt, v.dump.file)
	})
}

// OutOfMemory describes the last allocations that the collector could not do, also where the dump lacks the heap itself.
func (v *View) OutOfMemory() (*answer.OutOfMemory, error) {
	rt, err := v.Runtime()
	if err != nil {
		return nil, err
	}
	return heap.OutOfMemory(rt, v.dump.file)
}

// Objects returns the reader of the runtime's objects.
func (v *View) Objects() (*objects.Reader, error) {
	return v.objects.Get(func() (*objects.Reader, error) {
		rt, err := v.Runtime()
		if err != nil {
			return nil, err
		}
		r := objects.NewIn(rt, v.Heap)
		r.CountsBy(func(o objects.Object) (uint64, bool, error) {
			c, err := v.Collections() // which has the Reader by now
			if err != nil {
				return 0, false, nil // that says who asks for one
			}
			return c.CountOf(o)
		})
		return r, nil
	})
}

// Shapes binds shapes, which say how types of class libraries are read, to the types of the runtime.
func (v *View) Shapes() (*shapes.Binder, error) {
	return v.shapes.Get(func() (*shapes.Binder, error) {
		r, err := v.Objects()
		if err != nil {
			return nil, err
		}
		return shapes.New(r, v.Heap), nil
	})
}

// shaped keeps at a place the reader that is made of the runtime's shapes.
func shaped[T any](v *View, at *lazy.Value[T], read func(*shapes.Binder) (T, error)) (T, error) {
	return at.Get(func() (r T, err error) {
		b, err := v.Shapes()
		if err != nil {
			return r, err
		}
		return read(b)
	})
}

// TaskReader reads tasks and the state machines of async methods.
func (v *View) TaskReader() (*tasks.Reader, error) {
	return shaped(v, &v.tasks, func(b *shapes.Binder) (*tasks.Reader, error) { return tasks.New(b), nil })
}

// Collections reads the collections among the runtime's objects.
func (v *View) Collections() (*collections.Reader, error) {
	return shaped(v, &v.held, func(b *shapes.Binder) (*collections.Reader, error) { return collections.New(b), nil })
}

// SQLPoolReader reads the pools of connections to databases.
func (v *View) SQLPoolReader() (*sqlpools.Reader, error) {
	return shaped(v, &v.sql, func(b *shapes.Binder) (*sqlpools.Reader, error) { return sqlpools.New(b, collections.New(b)), nil })
}

// HostingReader reads what the host of a program keeps: scopes of dependency injection, memory caches.
func (v *View) HostingReader() (*hosting.Reader, error) {
	return shaped(v, &v.hosting, func(b *shapes.Binder) (*hosting.Reader, error) {
		c, err := v.Collections()
		return hosting.New(b, c), err
	})
}

// SettingsReader reads how the process was configured.
func (v *View) SettingsReader() (*settings.Reader, error) {
	return shaped(v, &v.setting, func(b *shapes.Binder) (*settings.Reader, error) {
		c, err := v.Collections()
		return settings.New(b, c), err
	})
}

// TracingReader reads who listens to the events of the process.
func (v *View) TracingReader() (*tracing.Reader, error) {
	return shaped(v, &v.tracing, func(b *shapes.Binder) (*tracing.Reader, error) {
		rt, err := v.Runtime()
		if err != nil {
			return nil, err
		}
		c, err := v.Collections()
		return tracing.New(rt, b, c), err
	})
}

// InteropReader reads the wrappers of ComWrappers.
func (v *View) InteropReader() (*interop.Reader, error) {
	return shaped(v, &v.interop, func(b *shapes.Binder) (*interop.Reader, error) { return interop.New(b), nil })
}

// WebReader reads web requests, those that came in and those that were sent.
func (v *View) WebReader() (*web.Reader, error) {
	return shaped(v, &v.web, func(b *shapes.Binder) (*web.Reader, error) {
		t, err := v.TaskReader()
		if err != nil {
			return nil, err
		}
		c, err := v.Collections()
		return web.New(b, c, t), err
	})
}

// Scanner scans stacks for the runtime's objects, word by word. Where the dump
// has too little of the heap to open it, the scanner goes by the objects' types
// alone.
func (v *View) Scanner() (*stackscan.Scanner, error) {
	return v.scanner.Get(func() (*stackscan.Scanner, error) {
		rt, err := v.Runtime()
		if err != nil {
			return nil, err
		}
		h, err := v.Heap()
		if err != nil && !errors.Is(err, target.ErrNotInDump) {
			return nil, err
		}
		return stackscan.New(rt, h), nil
	})
}

// LockReader reads the locks of the runtime, and what threads wait for.
func (v *View) LockReader() (*locks.Reader, error) {
	b, err := v.Shapes()
	if err != nil {
		return nil, err
	}
	h, err := v.Heap()
	if err != nil {
		return nil, err
	}
	w, err := v.Walker()
	if err != nil {
		return nil, err
	}
	list, err := v.Threads()
	if err != nil && len(list) == 0 {
		return nil, err
	}
	r := locks.New(v.dump.file, b, h, w, list, err)
	if w, err := v.WebReader(); err == nil {
		r.NameRequests(w.ServedBy)
	}
	return r, nil
}

// ThreadPoolReader reads the thread pool of the runtime, and the timers.
func (v *View) ThreadPoolReader() (*threadpool.Reader, error) {
	b, err := v.Shapes()
	if err != nil {
		return nil, err
	}
	w, err := v.Walker()
	if err != nil {
		return nil, err
	}
	list, err := v.Threads()
	if err != nil && len(list) == 0 {
		return nil, err
	}
	return threadpool.New(b, w, list, err), nil
}

// Walker walks the stacks of the runtime's threads. Code of the other runtimes
// in the process is unwound through.
func (v *View) Walker() (*stackwalk.Walker, error) {
	return v.walker.Get(func() (*stackwalk.Walker, error) {
		rt, err := v.Runtime()
		if err != nil {
			return nil, err
		}
		return stackwalk.NewWalker(rt, v.otherRuntimes()...), nil
	})
}

// NativeWalker walks stacks of native code alone, and needs no runtime: see
// stackwalk.NewNativeWalker.
func (v *View) NativeWalker() *stackwalk.Walker {
	w, _ := v.native.Get(func() (*stackwalk.Walker, error) {
		return stackwalk.NewNativeWalker(v.of().Target(), v.of().Memory()), nil
	})
	return w
}

// otherRuntimes opens the CLRs beside v's; one that can't be opened is left
// out, and its code is like any other native code.
func (v *View) otherRuntimes() []*dac.Runtime {
	var out []*dac.Runtime
	for _, inst := range v.of().Runtimes() {
		if inst == v.inst || inst.Flavor != dac.FlavorCoreCLR {
			continue
		}
		if rt, err := v.dump.viewOf(inst).Runtime(); err == nil {
			out = append(out, rt)
		}
	}
	return out
}

// Threads returns all threads of the process, joined with those that the runtime
// knows; see threads.List. Where the runtime can't be opened they are those of
// the operating system, with the error; without an error where the dump has none of the runtime's data.
func (v *View) Threads() ([]Thread, error) {
	if v.dump == nil {
		return nil, errNoDump
	}
	rt, err := v.Runtime()
	if v.StacksOnly() {
		err = nil
	}
	list, lerr := threads.List(v.dump.file, rt)
	if err == nil {
		err = lerr
	}
	return list, err
}

// CrashOptions choose where the exception of a crash is looked for.
type CrashOptions struct {
	// NoHeap leaves out the search for the exception for which Main could not be prepared, if no record of the thread names it. It reads a
	// heap of at most 64 MB. Answers note it where they would have searched.
	NoHeap bool
}

// CrashRecord returns why the process died, or nil if the dump records no crash; see crash.Read. The
// error is what could not be read.
func (v *View) CrashRecord(o ...CrashOptions) (*crash.Crash, error) {
	return crash.Read(v.process(option(o)))
}

// CrashedThread returns the OS id of the thread that died; see crash.Died.
func (v *View) CrashedThread() (id uint32, ok bool) { return crash.Died(v.process(CrashOptions{})) }

// BriefCrash describes the reason and the exception of a crash, and for a process that did not crash
// the monitors that threads wait for. It returns nil if there are none; see crash.DescribeBriefly.
func (v *View) BriefCrash(o ...CrashOptions) *answer.Crash {
	if r := v.of().file.Report(); r != nil {
		return r.Crash()
	}
	return crash.DescribeBriefly(v.process(option(o)))
}

// describeCrash describes the crash at length.
func (v *View) describeCrash(ctx context.Context, o CrashOptions) (*answer.Crash, error) {
	if r := v.of().file.Report(); r != nil {
		return r.Crash(), nil
	}
	return crash.Describe(ctx, v.process(o))
}

// process returns what package crash looks at.
func (v *View) process(o CrashOptions) crash.Process {
	p := crash.Process{Target: v.of().file, Memory: v.of().mem, Threads: v.Threads, Runtime: v.Runtime, Walker: v.Walker, Resolve: v.Resolve, NoHeap: o.NoHeap}
	if v.StacksOnly() {
		p.Symbols, p.Walker = v.of().Symbols(), func() (*stackwalk.Walker, error) { return v.NativeWalker(), nil }
	}
	return p
}

// Diagnose looks at everything that can keep sosgo from an answer, with members
// also at every member of the runtime's layout; see doctor.Of.
func (v *View) Diagnose(members bool) *answer.Diagnosis {
	d := v.of()
	return doctor.Of(doctor.Source{
		File: d.file, Runtimes: d.Runtimes(), Chosen: v.inst, Heap: v.Heap, ModuleFile: d.describeFile, Memory: d.read, MemorySource: d.MemorySource,
		Open:    func(inst *dac.Instance) (*dac.Runtime, error) { return d.viewOf(inst).Runtime() },
		Members: members,
	})
}

// DumpContents lists what the dump holds beside memory, threads and modules, as far as its container has such lists.
func (v *View) DumpContents() *answer.DumpContents { return doctor.Contents(v.of().file) }

// Walk walks the stack of a thread, see stackwalk.Walker.Walk: of one that the
// runtime doesn't know, too, whose activations are native. Where the walk can't
// begin it yields one frame whose Err says why.
func (v *View) Walk(ctx context.Context, t *Thread, o stackwalk.WalkOptions) iter.Seq[stackwalk.Frame] {
	walker, err := v.Walker()
	if err == nil && t.OS == nil {
		err = fmt.Errorf("registers of thread %#x: %w", t.ID(), target.ErrNotInDump)
	}
	if err != nil {
		return func(yield func(stackwalk.Frame) bool) { yield(stackwalk.Frame{Kind: stackwalk.FrameNative, Err: err}) }
	}
	return walker.Walk(ctx, t.Managed, t.OS.Registers, o)
}

// Walk returns the Walk of the default View.
func (d *Dump) Walk(ctx context.Context, t *Thread, o stackwalk.WalkOptions) iter.Seq[stackwalk.Frame] {
	v, _ := d.View("") // it keeps the error
	return v.Walk(ctx, t, o)
}

// SeveralRuntimes reports whether the process has more than one CLR, so that
// stacks are best shown through all of them.
func (d *Dump) SeveralRuntimes() bool {
	n := 0
	for _, inst := range d.Runtimes() {
		if inst.Flavor == dac.FlavorCoreCLR {
			n++
		}
	}
	return n > 1
}

// MergedWalk walks the stack of an OS thread through all CLRs of the process that know it, or of a thread that none knows
// the native frames, if o wants them; see stackwalk.MergedWalk. A CLR that can't be opened is left out: Runtime and Diagnose return the
// reason.
func (d *Dump) MergedWalk(ctx context.Context, osThread uint32, o stackwalk.WalkOptions) iter.Seq[stackwalk.Frame] {
	var parts []stackwalk.Part
	var other *stackwalk.Part // a thread that no CLR knows has native frames alone
	for _, inst := range d.Runtimes() {
		if inst.Flavor != dac.FlavorCoreCLR {
			continue
		}
		v := d.viewOf(inst)
		walker, err := v.Walker()
		if err != nil {
			continue
		}
		list, _ := v.Threads() // as many as there are
		t := threads.ByID(list, osThread)
		switch {
		case t == nil || t.OS == nil:
		case t.Managed != nil:
			parts = append(parts, stackwalk.Part{Walker: walker, Thread: t.Managed, Registers: t.OS.Registers})
		case o.Native && other == nil:
			other = &stackwalk.Part{Walker: walker, Registers: t.OS.Registers}
		}
	}
	if len(parts) == 0 && other != nil {
		parts = append(parts, *other)
	}
	return stackwalk.MergedWalk(ctx, parts, o)
}

// FoldedWalk is Dump.MergedWalk as the view's runtime sees it: its own frames, and
// where those of the others are; see stackwalk.FoldOthers.
func (v *View) FoldedWalk(ctx context.Context, osThread uint32, o stackwalk.WalkOptions) iter.Seq[stackwalk.Frame] {
	rt, _ := v.Runtime() // without one all frames are others'
	return stackwalk.FoldOthers(v.of().MergedWalk(ctx, osThread, o), rt)
}

// Resolve reports what an address is; see resolve.Address. What is nothing of this
// runtime's may be another's: the answer's Runtime is then its number.
func (v *View) Resolve(ctx context.Context, a target.Addr) *answer.Address {
	own := v.resolve(ctx, a)
	if !own.Kind.Nameless() {
		return own
	}
	for _, inst := range v.of().Runtimes() {
		if inst == v.inst || inst.Flavor != dac.FlavorCoreCLR {
			continue
		}
		if other := v.of().viewOf(inst).resolve(ctx, a); !other.Kind.Nameless() {
			index := inst.Index
			other.Runtime = &index
			return other
		}
	}
	return own
}

func (v *View) resolve(ctx context.Context, a target.Addr) *answer.Address {
	return resolve.Address(ctx, resolve.Process{Target: v.of().file, Runtime: v.Runtime, Heap: v.Heap, Threads: v.Threads, Map: v.memoryMap}, a)
}

// Resolve returns the Resolve of the default View.
func (d *Dump) Resolve(ctx context.Context, a target.Addr) *answer.Address {
	v, _ := d.View("")
	return v.Resolve(ctx, a)
}

// Runtime returns the Runtime of the default View.
func (d *Dump) Runtime() (*dac.Runtime, error) {
	v, _ := d.View("") // it keeps the error
	return v.Runtime()
}

// Heap returns the Heap of the default View.
func (d *Dump) Heap() (*heap.Heap, error) {
	v, _ := d.View("")
	return v.Heap()
}

// Objects returns the Objects of the default View.
func (d *Dump) Objects() (*objects.Reader, error) {
	v, _ := d.View("")
	return v.Objects()
}

// Scanner returns the Scanner of the default View.
func (d *Dump) Scanner() (*stackscan.Scanner, error) {
	v, _ := d.View("")
	return v.Scanner()
}

// Walker returns the Walker of the default View.
func (d *Dump) Walker() (*stackwalk.Walker, error) {
	v, _ := d.View("")
	return v.Walker()
}

// Threads returns the Threads of the default View.
func (d *Dump) Threads() ([]Thread, error) {
	v, _ := d.View("")
	return v.Threads()
}

// CrashRecord returns the CrashRecord of the default View.
func (d *Dump) CrashRecord(o ...CrashOptions) (*crash.Crash, error) {
	v, _ := d.View("")
	return v.CrashRecord(o...)
}
