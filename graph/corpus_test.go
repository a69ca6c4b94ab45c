package graph_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// withGraph calls f with the graph of each case of the corpus that has a heap.
func withGraph(t *testing.T, want testcase.Filter, f func(t *testing.T, d *testdump.Dump, g *graph.Graph) int) {
	testdump.Corpus(t, want, func(t *testing.T, d *testdump.Dump) int {
		h, err := d.Heap()
		if err == nil {
			err = h.Unread()
		}
		if err != nil {
			t.Skip(err)
		}
		g, _ := built(t, d, graph.Options{})
		if g.Objects() == 0 {
			t.Skip("no object can be walked")
		}
		return f(t, d, g)
	})
}

func always(*testcase.Case) bool { return true }

// TestOracleRoots: the oracle's roots are live, and so is everything that live objects refer to.
func TestOracleRoots(t *testing.T) {
	withGraph(t, always, func(t *testing.T, d *testdump.Dump, g *graph.Graph) int {
		reach, err := g.Reach(t.Context())
		require.NoError(t, err)
		good, lines := 0, 0
		for _, section := range []string{"roots", "stackroots"} {
			for _, line := range testcase.OracleIfAny[map[string]any](t, d.Case, section) {
				lines++
				a := testdump.Address(line["object"])
				n, ok := g.Node(a)
				if interior, _ := line["interior"].(bool); interior && !ok {
					n, ok = g.Containing(a)
				}
				if !ok {
					continue // a free block, or what an exception left on the stack
				}
				if !reach.Live(n) {
					t.Errorf("%s: %v does not live", section, line)
				}
				good++
			}
		}
		if lines == 0 {
			t.Skip("the oracle has no roots")
		}
		for n := range graph.Node(g.Objects()) {
			if reach.Live(n) {
				for _, s := range g.Statics(n) {
					require.True(t, reach.Live(s))
				}
			}
		}
		return good
	})
}

var statLine = regexp.MustCompile(`^([0-9a-f]{12,16})\s+([\d,]+)\s+([\d,]+)\s+(.*)$`)

func number(s string) uint64 {
	n, _ := strconv.ParseUint(strings.ReplaceAll(s, ",", ""), 10, 64)
	return n
}

// TestLiveOfSOS: SOS's live objects are live, counted type by type.
func TestLiveOfSOS(t *testing.T) {
	withGraph(t, always, func(t *testing.T, d *testdump.Dump, g *graph.Graph) int {
		text := d.SOS(t, "dumpheap-stat-live.txt")
		reach, err := g.Reach(t.Context())
		require.NoError(t, err)
		live := map[target.Addr]uint64{}
		for n := range graph.Node(g.Objects()) {
			if reach.Live(n) {
				live[g.Type(n).Addr]++
			}
		}
		good, more, fewer := 0, uint64(0), uint64(0)
		for _, line := range strings.Split(text, "\n") {
			m := statLine.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			mt, _ := strconv.ParseUint(m[1], 16, 64)
			n := live[target.Addr(mt)]
			switch want := number(m[2]); {
			case n == want:
				good++
			case n > want:
				more += n - want
				t.Logf("%d more: %s", n-want, line)
			default:
				fewer += want - n
				t.Errorf("%d fewer: %s", want-n, line)
			}
			delete(live, target.Addr(mt))
		}
		for _, n := range live {
			more += n
		}
		objects, size := reach.Count()
		t.Logf("%d types agree; %d objects more, %d fewer; %d live, %d bytes", good, more, fewer, objects, size)
		return good
	})
}

var objsizeLine = regexp.MustCompile(`(?m)^\$ objsize ([0-9a-f]+)$`)
var totalLine = regexp.MustCompile(`(?m)^Total ([\d,]+) objects, ([\d,]+) bytes`)

// TestObjectSizesOfSOS: as much is reachable from an object as in SOS.
func TestObjectSizesOfSOS(t *testing.T) {
	withGraph(t, always, func(t *testing.T, d *testdump.Dump, g *graph.Graph) int {
		v, err := d.View("")
		require.NoError(t, err)
		x, err := v.Holders(t.Context(), graph.Options{})
		require.NoError(t, err)
		good := 0
		for i := range 3 {
			text := d.Case.SOS(t, "objsize-0"+strconv.Itoa(i)+".txt")
			m, total := objsizeLine.FindStringSubmatch(text), totalLine.FindStringSubmatch(text)
			if m == nil || total == nil {
				continue
			}
			a, _ := strconv.ParseUint(m[1], 16, 64)
			out, err := x.KeptBy(t.Context(), target.Addr(a), graph.KeepOptions{OnlyStatistics: true})
			require.NoError(t, err)
			if got := out.Statistics; uint64(got.Count) != number(total[1]) || got.Size != number(total[2]) {
				t.Errorf("%s: %d objects, %d bytes, want %s", m[0], got.Count, got.Size, total[0])
			}
			good++
		}
		return good
	})
}

var (
	gcrootLine = regexp.MustCompile(`(?m)^\$ gcroot (-nostacks )?([0-9a-f]+)$`)
	foundLine  = regexp.MustCompile(`(?m)^Found [\d,]+ unique roots\.$`)
	stepLine   = regexp.MustCompile(`^ {10}-> ([0-9a-f]+) `)
)

// sosPaths returns the paths of an answer of gcroot, each as the addresses of its objects.
func sosPaths(text string) []string {
	var paths []string
	path := ""
	for _, line := range strings.Split(text, "\n") {
		if m := stepLine.FindStringSubmatch(line); m != nil {
			path += " " + m[1]
		} else if path != "" {
			paths, path = append(paths, path), ""
		}
	}
	return paths
}

// TestPathsOfSOS: in SOS's form there is each path that SOS found, object by object. Which path that is depends on all
// earlier roots, whether they lead to the object or not.
func TestPathsOfSOS(t *testing.T) {
	withGraph(t, always, func(t *testing.T, d *testdump.Dump, g *graph.Graph) int {
		files, err := filepath.Glob(filepath.Join(d.Case.Dir, "sos", "gcroot-*.txt"))
		require.NoError(t, err)
		if len(files) == 0 {
			t.Skip("SOS did not run gcroot on this case")
		}
		x, _ := holders(t, d)
		good := 0
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			asked, answers := gcrootLine.FindAllStringSubmatch(string(text), -1), foundLine.Split(string(text), -1)
			for i, m := range asked {
				if i+1 >= len(answers) {
					break // SOS ended before
				}
				a, _ := strconv.ParseUint(m[2], 16, 64)
				out, err := x.RootPaths(t.Context(), target.Addr(a), graph.HoldOptions{NoStacks: m[1] != "", Order: graph.OrderSOS})
				require.NoError(t, err)
				have := map[string]bool{}
				for _, p := range out.Paths {
					have[addresses(p.Objects)] = true
				}
				for _, want := range sosPaths(answers[i]) {
					if !have[want] {
						t.Errorf("%s: no path%s", m[0], want)
					}
					good++
				}
			}
		}
		return good
	})
}

func addresses(steps []answer.PathStep) string {
	out := ""
	for i := range steps {
		out += " " + strconv.FormatUint(uint64(steps[i].Address), 16)
	}
	return out
}
