package process

import (
	"context"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/offheap"
)

type (
	progressKey struct{}
	jobsKey     struct{}
	notesKey    struct{}
)

// A ProgressFunc receives the progress of a piece of work. work is a phrase such as "looking for requests". In the
// last call for completed work, done equals total. Calls for one piece of work do not overlap.
type ProgressFunc func(work string, done, total uint64)

// WithProgress returns a copy of ctx. Answers computed with it report their progress to f. Short ones report no
// progress.
func WithProgress(ctx context.Context, f ProgressFunc) context.Context {
	return context.WithValue(ctx, progressKey{}, f)
}

// WithJobs returns a copy of ctx. Answers computed with it use at most n goroutines instead of Options.Jobs.
func WithJobs(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, jobsKey{}, n)
}

// WithMaxMemory returns a copy of ctx. Functions of packages below process, such as heap.Heap.Strings, keep to
// Options.MaxMemory if they are called with it. Answer, Process.Graph and package query do so themselves.
func (d *Dump) WithMaxMemory(ctx context.Context) context.Context {
	return offheap.WithBudget(ctx, d.budget)
}

// WithNotes returns a copy of ctx. An answer computed with it that has no answer.Gaps, usually because it failed,
// passes its notes to f.
func WithNotes(ctx context.Context, f func(error)) context.Context {
	return context.WithValue(ctx, notesKey{}, f)
}

// WithoutNotes returns a copy of ctx without the function of WithNotes. Answers computed with it discard such notes.
func WithoutNotes(ctx context.Context) context.Context {
	return context.WithValue(ctx, notesKey{}, nil)
}

// jobs returns the number of goroutines for an answer.
func (p *Process) jobs(ctx context.Context) int {
	if n, ok := ctx.Value(jobsKey{}).(int); ok && n > 0 {
		return n
	}
	return p.Dump().Jobs()
}

// progressOf returns the function given to WithProgress, or nil.
func progressOf(ctx context.Context) ProgressFunc {
	f, _ := ctx.Value(progressKey{}).(ProgressFunc)
	return f
}

// Scanning returns o with the number of goroutines and the progress function of ctx, where o leaves them unset. work
// names the scan in progress reports.
func (p *Process) Scanning(ctx context.Context, work string, o heap.ScanOptions) heap.ScanOptions {
	if o.Jobs == 0 {
		o.Jobs = p.jobs(ctx)
	}
	if f := progressOf(ctx); f != nil && o.Progress == nil {
		o.Progress = func(done, total uint64) { f(work, done, total) }
	}
	return o
}

// building is Scanning for the options of a graph.
func (p *Process) building(ctx context.Context, o graph.Options) graph.Options {
	if o.Jobs == 0 {
		o.Jobs = p.jobs(ctx)
	}
	if f := progressOf(ctx); f != nil && o.Progress == nil {
		o.Progress = func(at graph.Progress) { f("building the graph of objects", at.Done, at.Total) }
	}
	return o
}
