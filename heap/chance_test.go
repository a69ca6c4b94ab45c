package heap

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// damage is up to four pieces of a heap that are overwritten with zeros, a pattern, a pointer to an object, or bytes of
// another place.
func damage(c *testcase.Case, mem target.Memory, h *Heap, r *rand.Rand) []testcase.Damage {
	objects := c.Manifest.Objects()
	var list []testcase.Damage
	for range 1 + r.IntN(4) {
		s := h.Segments()[r.IntN(len(h.Segments()))]
		if s.Objects.Size() < 64 {
			continue
		}
		at := s.Objects.Start + target.Addr(r.Uint64N(s.Objects.Size()-16))
		stored := mem.Span(at)
		n := min(1<<r.IntN(14), len(stored))
		b := make([]byte, n)
		switch r.IntN(4) {
		case 0:
		case 1:
			for i := range b {
				b[i] = 0x41
			}
		case 2:
			b = b[:0]
			at, n = at&^7, n&^7
			for len(b) < n {
				b = append(b, testcase.Words(0, uint64(objects[r.IntN(len(objects))].Addr)).Bytes...)
			}
		case 3:
			copy(b, mem.Span(s.Objects.Start+target.Addr(r.Uint64N(s.Objects.Size()-16))))
		}
		if len(b) > 0 && len(b) <= len(mem.Span(at)) {
			list = append(list, testcase.Damage{At: at, Bytes: b})
		}
	}
	return list
}

// openDamaged opens a dump, of which it overwrites some of its memory, and its heap.
func openDamaged(t *testing.T, raw []byte, list ...testcase.Damage) (*dump.File, *Heap) {
	f, err := dump.OpenReaderAt(target.BytesSource(raw), int64(len(raw)), dump.Options{})
	require.NoError(t, err)
	testcase.Overwrite(t, f, list...)
	found := dac.Find(f, f, nil)
	require.Len(t, found, 1)
	rt, err := found[0].Open()
	require.NoError(t, err)
	h, err := Open(rt, f)
	require.NoError(t, err)
	return f, h
}

// foundBy returns the results of scans of a heap with a number of workers.
func foundBy(t *testing.T, h *Heap, jobs int) string {
	var b strings.Builder
	o := ScanOptions{Jobs: jobs, runSize: 4 << 10} // cuts in the small heaps of the debuggees
	s, err := h.Stats(t.Context(), nil, o)
	fmt.Fprintln(&b, s.Count, s.Size, s.Corrupt, err)
	for _, ts := range s.Types {
		fmt.Fprintln(&b, ts.Type.Addr, ts.Count, ts.Size)
	}
	for _, c := range s.Corruptions {
		fmt.Fprintln(&b, c)
	}
	strs, _, err := h.Strings(t.Context(), nil, o)
	fmt.Fprintln(&b, strs, err)
	v, err := h.Verify(t.Context(), nil, o)
	fmt.Fprintln(&b, v.Faulty, v.Objects, v.Missing, v.MissingErr, err)
	for i := range v.Faults {
		fmt.Fprintln(&b, &v.Faults[i])
	}
	return b.String()
}

// TestDamagedHeapsDoNotDependOnChance: however a heap is damaged, each number of workers finds the same in it.
func TestDamagedHeapsDoNotDependOnChance(t *testing.T) {
	for _, name := range []string{"net10-zoo", "win-net10-zoo", "net10-zoo-noregions", "net31-zoo", "net10-zoo-servergc"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testcase.Canned(t, name)
			raw, err := c.Raw()
			require.NoError(t, err)
			mem, sound := openDamaged(t, raw)
			damaged := slices.Clone(raw)
			for seed := range uint64(8) {
				copy(damaged, raw)
				list := damage(c, mem, sound, rand.New(rand.NewPCG(seed, 7)))
				var one string
				for _, jobs := range []int{1, 2, 8} {
					_, h := openDamaged(t, damaged, list...) // anew: it keeps the types that it has met
					got := foundBy(t, h, jobs)
					if one == "" {
						one = got
					}
					require.Equal(t, one, got, "seed %d, %d workers", seed, jobs)
				}
			}
		})
	}
}
