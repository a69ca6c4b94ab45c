// Package sosgo opens dumps of .NET processes and answers the questions that SOS answers. It runs on any machine and
// needs no .NET, debugger, data-access library or symbol server.
//
//	d, err := sosgo.Open("core.1234", sosgo.Options{})
//	if err != nil { … }
//	defer d.Close()
//	heap, err := d.Heap()
//	for obj, err := range heap.Objects() { … }
//
// A Dump is an open file. A View is the process in it as one of its runtimes sees it, with a method for each question:
// its documentation lists them by subject. A View embeds a *process.Process, which has readers of the runtime, the heap,
// objects and stacks. Package answer has the results, package text writes them as the commands do, package export writes
// files for other tools, and package remote opens dumps at addresses.
//
// A Dump is safe for concurrent use, including Close. After Close all reads fail with ErrClosed. No function
// logs or prints, or panics because of what is in a dump. errors.Is matches each error to one of the errors below, or to
// the context's or the host's.
//
// # Errors
//
// A function without an answer returns an error. Long lists of an answer are read while they are ranged over, and a loop
// sees the errors of a list:
//
//	for row, err := range list.Objects.All() {
//		if err != nil {
//			return err // or keep it and continue
//		}
//	}
//
// An error beside a row reports missing rows; the list continues. What kept a list from being read to its end is the
// error of its last row, which is zero: memory that is not in the dump, or the context. A list is never empty because
// nothing could be read.
//
// A missing value in a row is an [answer.Text] or an [answer.Maybe] with an error, never zero. Counts that are known
// only after a list, such as Total of [answer.Query], have the error "not read" until then. Failure of an answer is the
// error of the last row; Noted lists why values are missing or doubtful, as the program's warnings do. JSON has missing
// rows as {"missing": reason}, and the error of the last row as {"error": reason}.
//
// # How do I …
//
//   - select one of several runtimes: [process.Dump.Runtimes] lists them, [Dump.View] selects one; Dump.Runtime,
//     Dump.Heap and so on use the default one
//   - list the objects of the heap: [heap.Heap.Objects]; count them by type: [View.HeapStats]
//   - find a type by name: [objects.Reader.TypeByName] with a name as answers print it, such as "Contoso.Order"; names in
//     the spelling of C# and of reflection do as well. Examine it: [objects.Type.Implements], [objects.Type.Fields],
//     [objects.Type.Statics]
//   - read a field: [objects.Reader.Object] of its object, then [objects.Object.Field]; as a Go value: [objects.As];
//     static and thread-static fields: [View.Statics], [objects.Type.Statics]
//   - list the elements of a collection: [View.Items]; as values: [process.Process.Collections]
//   - describe an address: [View.Resolve]; find the object that contains it: [heap.Heap.ObjectContaining]
//   - find what an object refers to: [heap.Heap.References]; what keeps it alive: [View.GCRoot],
//     [graph.RootReader]
//   - list the threads: [process.Process.Threads]; find one: [stackwalk.ThreadByID],
//     [stackwalk.ThreadByManagedID]; find what it waits for: [View.Waits], [View.ManagedThreads]
//   - walk a stack: [View.Stacks], [process.Process.Walk]; with frames of several runtimes:
//     [process.Dump.MergedWalk]; with arguments and locals: [stackwalk.Variables]
//   - find possible objects on a stack: [View.StackObjects]
//   - find the thread that crashed: [View.CrashedThread]; why the process died: [View.Crash]; what is wrong with it: [View.Triage]; what a thread threw:
//     [View.Exception]
//   - find what is missing from the dump: [View.Diagnose]; move it with its module files: [process.Dump.Pack]
//   - find how the process was started: [View.Settings]
//   - recognize the same crash in another dump: the Signature of [View.Summary]
//   - write an answer as the commands print it: package text; the heap, stacks ([View.Profile]) and tables for other
//     tools: package export; serve the page of a dump: package ui
//   - open a dump at an address: package remote; a process that the program reads itself: [OpenTarget]
//   - limit the time of a question: its context; its memory: MaxMemory of [Options], and [ErrLimit]
//   - name native code: [process.Dump.Symbols]; list the images: [View.Images]; save one: [image.SaveFile]
//
// Packages that can be used by themselves: target (the process), minidump and dump (file formats), image and metadata
// (the contents of modules), dac (the runtime's structures; methods and code), heap (the GC heap), graph (references and retained sizes), objects (values), stackwalk (stacks and frames), stackscan
// (possible objects on stacks).
//
// Stability: stable.
package sosgo

