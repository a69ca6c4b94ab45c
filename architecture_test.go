package sosgo_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const modulePath = "github.com/sosgo/sosgo"

// library is what commands may ask: all packages of the library, the root's
// too, and package report for the answer that they give.
const library = "answer codeinfo collections crash dac dac/code diagnosis disasm dump flows graph heap hexdump hosting image leaks locks metadata objects report resolve roots shapes sqlpools stackscan stackwalk target tasks threadpool threads unwind waste web heapdiff query SELF"

// mayImport says which packages of this module each package may import, as
// docs/architecture.md explains it: nobody imports what comes later on the
// data's path from file to printed line. "" is the root package.
var mayImport = map[string]string{
	"target":                 "",
	"internal/cursor":        "",
	"internal/inuse":         "",
	"internal/lazy":          "internal/workers",
	"internal/addrmap":       "target",
	"internal/addrindex":     "target",
	"internal/ticks":         "answer target",
	"internal/poolverdict":   "answer",
	"internal/httpnames":     "",
	"internal/utf16text":     "",
	"internal/compilernames": "",
	"internal/wordscan":      "target internal/limits",
	"internal/workers":       "",
	"internal/limits":        "",
	"internal/memmap":        "target",
	"internal/outfile":       "",
	"internal/sandbox":       "target",
	"internal/mmapfile":      "target internal/memmap",
	"internal/offheap":       "target",
	"internal/arrayfile":     "target internal/mmapfile internal/offheap internal/outfile internal/workers",
	"internal/digraph":       "target internal/offheap internal/workers",
	"internal/teb":           "target",
	"minidump":               "target internal/cursor internal/limits internal/memmap internal/teb",
	"elfcore":                "target internal/cursor internal/limits internal/memmap",
	"dump":                   "answer target minidump elfcore internal/limits internal/memmap internal/mmapfile internal/outfile",
	"image":                  "answer target internal/cursor internal/limits internal/memmap internal/mmapfile internal/outfile",
	"metadata":               "target internal/cursor internal/limits",
	"internal/layout":        "target image",
	"internal/bundle":        "target internal/cursor internal/limits",
	"internal/modfiles":      "target image internal/bundle internal/limits internal/mmapfile",
	"internal/nativeformat":  "target internal/limits",
	"internal/symstore":      "target image internal/limits internal/modfiles",
	"codeinfo":               "target internal/cursor internal/limits",
	"unwind":                 "target internal/cursor internal/limits",
	"answer":                 "target",
	"hexdump":                "answer target internal/limits",
	"dac":                    "answer target image metadata internal/layout internal/lazy internal/limits internal/nativeformat",
	"dac/code":               "answer target image metadata codeinfo unwind dac internal/layout internal/lazy internal/limits",
	"heap":                   "answer target dac internal/layout internal/limits internal/workers internal/addrmap internal/offheap",
	"objects":                "answer target dac dac/code heap metadata internal/layout internal/lazy internal/limits internal/ticks internal/utf16text",
	"shapes":                 "answer target dac heap metadata objects internal/lazy internal/limits internal/workers internal/compilernames",
	"collections":            "answer target dac objects shapes internal/limits internal/workers",
	"stackscan":              "target dac heap answer objects internal/limits internal/wordscan",
	"stackwalk":              "answer target codeinfo dac dac/code image metadata objects unwind internal/limits",
	"threads":                "answer target dac dac/code objects stackwalk image unwind stackscan internal/limits internal/teb internal/compilernames",
	"diagnosis":              "answer target dac dump heap image internal/symstore",
	"crash":                  "answer target dac dac/code objects stackwalk threads disasm unwind internal/limits",
	"disasm":                 "answer target codeinfo metadata dac dac/code objects internal/limits",
	"heapdiff":               "answer target dac graph heap internal/limits internal/workers",
	"waste":                  "answer target collections dac heap objects shapes internal/limits",
	"resolve":                "answer target dac dac/code heap threads",
	"roots":                  "answer target codeinfo dac dac/code heap objects stackwalk threads internal/lazy internal/limits",
	"graph":                  "answer target dac dac/code heap objects roots threads internal/arrayfile internal/digraph internal/inuse internal/lazy internal/limits internal/offheap internal/workers",
	"locks":                  "answer target dac dac/code heap objects shapes stackwalk tasks threadpool threads internal/limits internal/workers",
	"threadpool":             "answer target dac dac/code objects shapes stackwalk tasks threads internal/limits internal/compilernames internal/poolverdict internal/ticks",
	"tasks":                  "answer target dac dac/code heap metadata objects shapes internal/lazy internal/limits internal/addrindex internal/compilernames",
	"query":                  "answer target collections dac graph heap metadata objects shapes threads internal/lazy internal/limits internal/workers internal/ticks",
	"leaks":                  "answer target collections dac dac/code graph heap objects shapes internal/workers",
	"flows":                  "answer target collections heap metadata objects shapes stackwalk tasks threads internal/limits",
	"hosting":                "answer target collections heap objects shapes internal/limits",
	"web":                    "answer target collections flows heap metadata objects shapes stackwalk tasks threads internal/httpnames internal/limits",
	"sqlpools":               "answer target collections flows heap objects roots shapes tasks threads internal/limits",
	"":                       "answer target codeinfo collections crash dac dac/code diagnosis dump elfcore graph heap hosting image locks metadata minidump objects query resolve roots shapes sqlpools stackscan stackwalk tasks threadpool threads unwind web internal/inuse internal/lazy internal/limits internal/modfiles internal/symstore",
	"report":                 "answer target",
	"report/stackexport":     "answer report",

	// Encoders of whole heaps and processes.
	"export":              "answer target dac graph heap objects internal/workers",
	"export/gcdump":       "answer target export graph heap internal/ticks",
	"export/heapsnapshot": "answer target export graph heap objects report",
	"export/summary":      "answer",
	"export/tables":       "answer target export export/summary graph heap query report",
	"export/heappprof":    "answer export graph heap internal/limits report",

	"internal/cli": "target report internal/outfile internal/workers",

	// Renderers get answers and can read nothing.
	"internal/text":             "answer report target",
	"internal/text/objecttext":  "answer report target internal/text",
	"internal/text/memorytext":  "answer report target internal/text",
	"internal/text/threadtext":  "answer report target internal/text report/stackexport",
	"internal/text/tasktext":    "answer report target internal/text",
	"internal/text/querytext":   "answer report target internal/text",
	"internal/text/apptext":     "answer report target internal/text",
	"internal/text/typetext":    "answer report target internal/text",
	"internal/text/processtext": "answer report target internal/text",
	"internal/text/exporttext":  "answer report target internal/text",

	"internal/commands/ask":        library + " internal/cli internal/limits",
	"internal/commands/objectcmd":  library + " internal/cli internal/commands/ask internal/text/objecttext internal/text/querytext",
	"internal/commands/memorycmd":  library + " internal/cli internal/commands/ask internal/text/memorytext",
	"internal/commands/threadcmd":  library + " internal/cli internal/commands/ask internal/text/threadtext",
	"internal/commands/taskcmd":    library + " internal/cli internal/commands/ask internal/text/tasktext",
	"internal/commands/querycmd":   library + " internal/cli internal/commands/ask internal/text/querytext",
	"internal/commands/appcmd":     library + " internal/cli internal/commands/ask internal/text/apptext",
	"internal/commands/typecmd":    library + " internal/cli internal/commands/ask internal/text/typetext",
	"internal/commands/processcmd": library + " internal/cli internal/commands/ask internal/limits internal/text/processtext",
	"internal/commands/exportcmd":  library + " export export/gcdump export/heapsnapshot export/heappprof export/summary export/tables internal/cli internal/commands/ask internal/text/exporttext internal/text/threadtext",
	"internal/commands": library + " elfcore minidump report/stackexport internal/limits internal/sandbox internal/cli internal/text internal/commands/ask " +
		"internal/commands/objectcmd internal/commands/memorycmd internal/commands/threadcmd internal/commands/taskcmd internal/commands/appcmd internal/commands/querycmd internal/commands/typecmd internal/commands/processcmd internal/commands/exportcmd internal/commands/webcmd",

	// The page asks the commands, and reads nothing itself.
	"internal/webui":           "report",
	"internal/commands/webcmd": "answer report internal/cli internal/text/processtext internal/webui",
	"cmd/sosgo":                "internal/cli internal/commands",
}

