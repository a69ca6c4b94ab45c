package acceptance_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/signature"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestSignaturesHoldAcrossDumps compares the signatures of the largest holders in dumps of one program, which is of several runtimes, systems
// and modes of the collector: what one dump has must be what the others have.
func TestSignaturesHoldAcrossDumps(t *testing.T) {
	names := map[string]map[string]bool{} // dumps by signature
	words := map[string]string{}
	var dumps []string
	testdump.Corpus(t, testcase.Named("*-heap-withheap"), func(t *testing.T, d *testdump.Dump) int {
		v, err := d.View("")
		require.NoError(t, err)
		l, err := v.Leaks(t.Context())
		require.NoError(t, err)
		dumps = append(dumps, d.Case.Name)
		for i := range l.Suspects {
			s := &l.Suspects[i]
			if s.Share < 2 {
				continue
			}
			sig, kept := signature.Suspect(s)
			if names[sig] == nil {
				names[sig] = map[string]bool{}
			}
			names[sig][d.Case.Name] = true
			owner := s.Owner
			if owner == nil {
				owner = s.Point
			}
			words[sig] = s.Kind + " " + kept
			if owner != nil {
				words[sig] += " " + owner.Type.String()
			}
			if s.Members != nil {
				words[sig] += " " + s.Members.Type.String()
			}
		}
		return len(l.Suspects)
	})
	for sig, in := range names {
		want := len(dumps)
		if !in["net31-heap-withheap"] { // its list owns all of its arrays; elsewhere one of them has another holder, too
			want--
			assert.Contains(t, words[sig], "Debuggee.Heap.Scenario.s_keep")
		}
		assert.Len(t, in, want, "%s %s: %v", sig, words[sig], in)
	}
}
