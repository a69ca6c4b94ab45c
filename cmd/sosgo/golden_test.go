package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testcli"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// goldenLines lists the command lines with pinned output. Goldens show the form of the output; other tests compare
// its values with manifests, SOS and the data-access library. A name in braces stands for an address: a fact of the
// manifest, or a name of namesOf.
var goldenLines = map[string][]string{
	// Collections.
	"items":                    {"items {root.Collections.ByName}", "items -limit 3 -offset 2 {root.Collections.ById}", "items {root.Collections.ByPoint}", "items {root.Collections.HashSet}", "items -find h7 {root.Collections.Hashtable}", "items -keys {root.Collections.Sorted}", "items {root.Collections.Builder}", "items {root.Arrays.Points}", "items {root.Collections.Bag}", "items {root.Dog}", "items Debuggee.Zoo.Statics.Array", "items Debuggee.Zoo.Statics.Int"},
	"dumpdictionary":           {"dumpdictionary -values {root.Collections.ByName}", "dumpdictionary {root.Collections.List}"},
	"dumpconcurrentdictionary": {"dumpconcurrentdictionary {root.Collections.Concurrent}", "dcd {root.Collections.List}"},
	"dumpconcurrentqueue":      {"dumpconcurrentqueue {root.Collections.Queue}", "dcq 10"},

	"analyzeoom":       {"analyzeoom"},
	"dumplog":          {"dumplog"},
	"setsymbolserver":  {"setsymbolserver"},
	"dumparray":        {"dumparray {root.Arrays.Ints}", "dumparray -details {root.Arrays.Points}", "dumparray {root.Arrays.Cube}", "dumparray -start 1 -length 2 {root.Arrays.Strings}", "dumparray {root.Dog}"},
	"dumpdelegate":     {"dumpdelegate {root.Delegates.Multicast}", "dumpdelegate {root.Delegates.Closure}"},
	"dumpexceptions":   {"dumpexceptions", "dumpexceptions -live", "dumpexceptions -dead"},
	"dumpgen":          {"dumpgen 0", "dumpgen loh"},
	"dumpheap":         {"dumpheap -stat", "dumpheap -stat -type Debuggee", "dumpheap -type Debuggee.Zoo.D", "dumpheap -short -type Dog", "dumpheap -strings -min 200", "dumpheap -thinlock", "dumpheap -stat -live -type Debuggee", "dumpheap -stat -dead -type System.T", "dumpheap -where 'this is Debuggee.Zoo.Dog && Coat == \"Blue\"' -stat", "dumpheap -type Zoo.Dog -where 'size > 1' -select 'address, name'"},
	"dumpobj":          {"dumpobj {root.Dog}", "dumpobj {root.Primitives}", "dumpobj -refs {root}", "dumpobj {root.Primitives.String}", "dumpobj {root.Arrays.Bytes}", "dumpobj {root.Type}", "dumpobj {root.Locked}", "dumpobj 10", "dumpobj -show 'name, Friend.name, size' {root.Dog}"},
	"dumpobjgcrefs":    {"dumpobjgcrefs {root}"},
	"dumpstring":       {"dumpstring {root.Primitives.String}"},
	"dumpvc":           {"dumpvc {type Debuggee.Zoo.Point} {root.Primitives.BoxedStruct}"},
	"eeheap":           {"eeheap", "eeheap -gc", "eeheap -loader"},
	"finalizequeue":    {"finalizequeue", "finalizequeue -stat", "finalizequeue -allReady"},
	"gchandles":        {"gchandles", "gchandles -stat", "gchandles -type Pinned", "gchandles -holds -path -top 5"},
	"gcheapstat":       {"gcheapstat", "gcheapstat -iu"},
	"gcwhere":          {"gcwhere {root.Dog}", "gcwhere 10"},
	"gcroot":           {"gcroot -retained {root.Collections.ByName}", "gcroot {root.Dog}", "gcroot -all -nostacks {root.Primitives.String}", "gcroot --paths 3 {root.Collections.ByName}", "gcroot -gcgen 0 {root.Dog}", "gcroot {root.Primitives.FunctionPointer}", "gcroot 10"},
	"pathto":           {"pathto {root} {root.Collections.ByName}", "pathto {root.Dog} {root}"},
	"leaks":            {"leaks", "leaks -share 1% -min 0.5% -size 100 -count 5 -top 4"},
	"retained":         {"retained -top 8", "retained -namespace -top 5", "retained -assembly", "retained -gen", "retained -garbage -top 5", "retained {root} {root.Dog}", "retained -type -gen"},
	"dominators":       {"dominators -min 5% -depth 6", "dominators {root}", "dominators -top 2 {root.Collections.ByName}"},
	"referrers":        {"referrers {root.Dog}", "referrers -stat {root.Dog}", "referrers 10"},
	"referents":        {"referents -limit 5 {root}", "referents -stat {root}"},
	"ephrefs":          {"ephrefs"},
	"ephtoloh":         {"ephtoloh"},
	"gc":               {"gc"},
	"heapmap":          {"heapmap", "heapmap -blocks -live -cell 16k"},
	"memory":           {"memory", "memory -malloc -top 5"},
	"waste":            {"waste -top 3", "waste -kind strings -min 100"},
	"diff":             {"diff -top 5 testdata/dumps/net8-zoo/net8-zoo.dmp.zst", "diff -paths -growing -top 2 testdata/dumps/net8-zoo/net8-zoo.dmp.zst testdata/dumps/net9-zoo/net9-zoo.dmp.zst"},
	"listnearobj":      {"listnearobj {root.Dog}"},
	"objsize":          {"objsize -stat -retained {root.Collections.ByName}", "objsize {root.Arrays}", "objsize -stat -mt {type Debuggee.Zoo.Dog}", "objsize -strings {root.Collections.ByName}", "objsize -short {root.Dog}", "objsize 10"},
	"sizestats":        {"sizestats"},
	"verifyheap":       {"verifyheap"},
	"verifyobj":        {"verifyobj {root.Dog}", "verifyobj 10"},
	"types":            {"types *Zoo*"},
	"statics":          {"statics Debuggee.Zoo.Statics"},
	"clrstack":         {"clrstack", "clrstack -a", "clrstack -all", "clrstack -f -r", "clrstack -gc", "clrstack -i", "clrstack -native -c 5"},
	"clrthreads":       {"clrthreads", "clrthreads -special", "clrthreads -stacks", "clrthreads -times"},
	"crashinfo":        {"crashinfo"},
	"triage":           {"triage", "triage -noheap"},
	"clrma":            {"clrma"},
	"dumpstack":        {"dumpstack", "dumpstack -EE"},
	"dumpstackobjects": {"dumpstackobjects", "dumpstackobjects -all"},
	"eestack":          {"eestack -short -EE"},
	"parallelstacks":   {"parallelstacks"},
	"printexception":   {"printexception {root.Exception}", "printexception -nested -lines"},
	"registers":        {"registers"},
	"stacks":           {"stacks", "stacks --export speedscope"},
	"syncblk":          {"syncblk", "syncblk -all"},
	"threads":          {"threads", "threads -v", "threads -times"},
	"threadstate":      {"threadstate 1021220"},
	"dumpasync":        {"dumpasync", "dumpasync -tasks -completed -fields", "dumpasync -stats -tasks -completed", "dumpasync -coalesce -tasks -completed"},
	"asyncstacks":      {"asyncstacks", "asyncstacks -tasks -completed"},
	"tasks":            {"tasks", "tasks -faulted"},
	"taskstate":        {"taskstate -v 33555456", "taskstate -value 0x200400", "taskstate {root.Dog}", "taskstate 10"},
	"locks":            {"locks", "locks -all"},
	"logopen":          {"logopen"},
	"logclose":         {"logclose"},
	"waits":            {"waits"},
	"threadpool":       {"threadpool", "threadpool -ti -stat"},
	"threadpoolqueue":  {"threadpoolqueue"},
	"timerinfo":        {"timerinfo"},
	"requests":         {"requests", "requests -url /x -headers"},
	"findhttpcontext":  {"findhttpcontext /orders"},
	"dumprequests":     {"dumprequests"},
	"dumphttp":         {"dumphttp", "dumphttp --stats"},
	"sqlpools":         {"sqlpools"},
	"host":             {"host"},
	"initializers":     {"initializers"},
	"objectpools":      {"objectpools"},
	"queues":           {"queues"},
	"redis":            {"redis"},
	"eventsources":     {"eventsources"},
	"comwrappers":      {"comwrappers"},
	"tiers":            {"tiers"},
	"sessions":         {"sessions"},
	"signalr":          {"signalr"},
	"services":         {"services"},
	"caches":           {"caches"},
	"flows":            {"flows", "flows 1"},
	"websockets":       {"websockets"},
	"grpc":             {"grpc"},
	"dbcontexts":       {"dbcontexts"},
	"httpclients":      {"httpclients"},
	"watsonbuckets":    {"watsonbuckets"},
	"eval": {"eval {root.Dog}.Friend.name", "eval Debuggee.Zoo.Statics.Int + 1, Debuggee.Zoo.Statics.Struct, Debuggee.Zoo.Statics.Null?.x ?? 7", "eval size({root.Dog}), type({root.Dog}), gen({root.Dog}), {root.Dog} is Debuggee.Zoo.Animal",
		"eval refs({root.Dog})", "eval {root.Dog}.Frend", "eval 1 +", "eval Debuggee.Zoo.NeverTouched.Value"},
	"query": {"query from objects of Debuggee.Zoo.Animal | where Legs == 4 | select address, name, Coat | top 3", "query from objects | group by type | select count(), sum(size) | order by 2 desc, type | top 4",
		"query SELECT Id, Next.Id AS next FROM Debuggee.Zoo.Node WHERE Id >= 2 ORDER BY Id DESC LIMIT 2", "query from threads | select osid, managed, name",
		"query from objects of Debuggee.Zoo.Dog | where Nam == 1", "query from frames | group by thread | select count()", "query from objects | wher size > 1"},
	"clru":             {"clru {md}", "clru -gcinfo -ehinfo {ip}"},
	"contexts":         {"contexts"},
	"dumpalc":          {"dumpalc {root.Dog}"},
	"dumpassembly":     {"dumpassembly {assembly}"},
	"dumpclass":        {"dumpclass {type Debuggee.Zoo.Dog}"},
	"dumpdomain":       {"dumpdomain"},
	"dumpil":           {"dumpil {md}"},
	"dumpmd":           {"dumpmd {md}"},
	"dumpmodule":       {"dumpmodule {module}", "dumpmodule -mt {module}"},
	"dumpmt":           {"dumpmt {type Debuggee.Zoo.Dog}", "dumpmt -md -all {type Debuggee.Zoo.Dog}"},
	"dumpruntimetypes": {"dumpruntimetypes"},
	"dumpsig":          {"dumpsig {ip} {module}"},
	"dumpsigelem":      {"dumpsigelem {ip} {module}"},
	"ehinfo":           {"ehinfo {md}"},
	"findappdomain":    {"findappdomain {root.Dog}"},
	"gcinfo":           {"gcinfo {md}"},
	"ip2md":            {"ip2md {ip}"},
	"ln":               {"ln {ip}"},
	"name2ee":          {"name2ee *!Debuggee.Zoo.Dog", "name2ee Debuggee.dll!Debuggee.Program.Main"},
	"token2ee":         {"token2ee Debuggee.dll 02000002"},
	"clrmodules":       {"clrmodules", "clrmodules -v"},
	"assemblies":       {"assemblies"},
	"d":                {"d {root.Dog}"},
	"da":               {"da {root.Dog}"},
	"db":               {"db {root.Dog}"},
	"dc":               {"dc {root.Primitives.String}"},
	"dd":               {"dd {root.Dog}"},
	"dp":               {"dp {root.Dog}"},
	"dps":              {"dps {root.Dog} L4"},
	"dq":               {"dq {root.Dog}", "dq 0"},
	"du":               {"du {root.Primitives.String}"},
	"dw":               {"dw {root.Dog}"},
	"doctor":           {"doctor"},
	"process":          {"process"},
	"eeversion":        {"eeversion"},
	"modules":          {"modules", "modules -v"},
	"runtimes":         {"runtimes"},
	"help":             {"help", "help dumpheap"},
	"version":          {},
	"exit":             {"exit"},
	"completion":       {"completion bash"},
	"docs":             {"docs commands"},
	"web":              {}, // runs until stopped: tested by webui and ui/browsertest
	"mcp":              {}, // needs a client: tested by mcpserver and mcpcmd
	"fleet":            {}, // writes files: tested by TestFleet
	"signature":        {}, // needs a fleet: tested by TestFleet and internal/export/fleet
	"dap":              {}, // needs an editor: tested by dap
	"ps":               {}, // asks processes: tested by TestLive and internal/live
	"collect":          {}, // likewise
	"report":           {}, // writes a file: tested by webui
	"pack":             {}, // writes a file: tested by dump (packing)
	"scrub":            {}, // writes a file: tested by exportcmd
	"shrink":           {}, // likewise
	"export":           {}, // writes files: tested by TestExport of internal/front/cli/commands
	"summarize":        {"summarize", "summarize -noheap"},
	"savemodule":       {}, // writes a file: tested by TestSaveImage of the root
	"traverseheap":     {}, // writes a file: tested by TestTraverseHeapForms of internal/front/cli/commands

	"notreachableinrange": {"notreachableinrange {root.Arrays.Jagged} {root.Arrays.NonZeroBased}"},
}

