package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testcli"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// poorDumps returns files of dumps that lack much, by the kind of their fault.
func poorDumps(t *testing.T) map[string]string {
	zoo := testdump.Open(t, "net10-zoo")
	raw, err := zoo.Raw()
	require.NoError(t, err)
	out := map[string]string{"triage": testdump.Open(t, "net10-crash-null-triage").Plain()}
	write := func(kind string, b []byte) {
		out[kind] = filepath.Join(t.TempDir(), kind+".dmp")
		require.NoError(t, os.WriteFile(out[kind], b, 0o600))
	}
	write("cut", raw[:len(raw)/2])
	write("stacks", testdump.StacksOnly(zoo.Dump))

	bad, err := sosgo.OpenReaderAt(target.BytesSource(raw), int64(len(raw)), zoo.Options())
	require.NoError(t, err)
	defer bad.Close()
	h, err := bad.Heap()
	require.NoError(t, err)
	var damage []testdump.Damage
	for _, s := range h.Segments() {
		damage = append(damage, testdump.Words(s.Addr, make([]uint64, 10)...))
	}
	testcase.Overwrite(t, bad.Target(), damage...) // in raw
	write("damaged", raw)
	return out
}

// A question is a method of View and the command that asks the same, if there is one. args are the parameters after the
// context; further ones are zero.
type question struct {
	line string
	args []any
}

// Objects of net10-zoo, and the questions about them.
const (
	aDog        = target.Addr(0x7efbcd80b550)
	aDogsType   = target.Addr(0x7f07a5b48748)
	aDictionary = target.Addr(0x7efbcd806bc0)
	aName       = target.Addr(0x7f079cc008b8)
	aModule     = target.Addr(0x7f07a4a54000)
	anAssembly  = target.Addr(0x557934770190)
	someStrings = "from strings | top 3"
	aStatic     = "Debuggee.Zoo.Statics.Int"
)

func about(command string, a target.Addr) question {
	return question{command + " " + a.String(), []any{a}}
}

