package house_test

import (
	"go/types"
	"io/fs"
	"iter"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// exported lists the exported functions, types and methods of the packages, such as "dac.Runtime.Threads". A type
// also has the methods of the types that it embeds.
func exported(t *testing.T, dirs ...string) map[string]bool {
	out := map[string]bool{}
	for _, dir := range dirs {
		pkg, err := sources(t).Import(path.Join(modulePath, dir))
		require.NoError(t, err)
		for _, name := range pkg.Scope().Names() {
			object := pkg.Scope().Lookup(name)
			out[pkg.Name()+"."+name] = object.Exported()
			if _, ok := object.(*types.TypeName); !ok {
				continue
			}
			for method := range types.NewMethodSet(types.NewPointer(object.Type())).Methods() {
				out[pkg.Name()+"."+name+"."+method.Obj().Name()] = object.Exported() && method.Obj().Exported()
			}
		}
	}
	return out
}

// TestInterfaceTable checks docs/isosdac.md: each method has an answer, and the names in the answers exist.
func TestInterfaceTable(t *testing.T) {
	names := exported(t, ".", "process", "dac", "heap", "objects", "stackscan", "stackwalk", "target")
	text, err := os.ReadFile(filepath.Join("docs", "isosdac.md"))
	require.NoError(t, err)
	code := regexp.MustCompile("`([a-z]+\\.[A-Z][A-Za-z.]*)`")
	rows := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| method") || strings.HasPrefix(line, "| query") {
			continue
		}
		rows++
		cells := strings.Split(line, "|")
		require.Len(t, cells, 4, line)
		require.NotEmpty(t, strings.TrimSpace(cells[2]), line)
		for _, m := range code.FindAllStringSubmatch(cells[2], -1) {
			require.True(t, names[m[1]], "%s: there is no %s", strings.TrimSpace(cells[1]), m[1])
		}
	}
	require.Greater(t, rows, 150)
}

// answers calls the functions that docs/isosdac.md names for lists. Each returns the number of elements.
var answers = map[string]func(rt *dac.Runtime, h *heap.Heap) (int, error){
	"GetThreadStoreData": func(rt *dac.Runtime, _ *heap.Heap) (int, error) {
		list, err := rt.Threads()
		return len(list), err
	},
	"GetModuleData": func(rt *dac.Runtime, _ *heap.Heap) (int, error) {
		list, err := rt.Modules()
		return len(list), err
	},
	"GetCodeHeapList": func(rt *dac.Runtime, _ *heap.Heap) (int, error) {
		list, err := rt.CodeHeaps()
		return len(list), err
	},
	"TraverseLoaderHeap": func(rt *dac.Runtime, _ *heap.Heap) (int, error) {
		global, err := rt.GlobalLoaderAllocator()
		if err != nil {
			return 0, err
		}
		l, err := rt.LoaderAllocator(global)
		return len(l.Heaps), err
	},
	"GetSyncBlockData": func(rt *dac.Runtime, _ *heap.Heap) (int, error) { return count(rt.SyncBlocks()) },
	"GetHandleEnum":    func(_ *dac.Runtime, h *heap.Heap) (int, error) { return count(h.Handles()) },
	"8 GetFinalizationFillPointers": func(_ *dac.Runtime, h *heap.Heap) (int, error) {
		q, err := h.FinalizerQueue(0)
		return int(q.Finalizable().Size() + q.FReachable().Size()), err
	},
	"8 GetGenerationTable": func(_ *dac.Runtime, h *heap.Heap) (int, error) { return len(h.SubHeaps()), nil },
	"12 GetGlobalAllocationContext": func(rt *dac.Runtime, h *heap.Heap) (int, error) {
		_, err := rt.GlobalAllocContext()
		return len(h.AllocContexts()), err
	},
	"5 GetTieredVersions": func(rt *dac.Runtime, _ *heap.Heap) (int, error) {
		for info, err := range dac.CodeOf(rt).JITCode() {
			if err == nil && info.Method != nil {
				list, err := dac.CodeOf(rt).CodeVersions(info.Method)
				return len(list), err
			}
		}
		return 0, nil
	},
}