// goldenForms lists the options that select each form of an answer.
var goldenForms = map[string][]string{"sosgo": {"-sos=false"}, "sos": {"-sos"}, "json": {"-json"}}

// goldenDumps lists one dump for each container and processor, and one with many missing parts. People review the
// first one's goldens.
var goldenDumps = []string{"net10-zoo", "net10-crash-null-triage", "win-net8-zoo", "net10-arm64"}

// TestGolden compares the output of every command in each form with testdata/golden. The first dump's goldens show
// each form. The others' show the first lines of one form, and a hash of everything. -update writes the files.
func TestGolden(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every command in every form")
	}
	got := map[string]*strings.Builder{}
	answered := map[string]bool{}
	for _, name := range goldenDumps {
		d := testdump.Open(t, name)
		names := namesOf(t, d)
		path, err := filepath.Rel(moduleRoot, d.Path) // doctor prints it
		require.NoError(t, err)
		path = filepath.ToSlash(path)
		kept := testcli.Kept{Path: path}
		env := kept.Env()
		for command, lines := range goldenLines {
			for i, template := range lines {
				line, ok := fillIn(template, names)
				if !ok {
					continue
				}
				for _, form := range slices.Sorted(maps.Keys(goldenForms)) {
					out, errs, code := runIn(t, env, slices.Concat([]string{"-d", path}, goldenForms[form], []string{"-c", line})...)
					answered[template] = true
					assert.NotContains(t, errs, "which it does not declare", line) // a bug of the command
					if got[command] == nil {
						got[command] = &strings.Builder{}
					}
					shown := linesShown(name, form, i == 0)
					fmt.Fprintf(got[command], "==== %s %s: %s\n%s%s", name, form, line, abridge(out, shown), abridge(errs, min(shown, 3)))
					if code != 0 {
						fmt.Fprintf(got[command], "exit code %d\n", code)
					}
				}
			}
		}
		require.NoError(t, kept.Close())
	}
	for command, lines := range goldenLines {
		for _, template := range lines {
			assert.True(t, answered[template], "%q was never run: its names are in none of the dumps", template)
		}
		if b := got[command]; b != nil {
			compareGolden(t, filepath.Join(moduleRoot, "cmd", "sosgo", "testdata", "golden", command+".txt"), b.String())
		}
	}
}