// viewQuestions has each method of View.
var viewQuestions = map[string]question{
	"AllStackObjects": {"dso -all", nil}, "AnalyzeThread": {}, "AppDomain": about("findappdomain", aDog), "Array": about("dumparray", aDog),
	"Assemblies": {"clrmodules", nil}, "Assembly": about("dumpassembly", anAssembly), "AsyncCalls": {"asyncstacks", nil}, "AsyncStacks": {"dumpasync", nil},
	"Closure": about("objsize", aDog), "ClosureOfType": {"", []any{aDogsType}}, "ComWrappers": {"comwrappers", nil}, "Crash": {"crashinfo", nil},
	"CrashedThread": {}, "DbContexts": {"dbcontexts", nil}, "DelegateCalls": about("dumpdelegate", aDog), "Describe": about("dumpobj", aDog), "DescribeRuntimes": {"runtimes", nil},
	"Diagnose": {"doctor", nil}, "Disassembly": {}, "Domains": {"dumpdomain", nil}, "DominatorChildren": {}, "Dominators": {"dominators", nil},
	"DominatorsOf": about("dominators", aDog), "Duplicates": {"dumpheap -strings", nil}, "EEVersion": {"eeversion", nil},
	"Evaluate": {"eval " + aStatic, []any{aStatic}}, "EventSources": {"eventsources", nil}, "Exception": {}, "Exceptions": {"dumpexceptions", nil},
	"Finalizers": {"finalizequeue", nil}, "FindName": {}, "FindToken": {}, "Flows": {"flows", nil}, "Fragmentation": {}, "GC": {"gc", nil}, "GCInfo": {},
	"GCRoot": about("gcroot", aDog), "GRPCCalls": {"grpc", nil}, "GenerationObjects": {}, "GenerationStats": {"dumpgen gen0", nil}, "Generations": {"gcheapstat", nil},
	"Handlers": {}, "Handles": {"gchandles", nil}, "HandlesHold": {}, "HTTPClients": {"httpclients", nil}, "HeapGraph": {}, "HeapMap": {"heapmap", nil},
	"HeapObjects": {"dumpheap", nil}, "HeapStats": {"dumpheap -stat", nil}, "Hosts": {"host", nil}, "IL": {}, "ILAt": {}, "Images": {"modules", nil},
	"Initializers": {"initializers", nil}, "Items": about("items", aDictionary), "LargeReferences": {"ephtoloh", nil}, "Leaks": {"leaks", nil},
	"LoadContext": about("dumpalc", aDog), "LoadContexts": {"contexts", nil}, "Locks": {"locks", nil}, "ManagedThreads": {"clrthreads", nil}, "Mask": {},
	"Memory": {"memory", nil}, "MemoryCaches": {"caches", nil}, "Messages": {"dumphttp", nil}, "Method": {}, "Module": about("dumpmodule", aModule),
	"Neighbours": about("listnearobj", aDog), "OSThreads": {"threads", nil}, "ObjectPools": {"objectpools", nil}, "OldReferences": {"ephrefs", nil},
	"OutOfMemory": {"analyzeoom", nil}, "ParallelStacks": {"parallelstacks", nil}, "PathTo": {"pathto " + aDog.String() + " " + aName.String(), []any{aDog, aName}},
	"Profile": {}, "Query": {"query " + someStrings, []any{someStrings}}, "Queues": {"queues", nil}, "ReadString": about("dumpstring", aName), "Redis": {"redis", nil},
	"References": about("dumpobjgcrefs", aDog), "Referents": about("referents", aDog), "Referrers": about("referrers", aDog), "Requests": {"requests", nil},
	"Resolve": about("whatis", aDog), "Retained": {"retained", nil}, "RetainedBy": {"retained " + aDog.String(), []any{[]target.Addr{aDog}}}, "ReturnAddresses": {},
	"RuntimeHeaps": {"eeheap", nil}, "RuntimeTypes": {"dumpruntimetypes", nil}, "SQLPools": {"sqlpools", nil}, "SecretValues": {}, "Secrets": {},
	"ServiceScopes": {"services", nil}, "Sessions": {"sessions", nil}, "Settings": {"process", nil}, "SignalR": {"signalr", nil}, "SizeStatistics": {"sizestats", nil},
	"Soundness": {}, "Source": {}, "SourceFiles": {}, "StackObjects": {}, "Stacks": {"clrstack -all", nil}, "Statics": {"statics -all", nil}, "StressLog": {"dumplog", nil},
	"Struct": {"dumpvc " + aDogsType.String() + " " + aDog.String(), []any{aDogsType, aDog}}, "Summary": {"summarize", nil}, "SummarizeHeap": {"dumpheap -stat", nil},
	"SyncBlocks": {"syncblk", nil}, "TaskState": {}, "Tasks": {"tasks", nil}, "ThreadPool": {"threadpool", nil}, "Tiers": {"tiers", nil}, "Timers": {"timerinfo", nil},
	"Triage": {"triage", nil}, "Type": about("dumpmt", aDogsType), "Types": {"types", nil}, "Unreachable": {}, "VerifyHeap": {"verifyheap", nil},
	"VerifyObject": about("verifyobj", aDog), "Waits": {"waits", nil}, "Waste": {"waste", nil}, "WebSockets": {"websockets", nil}, "Where": about("gcwhere", aDog),
	"WorkQueues": {"threadpoolqueue", nil},
}

// listErrors reads all lists of an answer and returns the errors of each.
func listErrors(v reflect.Value) (out [][]error) {
	for v.Kind() == reflect.Pointer {
		if all := v.MethodByName("All"); !v.IsNil() && all.IsValid() && all.Type().NumIn() == 0 && all.Type().Out(0).CanSeq2() {
			return listErrors(all.Call(nil)[0])
		}
		v = v.Elem()
	}
	switch {
	case v.Kind() == reflect.Struct:
		for f, fv := range v.Fields() {
			if f.IsExported() {
				out = append(out, listErrors(fv)...)
			}
		}
	case v.Kind() == reflect.Func && !v.IsNil() && v.Type().CanSeq2():
		var list []error
		for _, err := range v.Seq2() {
			err, _ := err.Interface().(error)
			list = append(list, err)
		}
		return [][]error{list}
	}
	return out
}

// askView calls a method of View.
func askView(t *testing.T, v *sosgo.View, m reflect.Method, args []any) (reflect.Value, error) {
	in := []reflect.Value{reflect.ValueOf(v)}
	for i := 1; i < m.Type.NumIn(); i++ {
		if m.Type.IsVariadic() && i == m.Type.NumIn()-1 {
			break
		}
		switch typ := m.Type.In(i); {
		case typ == reflect.TypeFor[context.Context]():
			in = append(in, reflect.ValueOf(t.Context()))
		case len(args) > 0:
			in, args = append(in, reflect.ValueOf(args[0])), args[1:]
		default:
			in = append(in, reflect.Zero(typ))
		}
	}
	out := m.Func.Call(in)
	if len(out) < 2 {
		return out[0], nil
	}
	err, _ := out[1].Interface().(error)
	return out[0], err
}