// thirdParty says who may import what is not ours.
var thirdParty = map[string]string{
	"github.com/spf13/cobra":            "internal/cli",
	"golang.org/x/term":                 "internal/cli",
	"golang.org/x/sys":                  "internal/mmapfile internal/offheap dump internal/cli internal/sandbox",
	"github.com/klauspost/compress":     "dump internal/cli",
	"github.com/olekukonko/tablewriter": "report",
	"github.com/go-delve/delve":         "unwind",
	"golang.org/x/arch":                 "disasm",
	"github.com/parquet-go/parquet-go":  "export/tables",
	"github.com/google/pprof":           "report/stackexport export/heappprof",
}

// testPackages are imported by tests alone.
var testPackages = []string{"internal/synth", "internal/testcase", "internal/testdump", "internal/testheap"}

// TestImportDirections reads the imports of all packages. Tests and tools may
// import what they like.
func TestImportDirections(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if name := d.Name(); err == nil && (name == "testdata" || name == "tools" || strings.HasPrefix(name, ".") && name != ".") {
				return fs.SkipDir
			}
			return err
		}
		dir := path.Clean(filepath.ToSlash(filepath.Dir(p)))
		if !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") || slices.Contains(testPackages, dir) {
			return nil
		}
		if dir == "." {
			dir = ""
		}
		seen[dir] = true
		checkImports(t, p, dir)
		return nil
	})
	require.NoError(t, err)
	for dir := range mayImport {
		require.True(t, seen[dir], "there is no package %q", dir)
	}
}