// TestGoldenOfEveryCommand checks that every command has goldens.
func TestGoldenOfEveryCommand(t *testing.T) {
	known := map[string]bool{"analyze": true} // the prompt; internal/front/cli tests it
	out, errs, code := run(t, "-json", "help")
	require.Zero(t, code, errs)
	var help struct{ Result []struct{ Name string } }
	require.NoError(t, json.Unmarshal([]byte(out), &help))
	require.NotEmpty(t, help.Result)
	for _, c := range help.Result {
		_, ok := goldenLines[c.Name]
		assert.True(t, ok || known[c.Name], "goldenLines has no line for %s", c.Name)
	}
}

// namesOf returns the addresses for golden lines: facts of the dump's manifest, and {module}, {assembly}, {md} and
// {ip} for the main module and the innermost method of the program on a stack.
func namesOf(t *testing.T, d *testdump.Dump) map[string]string {
	names := map[string]string{}
	for name := range d.Manifest.Facts {
		value, _ := d.Manifest.Fact(name)
		if address, _, _ := strings.Cut(value, " "); strings.HasPrefix(address, "0x") {
			names[name] = strings.TrimPrefix(address, "0x")
		}
	}
	var stack struct {
		Result struct {
			Frames []struct{ Method, MethodDesc, IP, Module string }
		}
	}
	out, _, _ := run(t, "-d", d.Plain(), "-json", "clrstack", "-all")
	require.NoError(t, json.Unmarshal([]byte(out), &stack))
	for _, f := range stack.Result.Frames {
		if f.Module == "Debuggee.dll" {
			names["md"], names["ip"] = strings.TrimPrefix(f.MethodDesc, "0x"), strings.TrimPrefix(f.IP, "0x")
			break
		}
	}
	var modules struct {
		Result []struct{ Module, Assembly, Name string }
	}
	out, _, _ = run(t, "-d", d.Plain(), "-json", "assemblies")
	require.NoError(t, json.Unmarshal([]byte(out), &modules))
	for _, m := range modules.Result {
		if strings.HasSuffix(m.Name, "Debuggee.dll") {
			names["module"], names["assembly"] = strings.TrimPrefix(m.Module, "0x"), strings.TrimPrefix(m.Assembly, "0x")
		}
	}
	return names
}

