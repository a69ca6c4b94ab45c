package process

import (
	"context"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
)

type (
	progressKey struct{}
	jobsKey     struct{}
	notesKey    struct{}
)

// A ProgressFunc reports how far a piece of work is. The work is named for people, such as "looking for requests". Done equals
// total in the last call of a piece of work that completes. Calls do not overlap for one piece of work.
type ProgressFunc func(work string, done, total uint64)

// WithProgress returns a context whose answers report their progress to f. Answers that are computed at once report none.
func WithProgress(ctx context.Context, f ProgressFunc) context.Context {
	return context.WithValue(background(ctx), progressKey{}, f)
}

// WithJobs returns a context whose answers use n goroutines at most instead of Options.Jobs.
func WithJobs(ctx context.Context, n int) context.Context {
	return context.WithValue(background(ctx), jobsKey{}, n)
}

// WithNotes returns a context whose answers pass to f what they lack, if they fail and so can't carry it themselves.
func WithNotes(ctx context.Context, f func(error)) context.Context {
	return context.WithValue(background(ctx), notesKey{}, f)
}

// WithoutNotes returns a context whose answers pass what they lack to nobody.
func WithoutNotes(ctx context.Context) context.Context {
	return context.WithValue(background(ctx), notesKey{}, nil)
}

// jobs returns the number of goroutines that an answer may use.
func (p *Process) jobs(ctx context.Context) int {
	if n, ok := ctx.Value(jobsKey{}).(int); ok && n > 0 {
		return n
	}
	return p.Dump().Jobs()
}

// background returns ctx, or the background context for nil.
func background(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// progressOf returns the function of WithProgress, or nil.
func progressOf(ctx context.Context) ProgressFunc {
	f, _ := ctx.Value(progressKey{}).(ProgressFunc)
	return f
}

// Scanning completes the options of a scan with the goroutines and the progress of ctx. Work names the scan for people.
func (p *Process) Scanning(ctx context.Context, work string, o heap.ScanOptions) heap.ScanOptions {
	ctx = background(ctx)
	if o.Jobs == 0 {
		o.Jobs = p.jobs(ctx)
	}
	if f := progressOf(ctx); f != nil && o.Progress == nil {
		o.Progress = func(done, total uint64) { f(work, done, total) }
	}
	return o
}

// building completes the options of a graph in the same way.
func (p *Process) building(ctx context.Context, o graph.Options) graph.Options {
	if o.Jobs == 0 {
		o.Jobs = p.jobs(ctx)
	}
	if f := progressOf(ctx); f != nil && o.Progress == nil {
		o.Progress = func(at graph.Progress) { f("building the graph of objects", at.Done, at.Total) }
	}
	return o
}