// TestAbsenceInViews asks each method of View about dumps that lack much. If the command that asks the same fails, the
// method or a list of its answer has an error: a loop over the rows never ends as if there were none.
func TestAbsenceInViews(t *testing.T) {
	if testing.Short() {
		t.Skip("asks many questions")
	}
	inherited := reflect.TypeFor[*process.Process]()
	methods := map[string]reflect.Method{}
	for m := range reflect.TypeFor[*sosgo.View]().Methods() {
		if of, ok := inherited.MethodByName(m.Name); !ok || of.Type.NumIn() != m.Type.NumIn() {
			methods[m.Name] = m
		}
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys(methods)), slices.Collect(maps.Keys(viewQuestions)))
	failed := map[string]int{}
	for kind, path := range poorDumps(t) {
		d, err := sosgo.Open(path, sosgo.Options{Offline: true})
		require.NoError(t, err, kind)
		v, _ := d.View("") // a View without a runtime has an error for each question
		for name, q := range viewQuestions {
			a, err := askView(t, v, methods[name], q.args)
			errs := []error{err}
			if err == nil {
				errs = slices.Concat(listErrors(a)...)
				if a.Kind() == reflect.Pointer && name != "SummarizeHeap" {
					marshalledTwice(t, a.Interface(), kind+": "+name)
				}
			}
			if q.line == "" {
				continue
			}
			_, stderr, code := run(t, append([]string{"-d", path, "--offline"}, shellWords(q.line)...)...)
			switch {
			case code == 0:
				assert.NoError(t, err, "%s: %s", kind, name)
			case stderr != "": // the exit code of triage without an error is what it found
				failed[kind]++
				assert.Error(t, errors.Join(errs...), "%s: %s ends with %d: %s", kind, name, code, stderr)
			}
		}
		require.NoError(t, d.Close())
	}
	for kind, n := range failed {
		assert.Greater(t, n, 3, kind)
	}
	assert.Len(t, failed, 4, "a dump of each kind")
}

// marshalledTwice checks that an answer has the same JSON twice, with its failure if a list has failed.
func marshalledTwice(t *testing.T, v any, of string) {
	first, err := json.Marshal(v)
	require.NoError(t, err, of)
	second, err := json.Marshal(v)
	require.NoError(t, err, of)
	assert.Equal(t, string(first), string(second), of)
	if gaps := answer.GapsOf(v); gaps != nil && gaps.Failure() != nil && len(listErrors(reflect.ValueOf(v))) > 0 {
		assert.Contains(t, string(first), `{"error":"`, of)
	}
}

// TestFailuresOfLists runs every command and gives its answer a failure: each list of the answer ends with it.
func TestFailuresOfLists(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every command")
	}
	d := testdump.Open(t, "net10-zoo")
	kept := testcli.Kept{Path: d.Plain()}
	broken, lists := errors.New("broken"), 0
	for _, lines := range marshalLines(t, d) {
		for _, line := range lines {
			env := kept.Env()
			env.Commands, env.Threads, env.Limits = commands.All(), commands.Threads, commands.Limits()
			for i := range env.Commands {
				ask := env.Commands[i].Ask
				env.Commands[i].Ask = func(c *cli.Context) (report.Answer, error) {
					a, err := ask(c)
					gaps := answer.GapsOf(a.Value)
					if err != nil || gaps == nil {
						return a, err
					}
					gaps.Fail(broken)
					for _, list := range listErrors(reflect.ValueOf(a.Value)) {
						if lists++; assert.NotEmpty(t, list, line) {
							assert.ErrorIs(t, list[len(list)-1], broken, line)
						}
					}
					return report.Answer{}, nil
				}
			}
			cli.Main(t.Context(), []string{"-d", d.Plain(), "-c", line}, strings.NewReader(""), io.Discard, io.Discard, env)
		}
	}
	require.NoError(t, kept.Close())
	assert.Greater(t, lists, 25)
}