func checkImports(t *testing.T, file, dir string) {
	src, err := os.ReadFile(file)
	require.NoError(t, err)
	f, err := parser.ParseFile(token.NewFileSet(), file, src, parser.ImportsOnly)
	require.NoError(t, err)
	allowed, known := mayImport[dir]
	require.True(t, known, "%s: package %q is not in the table", file, dir)
	for _, spec := range f.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		if own, ok := strings.CutPrefix(imported, modulePath); ok {
			own = strings.TrimPrefix(own, "/")
			if own == "" {
				own = "SELF"
			}
			if !slices.Contains(strings.Fields(allowed), own) {
				t.Errorf("%s imports %s", file, imported)
			}
			continue
		}
		if !strings.Contains(strings.Split(imported, "/")[0], ".") {
			continue // the standard library
		}
		if !mayUse(dir, imported) {
			t.Errorf("%s imports %s", file, imported)
		}
	}
}

func mayUse(dir, imported string) bool {
	if dir == "" {
		dir = "SELF"
	}
	for module, users := range thirdParty {
		if imported == module || strings.HasPrefix(imported, module+"/") {
			return slices.Contains(strings.Fields(users), dir)
		}
	}
	return false
}

// processorNames are the names by which code would mean one processor.
var processorNames = regexp.MustCompile(`\b(target\.)?(Arch(AMD64|ARM64)|ARM64[A-Z]\w*)\b|\btarget\.(AMD64|ARM64|R[A-D]X|R[SBD][PI]|R1?[0-9])\b`)

// processorRooms are the packages, and the file, that know processors apart: the table of registers and conventions,
// what formats and compilers make of them, and the containers, which name them.
var processorRooms = []string{"target", "unwind", "disasm", "codeinfo", "dac/code/precode.go", "elfcore", "minidump", "image", "internal/synth"}

// TestProcessorsHaveRooms: nobody else asks which processor it is.
func TestProcessorsHaveRooms(t *testing.T) {
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		path = filepath.ToSlash(path)
		for _, room := range processorRooms {
			if path == room || strings.HasPrefix(path, room+"/") {
				return nil
			}
		}
		b, err := os.ReadFile(path)
		if err == nil && processorNames.Match(b) {
			t.Errorf("%s names a processor: %s", path, processorNames.Find(b))
		}
		return err
	}))
}
