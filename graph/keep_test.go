package graph_test

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/graph/internal/tuning"
	"github.com/sosgo/sosgo/internal/base/arrayfile"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// describe returns print of g, and its live objects and referrers.
func describe(t testing.TB, g *graph.Graph) string {
	t.Helper()
	h := fnv.New64a()
	live, err := g.Live(t.Context())
	require.NoError(t, err)
	held, err := g.Referrers(t.Context())
	require.NoError(t, err)
	for n := range graph.Node(g.Nodes()) {
		fmt.Fprintln(h, live.Live(n), held.Of(n), g.Statics(n))
		if s := g.Source(n); s != nil {
			fmt.Fprintln(h, s.Kind, s.Parent, s.Handle, s.Slot)
		}
		for r := range g.RootRefs(n) {
			root, ok := g.RootOf(n, r)
			fmt.Fprintln(h, root.Kind, root.Object, root.Address, ok)
		}
	}
	objects, size := live.Count()
	return fmt.Sprintln(h.Sum64(), objects, size) + print(t, g)
}

// keepIn returns options that keep a graph in a folder, and counts how often the heap is read.
func keepIn(dir string, walks *int) graph.Options {
	return graph.Options{Keep: &graph.Keep{Dir: dir, Name: "heap", Dump: []byte("this dump")}, Progress: func(p graph.Progress) {
		if p.Phase == "objects" && p.Done == p.Total {
			*walks++
		}
	}}
}

// keptParts are the files of a Keep with the names of their arrays.
var keptParts = map[string][]string{
	"rows": {"facts", "starts", "offsets", "targets", "sizes", "type of object", "high bits of type", "types", "large objects", "sizes of these",
		"slots of roots", "roots of slots"},
	"live":       {"live"},
	"referrers":  {"offsets", "targets"},
	"dominators": {"dominators", "retained"},
}

// keptPath returns the file of keepIn for a part of a graph.
func keptPath(dir, part string) string { return filepath.Join(dir, "heap."+part+".sosgo") }

// forge rewrites a kept file with other arrays and right checksums.
func forge(ctx context.Context, path string, names []string, change func(name string, data []byte) []byte) error {
	head, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	key := arrayfile.Key(head[32:64]) // package arrayfile documents the format
	f, err := arrayfile.Open(ctx, path, key, arrayfile.Options{NoMmap: true})
	if err != nil {
		return err
	}
	defer f.Close()
	var sections []arrayfile.Section
	for _, name := range names {
		data, err := arrayfile.Values[byte](f, name)
		if err != nil {
			return err
		}
		sections = append(sections, arrayfile.Section{Name: name, Data: change(name, slices.Clone(data))})
	}
	return arrayfile.Write(ctx, path, key, sections)
}

// TestKeep: the second graph is opened without reading the heap, and is the same.
func TestKeep(t *testing.T) {
	for _, name := range []string{"net10-zoo", "net31-zoo", "win-net10-zoo", "net10-zoo-servergc"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := testdump.Open(t, name)
			plain, _ := built(t, d, graph.Options{})
			want := describe(t, plain)
			dir, walks := filepath.Join(t.TempDir(), "made", "here"), 0
			first, _ := built(t, d, keepIn(dir, &walks))
			require.Equal(t, want, describe(t, first))
			require.Empty(t, first.Notes())
			require.Equal(t, 1, walks)
			files, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Len(t, files, len(keptParts))
			for _, change := range []func(*way){
				func(*way) {},
				func(w *way) { w.Jobs = 1 },
				func(w *way) { w.Keep.NoMmap = true },
				func(w *way) { w.Bounds = tuning.Bounds{DeferFrom: 8, Piece: 24, Wide: true} },
			} {
				w := way{Options: keepIn(dir, &walks)}
				change(&w)
				again, _ := builtTuned(t, d, w)
				require.Equal(t, want, describe(t, again))
				require.Empty(t, again.Notes())
				require.Equal(t, 1, walks, "what was kept is not made again")
				again.Close()
				now, _ := again.Memory()
				require.Zero(t, now)
			}
		})
	}
}

// TestKeptFlips: a flipped bit in a file never changes an answer. The file is rejected with a note, unless the bit is
// unused.
func TestKeptFlips(t *testing.T) {
	d := testdump.Open(t, "net31-zoo")
	dir, walks := t.TempDir(), 0
	g, _ := built(t, d, keepIn(dir, &walks))
	want := describe(t, g)
	r := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for part := range keptParts {
		whole, err := os.ReadFile(keptPath(dir, part))
		require.NoError(t, err)
		for i := range 12 {
			at := r.IntN(len(whole))
			if i < 4 {
				at = r.IntN(300) // in the head
			}
			flipped := bytes.Clone(whole)
			flipped[at] ^= 1 << r.IntN(8)
			require.NoError(t, os.WriteFile(keptPath(dir, part), flipped, 0o600))
			again, _ := built(t, d, keepIn(dir, &walks))
			require.Equal(t, want, describe(t, again), "byte %d of %s", at, part)
			if notes := again.Notes(); len(notes) > 0 {
				refused++
				require.Contains(t, notes[0].Error(), part+".sosgo is not used: ")
				require.True(t, testdump.Typed(notes[0]), notes[0])
			}
			again.Close()
			sound, err := os.ReadFile(keptPath(dir, part))
			require.NoError(t, err)
			require.True(t, bytes.Equal(sound, whole) || bytes.Equal(sound, flipped), "it is written anew as it was")
		}
	}
	require.Greater(t, refused, 20)
}