var braces = regexp.MustCompile(`\{[^}]+\}`)

// fillIn replaces names in braces with addresses. It returns false if a name is unknown.
func fillIn(template string, names map[string]string) (line string, ok bool) {
	ok = true
	return braces.ReplaceAllStringFunc(template, func(name string) string {
		v, known := names[strings.Trim(name, "{}")]
		ok = ok && known
		return v
	}), ok
}

// goldenLineBytes is the length to which a golden shortens a line.
const goldenLineBytes = 240

// linesShown returns the number of output lines in a golden, more for the command's first line. A hash covers the
// rest.
func linesShown(dump, form string, first bool) int {
	switch {
	case dump == goldenDumps[0] && first && form != "json":
		return 20
	case dump == goldenDumps[0] && form == "json":
		return 5
	case dump == goldenDumps[0]:
		return 8
	case form == "sosgo" && first:
		return 5
	default:
		return 0
	}
}

// abridge returns the first lines of an output, and a hash of the whole if lines are left out.
func abridge(s string, most int) string {
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	var b strings.Builder
	whole := len(lines) <= most
	for _, l := range lines[:min(len(lines), most)] {
		if len(l) > goldenLineBytes {
			whole, l = false, strings.ToValidUTF8(l[:goldenLineBytes], "")+"…\n"
		}
		b.WriteString(l)
	}
	if !strings.HasSuffix(b.String(), "\n") && b.Len() > 0 {
		b.WriteString("\n")
	}
	if !whole {
		fmt.Fprintf(&b, "… %d lines, SHA-256 %.8x…\n", len(lines), sha256.Sum256([]byte(s)))
	}
	return b.String()
}

func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	if got != string(want) {
		t.Errorf("%s: run go test ./cmd/sosgo -run TestGolden -update if this is right\n%s", file, firstDifference(string(want), got))
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	section := ""
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return section + "\nwant " + w[i] + "\ngot  " + g[i]
		}
		if strings.HasPrefix(g[i], "====") {
			section = g[i]
		}
	}
	return "one is longer than the other"
}
