// Package sosgo opens dumps of .NET processes and answers what SOS answers, on any machine and with nothing installed: no .NET, no
// debugger, no data-access library, no symbol server.
//
//	d, err := sosgo.Open("core.1234", sosgo.Options{})
//	if err != nil { … }
//	defer d.Close()
//	heap, err := d.Heap()
//	for obj, err := range heap.Objects() { … }
//
// A Dump is a file; its View is the process in it as one runtime sees it. The methods of View answer the common questions. A View is also
// a *process.Process: readers of the runtime, the heap, objects and stacks are its methods, and the packages in app, query and export
// answer all other questions by functions of the form package.Function(ctx, view.Process, options). Package answer has their results as
// plain values.
//
// A Dump is safe for concurrent use, Close included: after Close every read is an error. No function logs, prints or panics; errors answer
// errors.Is for target.ErrNotInDump, target.ErrCorrupt or target.ErrUnsupported.
//
// # How do I …
//
//   - look at one of several runtimes: [process.Dump.Runtimes] lists them, [Dump.View] is one of them; Dump's own Runtime, Heap, Objects … belong to
//     the default
//   - list the objects of the heap: [heap.Heap.Objects]; count them by type: [View.HeapStats]
//   - find a type by its name: [objects.Reader.TypeByName]; ask what it is: [objects.Type.Implements], [objects.Type.Fields],
//     [objects.Type.Statics]
//   - read a field: [objects.Reader.Object] of its object, then [objects.Object.Field]
//   - say what an address is: [View.Resolve]; find the object that it lies in: [heap.Heap.ObjectContaining]
//   - find what an object refers to: [heap.Heap.References]; what keeps objects alive: [View.GCRoot], package [roots]
//   - list the threads: [process.Process.Threads]; find one: [threads.ByID], [threads.ByManagedID]; say what it waits for: [View.Waits],
//     [threads.Thread.Activity]
//   - walk a stack: [View.Stacks], [process.Process.Walk]; with the frames of several runtimes: [process.Dump.MergedWalk]; its arguments and
//     locals: [stackwalk.Variables]
//   - find what may be objects on a stack: [stacks.StackObjects]
//   - say why the process died: [View.Crash]; what is wrong with it: [View.Triage]
//   - say what the dump lacks: [View.Diagnose]; move it with what it needs: [process.Dump.Pack]
//   - name native code: [process.Dump.Symbols]; list the images: [modules.Images]; save one: [image.SaveFile]
//
// Packages that can be used by themselves: target (the process), minidump, elfcore, machocore and dump (the containers), image and
// metadata (what modules contain), dac and dac/code (the runtime's structures; methods and code), heap (the GC heap), graph (what holds
// its objects, and what would be free without them), objects (values), stackwalk (stacks and their frames), stackscan (the objects that
// stacks may refer to).
//
// Stability: stable.
package sosgo

import (
	"context"
	"io"

	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// Options change how a dump is opened. The zero value is right for most.
type Options = process.Options

// A SymbolServer fetches files by their keys in a symbol store. Package image/symbolserver has servers that are reached by HTTP.
type SymbolServer = process.SymbolServer

// A ProgressFunc reports how far a piece of work is; see WithProgress.
type ProgressFunc = process.ProgressFunc

// Errors that say why something is missing. Every error of the library is one of them, the context's, or one of the host's input and
// output.
var (
	ErrNotInDump   = target.ErrNotInDump   // the writer of the dump left the data out
	ErrCorrupt     = target.ErrCorrupt     // the data is there and impossible
	ErrUnsupported = target.ErrUnsupported // the data is there and can't be interpreted
)

// A Dump is an open dump. The methods of process.Dump are its methods.
type Dump struct {
	*process.Dump
}

// Open opens the dump in a file: an ELF core, a Mach-O core or a Windows minidump, also compressed by gzip or zstd. The content decides,
// not the name.
func Open(path string, o Options) (*Dump, error) { return dumpOf(process.Open(path, o)) }

// OpenStream opens the dump that r gives, a pipe for example, through a temporary file.
func OpenStream(r io.Reader, o Options) (*Dump, error) { return dumpOf(process.OpenStream(r, o)) }

// OpenReaderAt opens a dump of size bytes that the caller holds.
func OpenReaderAt(r io.ReaderAt, size int64, o Options) (*Dump, error) {
	return dumpOf(process.OpenReaderAt(r, size, o))
}

// OpenTarget opens a process that the caller reads; see process.OpenTarget.
func OpenTarget(t target.Target, o Options) (*Dump, error) { return dumpOf(process.OpenTarget(t, o)) }

func dumpOf(d *process.Dump, err error) (*Dump, error) {
	if err != nil {
		return nil, err
	}
	return &Dump{d}, nil
}

// View returns the process as a runtime sees it: its number in Runtimes, or the start of its version. An empty name is Options.Runtime; if
// that is empty too, the first CLR. If there is no such runtime, the View that comes with the error still answers what needs none: threads
// of the operating system, and the signal or exception record.
func (d *Dump) View(runtime string) (*View, error) {
	p, err := d.Process(runtime)
	return &View{p}, err
}

// WithProgress returns a context whose answers report their progress to f. Answers that are computed at once report none.
func WithProgress(ctx context.Context, f ProgressFunc) context.Context {
	return process.WithProgress(ctx, f)
}

// WithJobs returns a context whose answers use n goroutines at most instead of Options.Jobs.
func WithJobs(ctx context.Context, n int) context.Context { return process.WithJobs(ctx, n) }

// WithNotes returns a context whose answers pass to f what they lack, if they fail and so can't carry it themselves.
func WithNotes(ctx context.Context, f func(error)) context.Context { return process.WithNotes(ctx, f) }
