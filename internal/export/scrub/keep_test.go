package scrub

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// TestMarksAreTheSame checks that the same bytes of a dump stay, whether it is mapped or not, for any number of workers and for any
// order of the questions.
func TestMarksAreTheSame(t *testing.T) {
	ordered := structure
	defer func() { structure = ordered }()
	const dumps = "../../../testdata/dumps/"
	for _, file := range []string{"secrets/net10-secrets/net10-secrets.dmp.zst", "nativeaot/nativeaot8/nativeaot8.dmp.zst", "planted/net10-leak/net10-leak.dmp.zst"} {
		var want *job
		for i, c := range []struct {
			jobs   int
			noMmap bool
		}{{1, false}, {8, false}, {1, true}, {8, true}, {8, true}} {
			structure = slices.Clone(ordered)
			if i > 0 {
				random := rand.New(rand.NewPCG(uint64(i), 0))
				random.Shuffle(len(structure), func(a, b int) { structure[a], structure[b] = structure[b], structure[a] })
			}
			d, err := process.Open(dumps+file, process.Options{Offline: true, NoMmap: c.noMmap, Jobs: c.jobs})
			require.NoError(t, err)
			j, _, err := prepare(t.Context(), d, Options{}, &answer.Scrubbed{})
			require.NoError(t, err)
			if i == 0 {
				want = j
			}
			require.Greater(t, len(j.marks.pages), 20)
			assert.Empty(t, onlyIn(want, j), "%s: only mapped, in order; here %+v", file, c)
			assert.Empty(t, onlyIn(j, want), "%s: only with %+v, in another order", file, c)
			require.NoError(t, d.Close())
		}
	}
}

// onlyIn lists the first bytes that stay in a and not in b.
func onlyIn(a, b *job) (out []string) {
	for at, p := range a.marks.pages {
		q := b.marks.pages[at]
		for i := target.Addr(0); i < keptPage && len(out) < 10; i++ {
			if x := at + i; p.isMarked(x) && !q.isMarked(x) {
				out = append(out, fmt.Sprintf("%v of kind %d", x, a.areas.at(x).kind))
			}
		}
	}
	return out
}
