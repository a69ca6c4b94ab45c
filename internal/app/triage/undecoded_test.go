package triage

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestUndecodedFrames: a few frames without GC info keep what their words refer to, so that the holders of memory are whole. Many frames, damage,
// and a missing stack leave them in doubt.
func TestUndecodedFrames(t *testing.T) {
	const subject = "holders of memory"
	for name, c := range map[string]struct {
		methods int
		err     error
		state   answer.PremiseState
		lost    bool
		quiet   bool
	}{
		"a page is missing":   {methods: 1, err: target.ErrNotInDump, quiet: true},
		"no files of modules": {methods: 20, err: target.ErrNotInDump},
		"a register":          {methods: 1, err: target.ErrNotInDump, lost: true},
		"a damaged one":       {methods: 1, err: target.ErrCorrupt},
		"a part of the stack": {methods: 1, err: target.ErrNotInDump, state: answer.PremiseDoubtful},
	} {
		q := healthy()
		l := &answer.Leaks{Incomplete: true}
		for i := range c.methods {
			for range 4 { // threads in one method
				l.Note(&stackwalk.UndecodedError{SP: 0x7000, Code: target.Addr(0x1000 + i), Err: c.err, Lost: c.lost})
			}
		}
		q.Leaks, q.Premises = Got(l, nil), answer.Premises{answer.StackComplete: c.state}
		out, err := judge(t.Context(), q, Options{})
		require.NoError(t, err)
		assert.Equal(t, c.quiet, slices.Contains(out.Quiet, subject), name)
		assert.Equal(t, !c.quiet, slices.ContainsFunc(out.Unknown, func(u answer.TriageAbsent) bool { return u.Subject == subject }), name)
	}
}

// TestUncalled: a call that is not resolved yet costs its frame, and no subject.
func TestUncalled(t *testing.T) {
	const subject = "holders of memory"
	for name, c := range map[string]struct {
		err   error
		quiet bool
	}{
		"a call":        {fmt.Errorf("ExternalMethodFrame 00007fffb8868978: %w", stackwalk.ErrUncalled), true},
		"another frame": {fmt.Errorf("TailCallFrame 00007fffb8868978: %w", target.ErrUnsupported), false},
	} {
		q := healthy()
		l := &answer.Leaks{Incomplete: true}
		l.Note(fmt.Errorf("stack of thread 0x7: %w", c.err))
		q.Leaks = Got(l, nil)
		out, err := judge(t.Context(), q, Options{})
		require.NoError(t, err)
		assert.Equal(t, c.quiet, slices.Contains(out.Quiet, subject), name)
	}
}
