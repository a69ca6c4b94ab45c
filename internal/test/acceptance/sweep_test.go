package acceptance_test

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/test/testdump"
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

// triaged runs a triage. Its unchecked subjects count as notes.
func triaged(o sosgo.TriageOptions) func(v *sosgo.View) (any, []error, error) {
	return func(v *sosgo.View) (any, []error, error) {
		a, err := v.Triage(context.Background(), o)
		if err != nil {
			return nil, nil, err
		}
		noted := a.Noted()
		for _, u := range a.Unknown {
			if u.Err != nil { // otherwise it was not requested
				noted = append(noted, u.Err)
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
	for _, c := range []struct {
		name, dump string
		ask        func(v *sosgo.View) (any, []error, error)
	}{
		{"crash", "net10-crash-nested", func(v *sosgo.View) (any, []error, error) { return asked(v.Crash(ctx)) }},
		{"crash of Windows", "win-net10-zoo", func(v *sosgo.View) (any, []error, error) { return asked(v.Crash(ctx)) }},
		{"locks", "net10-stacks", func(v *sosgo.View) (any, []error, error) { return asked(v.Locks(ctx)) }},
		{"waits", "net10-stacks", func(v *sosgo.View) (any, []error, error) { return asked(v.Waits(ctx)) }},
		{"managed threads", "net10-zoo", func(v *sosgo.View) (any, []error, error) { return asked(v.ManagedThreads(ctx)) }},
		{"threads", "net10-zoo", func(v *sosgo.View) (any, []error, error) { return asked(v.OSThreads(ctx)) }},
		{"sync blocks", "net10-zoo", func(v *sosgo.View) (any, []error, error) {
			a, err := v.SyncBlocks(ctx)
			if err != nil {
				return nil, nil, err
			}
			noted := append(drained(a.Blocks), a.Noted()...)
			if err := a.Failure(); err != nil {
				noted = append(noted, err)
			}
			return a, noted, nil
		}},
		{"handles", "net10-zoo", func(v *sosgo.View) (any, []error, error) { return asked(v.Handles(ctx)) }},
		{"finalizers", "net10-zoo", func(v *sosgo.View) (any, []error, error) { return asked(v.Finalizers(ctx)) }},
		{"heap", "net10-zoo", func(v *sosgo.View) (any, []error, error) { return asked(v.RuntimeHeaps(ctx)) }},
		{"stacks", "net10-crash-nested", func(v *sosgo.View) (any, []error, error) {
			a, err := v.Stacks(ctx)
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
		{"object", "net10-zoo", func(v *sosgo.View) (any, []error, error) { return asked(v.Describe(ctx, 0x7efbcd80b550)) }},
		{"threadpool", "net10-async", func(v *sosgo.View) (any, []error, error) { return asked(v.ThreadPool(ctx)) }},
		{"timers", "net10-async", func(v *sosgo.View) (any, []error, error) { return asked(v.Timers(ctx)) }},
		{"summary", "net10-crash-nested", func(v *sosgo.View) (any, []error, error) { return asked(v.Summary(ctx)) }},
		{"triage", "net10-async", triaged(sosgo.TriageOptions{NoHeap: true, Jobs: 1})},
		{"triage of a crash", "net10-crash-nested", triaged(sosgo.TriageOptions{NoHeap: true, Jobs: 1})},
	} {
		t.Run(c.name, func(t *testing.T) {
			testdump.Open(t, c.dump).Sweep(t, 300, false, c.ask)
		})
	}
}