// count returns the number of values before the first error.
func count[T any](values iter.Seq2[T, error]) (n int, err error) {
	for _, err := range values {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// TestInterfaceAnswers checks that the lists that docs/isosdac.md names have elements for a real dump.
func TestInterfaceAnswers(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("docs", "isosdac.md"))
	require.NoError(t, err)
	d := testdump.Open(t, "net10-zoo")
	rt, err := d.Runtime()
	require.NoError(t, err)
	h, err := d.Heap()
	require.NoError(t, err)
	for row, ask := range answers {
		require.Contains(t, string(text), "\n| "+row+" | ")
		n, err := ask(rt, h)
		require.NoError(t, err, row)
		require.Positive(t, n, row)
	}
}

// TestHowDoI checks the index in the package documentation: importers can use the functions and packages that it names.
func TestHowDoI(t *testing.T) {
	folders := publicFolders(t)
	names := exported(t, folders...)
	text, err := os.ReadFile("sosgo.go")
	require.NoError(t, err)
	doc, _, found := strings.Cut(string(text), "\npackage sosgo\n")
	require.True(t, found)
	links := regexp.MustCompile(`\[([A-Za-z]+\.[A-Za-z.]+)\]`).FindAllStringSubmatch(doc, -1)
	require.Greater(t, len(links), 20)
	for _, m := range links {
		require.True(t, names[m[1]] || names["sosgo."+m[1]], "there is no %s", m[1])
	}
	plain := regexp.MustCompile(`\n// |\([^)]*\)`).ReplaceAllString(doc, " ")
	_, list, found := strings.Cut(plain, "can be used by themselves:")
	require.True(t, found)
	list, _, _ = strings.Cut(list, ".")
	packages := strings.Fields(strings.NewReplacer(",", " ", " and ", " ").Replace(list))
	require.Greater(t, len(packages), 10)
	for _, name := range packages {
		public := slices.ContainsFunc(folders, func(folder string) bool { return folder == name || path.Base(folder) == name })
		assert.True(t, public, "importers cannot use package %s", name)
	}
}

// TestReadmeCode checks that README.md shows the code of Example_library, which compiles and runs.
func TestReadmeCode(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	example, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	pieces := regexp.MustCompile("(?s)\n```go\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	require.Len(t, pieces, 2)
	indented := strings.ReplaceAll(string(example), "\n\t", "\n")
	for _, m := range pieces {
		require.Contains(t, indented, strings.ReplaceAll(m[1], `"core.1234"`, "zoo"))
	}
}

// TestReadmeSpeed checks that README.md gives the range of times in docs/performance.md, rounded to 5 ms.
func TestReadmeSpeed(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	said := regexp.MustCompile(`takes (\d+) to (\d+) ms of processor time from a cold start`).FindSubmatch(readme)
	require.NotNil(t, said)
	measured, err := os.ReadFile("docs/performance.md")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(measured), "| command | cold, ms |")
	require.True(t, ok)
	table, _, _ = strings.Cut(table, "\n\n")
	least, most := math.MaxInt, 0
	for _, row := range regexp.MustCompile(`\| (\d+) \|`).FindAllStringSubmatch(table, -1) {
		n, err := strconv.Atoi(row[1])
		require.NoError(t, err)
		least, most = min(least, n), max(most, n)
	}
	rounded := func(n int) string { return strconv.Itoa((n + 2) / 5 * 5) }
	require.Equal(t, []string{rounded(least), rounded(most)}, []string{string(said[1]), string(said[2])})
}

// TestReadmeDependencies checks that README.md gives a reason for every module that a go.mod requires directly, and for
// no others.
func TestReadmeDependencies(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(readme), "\n## Dependencies\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([a-z]+\.[a-z]+/\S+) \|`).FindAllStringSubmatch(section, -1) {
		listed[m[1]] = true
	}
	required := map[string]bool{}
	files, err := filepath.Glob(".ci/*/go.mod")
	require.NoError(t, err)
	require.NoError(t, filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || strings.HasPrefix(file, ".") && file != "."):
			return fs.SkipDir
		case d.Name() == "go.mod":
			files = append(files, file)
		}
		return nil
	}))
	require.Contains(t, files, "go.mod")
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`(?m)^(?:require )?\s*([a-z]+\.[a-z]+/\S+) v\S+$`).FindAllStringSubmatch(string(text), -1) {
			if !strings.HasPrefix(m[1], modulePath) {
				required[m[1]] = true
			}
		}
	}
	require.Equal(t, required, listed)
}

// TestArchitectureNames checks that every folder and file that docs/architecture.md names exists.
func TestArchitectureNames(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("docs", "architecture.md"))
	require.NoError(t, err)
	names := regexp.MustCompile("`((?:[a-z0-9]+/)+[a-zA-Z0-9*.-]+|[a-z]+\\.go)`").FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(names), 60)
	for _, m := range names {
		found, err := filepath.Glob(filepath.FromSlash(m[1]))
		require.NoError(t, err)
		require.NotEmpty(t, found, "there is no %s", m[1])
	}
}