// TestKeptForeign: a file of another dump is rejected and replaced.
func TestKeptForeign(t *testing.T) {
	d, other := testdump.Open(t, "net10-zoo"), testdump.Open(t, "net10-zoo-servergc")
	dir, walks := t.TempDir(), 0
	g, r := built(t, d, keepIn(dir, &walks))
	want := describe(t, g)
	refused := func(t *testing.T, again *graph.Graph) {
		t.Helper()
		require.Equal(t, want, describe(t, again))
		notes := again.Notes()
		require.NotEmpty(t, notes)
		require.ErrorIs(t, notes[0], target.ErrUnsupported)
		require.Contains(t, notes[0].Error(), "belongs to another dump")
		require.Empty(t, again.Notes(), "they are told once")
	}
	t.Run("dump", func(t *testing.T) {
		foreign, _ := built(t, other, keepIn(dir, &walks))
		require.NotEmpty(t, describe(t, foreign))
		require.NotEmpty(t, foreign.Notes())
		again, _ := built(t, d, keepIn(dir, &walks))
		refused(t, again)
	})
	t.Run("state", func(t *testing.T) {
		o := keepIn(dir, &walks)
		o.Keep.Dump = []byte("that dump an hour later")
		again, _ := built(t, d, o)
		refused(t, again)
	})
	t.Run("roots", func(t *testing.T) {
		fewer := *r
		fewer.Edges = r.Edges[:len(r.Edges)-1]
		g, err := graph.Build(t.Context(), g.Heap(), &fewer, keepIn(dir, &walks))
		require.NoError(t, err)
		require.NotEmpty(t, g.Notes())
		g.Close()
		again, _ := built(t, d, keepIn(dir, &walks))
		refused(t, again)
	})
	t.Run("no file of ours", func(t *testing.T) {
		letter := []byte("a letter to a friend")
		for part := range keptParts {
			require.NoError(t, os.WriteFile(keptPath(dir, part), letter, 0o600))
		}
		again, _ := built(t, d, keepIn(dir, &walks))
		require.Equal(t, want, describe(t, again))
		require.NotEmpty(t, again.Notes())
		for part := range keptParts {
			text, err := os.ReadFile(keptPath(dir, part))
			require.NoError(t, err)
			require.Equal(t, letter, text)
		}
	})
}

// TestKeptHeap: a file with right checksums is rejected if its rows are another heap's, or if it is not a graph.
func TestKeptHeap(t *testing.T) {
	d := testdump.Open(t, "net31-zoo")
	dir, walks := t.TempDir(), 0
	g, _ := built(t, d, keepIn(dir, &walks))
	want := describe(t, g)
	for part, names := range keptParts {
		for _, name := range names {
			if part == "live" || part == "rows" && slices.Contains([]string{"slots of roots", "roots of slots", "facts"}, name) {
				continue // any content is valid
			}
			require.NoError(t, forge(t.Context(), keptPath(dir, part), keptParts[part], func(n string, data []byte) []byte {
				if n == name && len(data) > 0 {
					for i := range data {
						data[i] ^= 0x55
					}
				}
				return data
			}))
			again, _ := built(t, d, keepIn(dir, &walks))
			require.Equal(t, want, describe(t, again), "%s of %s", name, part)
			if data, _ := os.ReadFile(keptPath(dir, part)); len(data) > 0 && !strings.HasPrefix(name, "high") && !strings.Contains(name, "large") && !strings.HasSuffix(name, "these") {
				notes := again.Notes()
				require.NotEmpty(t, notes, "%s of %s", name, part)
				require.ErrorIs(t, notes[0], target.ErrCorrupt)
			}
			again.Close()
		}
	}
}

// TestNotKept: if no file can be written, and for an incomplete heap, there is a graph and a note.
func TestNotKept(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	plain, _ := built(t, d, graph.Options{})
	want := describe(t, plain)
	dir, walks := filepath.Join(t.TempDir(), "file"), 0
	require.NoError(t, os.WriteFile(dir, nil, 0o600))
	g, _ := built(t, d, keepIn(dir, &walks))
	require.Equal(t, want, describe(t, g))
	require.NotEmpty(t, g.Notes())

	h, err := d.Heap()
	require.NoError(t, err)
	for seed := range uint64(8) {
		v, err := d.Damaged(t, damaged(d, h, rand.New(rand.NewPCG(seed, 11)))...).View("")
		require.NoError(t, err)
		dir := t.TempDir()
		g, err := v.Graph(t.Context(), keepIn(dir, &walks))
		require.NoError(t, err)
		_, err = g.Dominators(t.Context())
		require.NoError(t, err)
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		if s := g.Stats(); s.Corrupt > 0 || s.BlindObjects > 0 {
			require.Empty(t, files)
			require.NotEmpty(t, g.Notes())
		} else {
			require.Len(t, files, 3)
		}
	}
}

// TestKeepCancel: a cancelled call returns its context's error and leaves no partial file.
func TestKeepCancel(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	dir, walks := t.TempDir(), 0
	g, r := built(t, d, keepIn(dir, &walks))
	describe(t, g)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := graph.Build(ctx, g.Heap(), r, keepIn(dir, &walks))
	require.ErrorIs(t, err, context.Canceled)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, len(keptParts))
}