// exampleLines has a command for each example of docs/examples that asks the same.
var exampleLines = map[string]string{
	"address":      "whatis " + aDog.String(),
	"cancel":       "dumpheap -stat",
	"collections":  "items 7efbcd806ac0",
	"concurrent":   "dumpheap -stat",
	"crash":        "crashinfo",
	"describe":     "dumpobj " + aDog.String(),
	"diff":         "dumpheap -stat",
	"duplicates":   "dumpheap -strings",
	"exceptions":   "pe 7f2fd9807ee8",
	"export":       "retained",
	"fields":       "dumpobj 7efbcd805c98",
	"gaps":         "help", // goes on after a failure
	"gcHeap":       "eeheap -gc",
	"gcroot":       "gcroot " + aDictionary.String(),
	"heapStats":    "dumpheap -stat",
	"items":        "items " + aDictionary.String(),
	"leaks":        "leaks",
	"memoryLimit":  "retained",
	"metadata":     "help",
	"minidump":     "info",
	"nativeFrames": "clrstack -native",
	"objects":      "dumpheap",
	"ofType":       "dumpheap -type Debuggee.Zoo.Dog",
	"open":         "eeversion",
	"ownTarget":    "dumpobj " + aDog.String(),
	"profile":      "clrstack -all",
	"query":        "query " + someStrings,
	"requests":     "requests",
	"retained":     "retained",
	"runtimeType":  "dumpmt 7f07a5b48748",
	"runtimes":     "runtimes",
	"scan":         "dumpstackobjects",
	"signature":    "summarize",
	"stackObjects": "dumpstackobjects",
	"stacks":       "clrstack -all",
	"statics":      "statics -type Debuggee.Zoo.Statics",
	"tables":       "summarize",
	"tasks":        "tasks",
	"threadPool":   "threadpool",
	"values":       "dumpobj 7efbcd805c98",
	"waits":        "waits",
	"walk":         "clrstack",
	"web":          "help",
}

// buildExamples builds a program with all examples of docs/examples. Its arguments are an example and the file of a
// dump, which replaces the one that the example opens.
func buildExamples(t *testing.T) (program string, names []string) {
	dir := filepath.Join(moduleRoot, "docs", "examples")
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	require.NoError(t, err)
	work := t.TempDir()
	replace := map[string]string{}
	add := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(work, name), []byte(text), 0o600))
		at, err := filepath.Abs(filepath.Join(dir, "all", name))
		require.NoError(t, err)
		replace[at] = filepath.Join(work, name)
	}
	for _, path := range files {
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
		require.NoError(t, err)
		text := []byte(source)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if name, ok := strings.CutPrefix(n.Name.Name, "Example_"); ok {
					names = append(names, name)
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Open" && types.ExprString(f.X) == "sosgo" {
					from, to := n.Args[0].Pos()-file.FileStart, n.Args[0].End()-file.FileStart
					text = slices.Concat(source[:from], []byte("dumpFile"), source[to:])
				}
			}
			return true
		})
		text = bytes.Replace(text, []byte("package examples\n"), []byte("package main\n"), 1)
		add(strings.TrimSuffix(filepath.Base(path), "_test.go")+"_example.go", string(text))
	}
	main := "package main\n\nimport \"os\"\n\nvar dumpFile = os.Args[2]\n\nfunc main() {\n\tswitch os.Args[1] {\n"
	for _, name := range names {
		main += fmt.Sprintf("\tcase %q:\n\t\tExample_%s()\n", name, name)
	}
	add("main.go", main+"\t}\n}\n")
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(work, "overlay.json"), overlay, 0o600))
	program = filepath.Join(work, "examples.exe")
	build := exec.Command("go", "build", "-overlay", filepath.Join(work, "overlay.json"), "-o", program, "./docs/examples/all")
	build.Dir = moduleRoot
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	return program, names
}

// TestAbsenceInExamples runs the examples of docs/examples on dumps that lack much. An example ends with an error if the
// command that asks the same does.
func TestAbsenceInExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	program, names := buildExamples(t)
	assert.ElementsMatch(t, slices.Collect(maps.Keys(exampleLines)), names)
	for kind, path := range poorDumps(t) {
		for _, name := range names {
			_, stderr, code := run(t, append([]string{"-d", path, "--offline"}, shellWords(exampleLines[name])...)...)
			out, err := exec.Command(program, name, path).CombinedOutput()
			if name == "cancel" && string(out) == "it took too long\n" {
				continue // before it read what is missing
			}
			if code != 0 {
				assert.Error(t, err, "%s: %s printed %q; the command ends with %d: %s", kind, name, out, code, stderr)
			}
		}
	}
}