import (
	"context"
	"io"

	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// Options control how a dump is opened. The zero value suits most callers.
type Options = process.Options

// A SymbolServer fetches files by their keys in a symbol store. remote.NewSymbolServer returns one for HTTP.
type SymbolServer = process.SymbolServer

// A ProgressFunc receives the progress of a piece of work; see WithProgress.
type ProgressFunc = process.ProgressFunc

// Every error of the library matches one of these, or is the context's or an I/O error of this machine. The first three
// say why something is missing from the dump, the others what is wrong with the question.
var (
	ErrNotInDump   = target.ErrNotInDump   // the dump's writer omitted the data
	ErrCorrupt     = target.ErrCorrupt     // the data is in the dump and is impossible
	ErrUnsupported = target.ErrUnsupported // the data is in the dump and cannot be interpreted

	ErrClosed   = target.ErrClosed   // the dump has been closed
	ErrLimit    = target.ErrLimit    // the answer needs more memory or steps than its limit allows
	ErrNoSuch   = target.ErrNoSuch   // no type, field, thread, module or runtime has this name or number
	ErrNull     = target.ErrNull     // a reference is null
	ErrArgument = target.ErrArgument // an argument can't be right
)

// A Dump is an open dump. It has the methods of process.Dump.
type Dump struct {
	*process.Dump
}

// Open opens a dump file: an ELF core, a Mach-O core or a Windows minidump, plain or compressed with gzip or zstd. It
// detects the format by content, not by name.
func Open(path string, o Options) (*Dump, error) { return dumpOf(process.Open(path, o)) }

// OpenStream opens the dump that r provides, such as a pipe. It copies the dump to a temporary file.
func OpenStream(r io.Reader, o Options) (*Dump, error) { return dumpOf(process.OpenStream(r, o)) }

// OpenReaderAt opens a dump of size bytes in r.
func OpenReaderAt(r io.ReaderAt, size int64, o Options) (*Dump, error) {
	return dumpOf(process.OpenReaderAt(r, size, o))
}

// OpenTarget opens a process that the caller reads through t; see process.OpenTarget.
func OpenTarget(t target.Target, o Options) (*Dump, error) { return dumpOf(process.OpenTarget(t, o)) }

func dumpOf(d *process.Dump, err error) (*Dump, error) {
	if err != nil {
		return nil, err
	}
	return &Dump{d}, nil
}

// View returns the process as one of its runtimes sees it. The runtime is selected by its number in Runtimes, or by
// the start of its version. An empty name selects Options.Runtime; if that is empty too, the first CLR.
//
// If there is no such runtime, View returns an error and a View without a runtime. It still provides the operating
// system's threads and the signal or exception record.
func (d *Dump) View(runtime string) (*View, error) {
	p, err := d.Process(runtime)
	return &View{p}, err
}

// WithProgress returns a copy of ctx. Answers computed with it report their progress to f. Short ones report no
// progress.
func WithProgress(ctx context.Context, f ProgressFunc) context.Context {
	return process.WithProgress(ctx, f)
}

// WithJobs returns a copy of ctx. Answers computed with it use at most n goroutines instead of Options.Jobs.
func WithJobs(ctx context.Context, n int) context.Context { return process.WithJobs(ctx, n) }

// WithNotes returns a copy of ctx. An answer computed with it that has no answer.Gaps, usually because it failed,
// passes its notes to f.
func WithNotes(ctx context.Context, f func(error)) context.Context { return process.WithNotes(ctx, f) }
