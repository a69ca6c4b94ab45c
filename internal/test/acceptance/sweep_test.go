package acceptance_test

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/internal/app/stacks"
	"github.com/sosgo/sosgo/internal/app/threadpool"
	"github.com/sosgo/sosgo/internal/app/triage"
	"github.com/sosgo/sosgo/internal/app/values"
	"github.com/sosgo/sosgo/internal/export/summary"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/target"
)

// drained iterates over a list of an answer and returns its errors and notes.
func drained[T any](list iter.Seq2[T, error]) (noted []error) {
	for row, err := range list {
		if err != nil {
			noted = append(noted, err)
		} else if r, ok := any(row).(interface{ Noted() []error }); ok {
			noted = append(noted, r.Noted()...)
		}
	}
	return noted
}

// triaged runs a triage. Its unchecked subjects and findings of unknown strength count as notes.
func triaged(o triage.Options) func(v *sosgo.View) (any, []error, error) {
	return func(v *sosgo.View) (any, []error, error) {
		a, err := triage.Triage(context.Background(), v.Process, o)
		if err != nil {
			return nil, nil, err
		}
		noted := a.Noted()
		for _, u := range a.Unknown {
			if u.Err != nil { // otherwise it was not requested
				noted = append(noted, u.Err)
			}
		}
		for i := range a.Findings {
			if f := &a.Findings[i]; f.Strength == answer.StrengthUnknown { // it says itself that something is missing
				noted = append(noted, fmt.Errorf("%s: %w", f.Text, target.ErrNotInDump))
			}
		}
		return a, noted, nil
	}
}

// TestNothingVanishes asks the first questions of an investigation many times, each time without
// one of the places that an answer was read from. Missing parts must be noted.
func TestNothingVanishes(t *testing.T) {
	ctx := context.Background()
	asked := testdump.Asked[interface{ Noted() []error }]
	proved, all := 0, 0
	weighed := func(v *sosgo.View) (any, []error, error) { // all conclusions are there, and one says that it is no longer proved
		a, err := locks.Waits(ctx, v.Process, locks.Options{})
		if err != nil {
			return nil, nil, err
		}
		n := 0
		for i := range a.Verdicts {
			if a.Verdicts[i].Strength == answer.StrengthProved {
				n++
			}
		}
		noted := a.Noted()
		proved, all = max(proved, n), max(all, len(a.Verdicts))
		if n < proved && len(a.Verdicts) == all {
			noted = append(noted, fmt.Errorf("%d of %d conclusions are proved: %w", n, proved, target.ErrNotInDump))
		}
		return a, noted, nil
	}
	for _, c := range []struct {
		name, dump string
		ask        func(v *sosgo.View) (any, []error, error)
	}{
		{"crash", "net10-crash-nested", func(v *sosgo.View) (any, []error, error) {
			return asked(crash.Describe(ctx, v.Process, crash.Options{}))
		}},
		{"crash of Windows", "win-net10-zoo", func(v *sosgo.View) (any, []error, error) {
			return asked(crash.Describe(ctx, v.Process, crash.Options{}))
		}},
		{"locks", "net10-stacks", func(v *sosgo.View) (any, []error, error) { return asked(locks.Locks(ctx, v.Process, locks.Options{})) }},
		{"waits", "net10-stacks", weighed},
		{"managed threads", "net10-zoo", func(v *sosgo.View) (any, []error, error) {
			return asked(stacks.ManagedThreads(ctx, v.Process, stacks.ManagedOptions{}))
		}},
		{"threads", "net10-zoo", func(v *sosgo.View) (any, []error, error) { return asked(stacks.OSThreads(ctx, v.Process)) }},
		{"sync blocks", "net10-zoo", func(v *sosgo.View) (any, []error, error) {
			a, err := stacks.SyncBlocks(ctx, v.Process, threads.SyncBlockOptions{})
			if err != nil {
				return nil, nil, err
			}
			noted := append(drained(a.Blocks), a.Noted()...)
			if err := a.Failure(); err != nil {
				noted = append(noted, err)
			}
			return a, noted, nil
		}},
		{"handles", "net10-zoo", func(v *sosgo.View) (any, []error, error) { return asked(memory.Handles(ctx, v.Process)) }},
		{"finalizers", "net10-zoo", func(v *sosgo.View) (any, []error, error) {
			return asked(memory.Finalizers(ctx, v.Process, heap.FinalizerOptions{}))
		}},
		{"heap", "net10-zoo", func(v *sosgo.View) (any, []error, error) { return asked(memory.RuntimeHeaps(ctx, v.Process)) }},
		{"stacks", "net10-crash-nested", func(v *sosgo.View) (any, []error, error) {
			a, err := stacks.Stacks(ctx, v.Process, stacks.Options{StackOptions: threads.StackOptions{Source: true}})
			if err != nil {
				return nil, nil, err
			}
			var noted []error
			for f, err := range a.Frames {
				if err == nil {
					if err = f.Err.Err; err == nil && f.Trust != "unwind" && f.Trust != "context" {
						err = fmt.Errorf("%#x was found by %s: %w", uint64(f.SP.Value), f.Trust, target.ErrNotInDump)
					}
				}
				if err != nil {
					noted = append(noted, err)
				}
			}
			return a, append(noted, a.Noted()...), nil
		}},
		{"object", "net10-zoo", func(v *sosgo.View) (any, []error, error) {
			return asked(values.Describe(ctx, v.Process, 0x7efbcd80b550, values.DescribeOptions{}))
		}},
		{"threadpool", "net10-async", func(v *sosgo.View) (any, []error, error) {
			return asked(locks.ThreadPool(ctx, v.Process, threadpool.Options{}))
		}},
		{"timers", "net10-async", func(v *sosgo.View) (any, []error, error) { return asked(threadpool.Timers(ctx, v.Process)) }},
		{"summary", "net10-crash-nested", func(v *sosgo.View) (any, []error, error) {
			return asked(summary.Summary(ctx, v.Process, summary.Options{}))
		}},
		{"triage", "net10-async", triaged(triage.Options{NoHeap: true, Jobs: 1})},
		{"triage of a crash", "net10-crash-nested", triaged(triage.Options{NoHeap: true, Jobs: 1})},
	} {
		t.Run(c.name, func(t *testing.T) {
			testdump.Open(t, c.dump).Sweep(t, 300, false, c.ask)
		})
	}
}
