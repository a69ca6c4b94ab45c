package dap_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-dap"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	adapter "github.com/sosgo/sosgo/internal/front/dap"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// frameOf returns a thread's first frame of a method.
func frameOf(t *testing.T, c *client, method string) dap.StackFrame {
	t.Helper()
	for _, th := range c.threads() {
		for _, f := range c.stack(th.Id, 0, 200) {
			if strings.Contains(f.Name, method) {
				return f
			}
		}
	}
	t.Fatalf("no frame of %s", method)
	return dap.StackFrame{}
}

func named(t *testing.T, list []dap.Variable, name string) dap.Variable {
	t.Helper()
	for _, v := range list {
		if v.Name == name {
			return v
		}
	}
	t.Fatalf("no %s among %v", name, list)
	return dap.Variable{}
}

// TestSources checks that sourceMap maps paths of a PDB to local files, and that missing files are marked.
func TestSources(t *testing.T) {
	testdump.Corpus(t, testcase.Named("net10-zoo-withheap"), func(t *testing.T, d *testdump.Dump) int {
		testcase.NeedModules(t, d.Case)
		folder := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(folder, "Zoo.cs"), []byte("class A {}"), 0o600))
		c, _ := open(t, d.Plain(), map[string]any{"modules": d.Case.Modules, "sourceMap": map[string]string{"/src": folder, "/sr": "/wrong"}})
		f := frameOf(t, c, "Scenario.Hold(")
		require.NotNil(t, f.Source)
		assert.Equal(t, folder+"/Zoo.cs", f.Source.Path)
		assert.Empty(t, f.Source.PresentationHint)
		assert.Equal(t, 312, f.Line)
		f = frameOf(t, c, "Program.Main(")
		assert.Equal(t, "deemphasize", f.Source.PresentationHint, "%v is not there", f.Source)
		assert.Empty(t, f.Source.Path)
		assert.Contains(t, f.Source.Origin, "/src/")
		var all []string
		for _, s := range ask[*dap.LoadedSourcesResponse](c, "loadedSources", nil).Body.Sources {
			all = append(all, s.Path)
		}
		assert.Contains(t, all, folder+"/Zoo.cs")
		assert.Contains(t, c.refused("source", map[string]any{"sourceReference": 5}), "there is no source")
		return len(all)
	})
}

// TestSymbolServer checks that a module file and its PDB are downloaded from the client's server, and read from the
// cache the next time. Without the server there are no line numbers.
func TestSymbolServer(t *testing.T) {
	key := regexp.MustCompile(`^/debuggee\.(dll/[0-9a-f]+/debuggee\.dll|pdb/[0-9a-f]{32}ffffffff/debuggee\.pdb)$`)
	testdump.Corpus(t, testcase.Named("net10-zoo-withheap"), func(t *testing.T, d *testdump.Dump) int {
		testcase.NeedModules(t, d.Case)
		home := t.TempDir()
		for _, v := range []string{"HOME", "USERPROFILE"} { // the cache is in the home folder
			t.Setenv(v, home)
		}
		files, err := os.ReadDir(d.Case.Modules)
		require.NoError(t, err)
		var mu sync.Mutex
		asked := map[string]int{}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			asked[r.URL.Path]++
			mu.Unlock()
			for _, f := range files {
				if strings.EqualFold(f.Name(), path.Base(r.URL.Path)) {
					http.ServeFile(w, r, filepath.Join(d.Case.Modules, f.Name()))
					return
				}
			}
			http.NotFound(w, r)
		}))
		t.Cleanup(server.Close)
		c := run(t, "dap")
		c.launch(d.Plain(), map[string]any{"symbolServer": server.URL})
		f := frameOf(t, c, "Scenario.Hold(")
		require.NotNil(t, f.Source)
		assert.Equal(t, 312, f.Line)
		once := func() {
			t.Helper()
			mu.Lock()
			defer mu.Unlock()
			found := 0
			for p, times := range asked {
				if key.MatchString(p) {
					assert.Equal(t, 1, times, p)
					found++
				}
			}
			assert.Equal(t, 2, found, "%v", asked)
		}
		once()
		other, _ := open(t, d.Plain(), nil)
		assert.Nil(t, frameOf(t, other, "Scenario.Hold(").Source)
		again := run(t, "dap") // from the cache
		again.launch(d.Plain(), map[string]any{"symbolServer": []string{server.URL}})
		assert.Equal(t, 312, frameOf(t, again, "Scenario.Hold(").Line)
		once()
		return 1
	})
}

// TestLongExpressions: a long expression costs no more than its length does.
func TestLongExpressions(t *testing.T) {
	c, _ := open(t, testdump.Open(t, "net10-zoo").Plain(), nil)
	f := frameOf(t, c, "Scenario.Hold(")
	for _, part := range []string{"A", "A.", "text.", "1+", "(", "A ", `"`} {
		long := strings.Repeat(part, 1<<18/len(part))
		for _, frame := range []int{0, f.Id} {
			began := time.Now()
			c.refused("evaluate", map[string]any{"expression": long, "context": "watch", "frameId": frame})
			assert.Less(t, time.Since(began), 20*time.Second, part)
			t.Log(part, frame, time.Since(began))
		}
	}
}

// TestEvaluate checks that expressions can use the frame's variables, that the console runs commands for its thread,
// and that both complete.
func TestEvaluate(t *testing.T) {
	d := testdump.Open(t, "net10-zoo").Plain()
	c, _ := open(t, d, nil)
	f := frameOf(t, c, "Scenario.Hold(")
	for expression, want := range map[string]string{"text": `"argument string"`, "text.Length": "15", "number": "12.5", "number * 2": "25", "color": "Blue",
		"segments": "Debuggee.Zoo.Segment[2]", "1 + 2 * 3": "7", "text == null": "false", "Debuggee.Zoo.Scenario.Root.Dog.Legs": "4"} {
		assert.Equal(t, want, c.evaluate(expression, "hover", f.Id).Result, expression)
	}
	assert.Equal(t, "4", c.evaluate("Root.Dog.Legs", "watch", f.Id).Result, "a static field of the frame's type")
	assert.Contains(t, c.refused("evaluate", map[string]any{"expression": "Rooot.Dog", "frameId": f.Id}), "Rooot")
	perThread := map[string]string{"Scenario.Hold(": `"main thread"`, "Scenario.Wait(": `"worker thread"`}
	for frame, want := range perThread {
		assert.Equal(t, want, c.evaluate("Debuggee.Zoo.Statics.PerThreadString", "watch", frameOf(t, c, frame).Id).Result, frame)
	}
	assert.Contains(t, c.refused("evaluate", map[string]any{"expression": "Debuggee.Zoo.Statics.PerThreadString"}), "choose a frame of the thread")
	assert.Contains(t, c.refused("evaluate", map[string]any{"expression": "nothing", "frameId": f.Id}), "nothing")
	assert.Contains(t, c.evaluate("clrstack", "repl", frameOf(t, c, "Scenario.Wait(").Id).Result, "Scenario.Wait(")
	assert.Contains(t, c.evaluate("clrstack", "repl", f.Id).Result, "Scenario.Hold(")
	assert.Contains(t, c.evaluate("help", "repl", 0).Result, "dumpheap")
	assert.Contains(t, c.evaluate("modules > /tmp/x", "repl", 0).Result, "no file")
	assert.Equal(t, c.evaluate("dumpheap -short -type Zoo.Dog | foreach gcwhere", "repl", 0).Result,
		c.evaluate(".foreach (o {!dumpheap -short -type Zoo.Dog}) {!gcwhere o}", "repl", 0).Result)
	assert.Contains(t, c.evaluate("~*e .foreach (o {dumpheap -short -type Zoo.Dog}) {gcwhere o}", "repl", 0).Result, "Address")
	assert.Contains(t, c.evaluate("!findstack Hold", "repl", 0).Result, "parallelstacks")
	assert.Contains(t, c.evaluate(".reload /f", "repl", 0).Result, "setsymbolserver")
	both := c.evaluate("1, 2", "watch", 0)
	assert.Equal(t, "1 = 1\n2 = 2", both.Result)
	assert.Len(t, c.variables(both.VariablesReference), 2)
	list := c.evaluate("refs(Debuggee.Zoo.Scenario.Root)", "watch", 0)
	assert.Len(t, c.variables(list.VariablesReference), 20)
	complete := func(text string) (labels []string) {
		for _, i := range ask[*dap.CompletionsResponse](c, "completions", map[string]any{"text": text, "column": len(text) + 1}).Body.Targets {
			labels = append(labels, text[:i.Start]+i.Label)
		}
		return labels
	}
	assert.Contains(t, complete("dumphe"), "dumpheap")
	assert.Contains(t, complete("dumpheap -st"), "dumpheap -stat")
	assert.Contains(t, complete("Debuggee.Zoo.Scenario.Ro"), "Debuggee.Zoo.Scenario.Root")
	assert.Empty(t, complete("qqqqq"))
}

// TestVariablesEvaluate: each argument and local of a stack evaluates to what is shown, and so do the members of values.
func TestVariablesEvaluate(t *testing.T) {
	c, _ := open(t, testdump.Open(t, "net10-stacks").Plain(), nil)
	variables, unnamed, members := 0, 0, 0
	for _, th := range c.threads() {
		for _, f := range c.stack(th.Id, 0, 12) {
			if f.PresentationHint != "" {
				continue
			}
			for _, scope := range []string{"Arguments", "Locals"} {
				for _, v := range c.scope(f.Id, scope) {
					if strings.HasPrefix(v.Value, "<") {
						continue
					}
					require.NotEmpty(t, v.EvaluateName, v.Name)
					same := c.evaluate(v.EvaluateName, "watch", f.Id)
					assert.Equal(t, v.Value, same.Result, "%s of %s", v.Name, f.Name)
					variables++
					if strings.HasPrefix(v.Name, "V_") {
						unnamed++
					}
					if v.VariablesReference == 0 || v.MemoryReference != "" && v.Type != "" && strings.HasPrefix(v.EvaluateName, "0x") {
						continue
					}
					for _, m := range c.variables(v.VariablesReference) {
						if strings.HasPrefix(m.EvaluateName, v.EvaluateName+".") && !strings.HasPrefix(m.Value, "<") {
							assert.Equal(t, m.Value, c.evaluate(m.EvaluateName, "hover", f.Id).Result, m.EvaluateName)
							members++
						}
					}
				}
			}
		}
	}
	t.Log(variables, unnamed, members)
	assert.Greater(t, variables, 20)
	assert.Greater(t, unnamed, 5)
	assert.Positive(t, members)
}

// TestStops: a hang stops on the threads of the first finding and says its sentence, a crash says type and message.
func TestStops(t *testing.T) {
	hangs := testdump.Open(t, "net10-stacks").Plain()
	c, stop := open(t, hangs, nil)
	assert.Equal(t, "deadlock", stop.Body.Description)
	assert.Contains(t, stop.Body.Text, "Debuggee.Stacks.Scenario.s_second")
	assert.Regexp(t, `holds object [0-9a-f]+ \(Debuggee`, stop.Body.Text)
	threads := c.threads()
	assert.Contains(t, threads[0].Name, "deadlock one")
	assert.Contains(t, threads[1].Name, "deadlock two")
	assert.Equal(t, threads[0].Id, stop.Body.ThreadId)
	frameOf(t, c, "Debuggee.Stacks.Scenario.Run λ9_13()")
	frameOf(t, c, "Debuggee.Stacks.Work<KeyValuePair<int, string>>.Generic<KeyValuePair<int, string>, string>(")
	c, stop = open(t, hangs, map[string]any{"names": "runtime"})
	assert.Contains(t, stop.Body.Text, "holds System.Object ")
	frameOf(t, c, "Debuggee.Stacks.Scenario+<>c.<Run>b__9_13()")
	c = start(t)
	ask[*dap.InitializeResponse](c, "initialize", map[string]any{"adapterID": "sosgo"})
	assert.Contains(t, c.refused("launch", map[string]any{"dump": hangs, "names": "java"}), "csharp or runtime")
	_, stop = open(t, testdump.Open(t, "net10-crash-nested").Plain(), nil)
	assert.Equal(t, "Debuggee.Crash.OrderException: order 1042 failed", stop.Body.Text)
}

// TestObjects checks that collections show elements and delegates show calls, with the fields in the raw view.
func TestObjects(t *testing.T) {
	c, _ := open(t, testdump.Open(t, "net10-zoo").Plain(), nil)
	all := c.variables(c.evaluate("Debuggee.Zoo.Scenario.Root", "watch", 0).VariablesReference)
	collections := c.variables(named(t, all, "Collections").VariablesReference)
	list := named(t, collections, "List")
	assert.Equal(t, "Count = 3", list.Value)
	assert.Equal(t, 3, list.IndexedVariables)
	elements := c.variables(list.VariablesReference)
	require.Len(t, elements, 4)
	assert.Equal(t, "3", elements[2].Value)
	assert.Equal(t, "3", named(t, c.variables(named(t, elements, "Raw view").VariablesReference), "_size").Value)
	byName := c.variables(named(t, collections, "ByName").VariablesReference)
	assert.Equal(t, "81", named(t, byName, `["key9"]`).Value)
	page := ask[*dap.VariablesResponse](c, "variables", map[string]any{"variablesReference": list.VariablesReference, "filter": "indexed", "start": 1, "count": 1}).Body
	require.Len(t, page.Variables, 1)
	assert.Equal(t, "[1]", page.Variables[0].Name)
	delegates := c.variables(named(t, all, "Delegates").VariablesReference)
	multicast := c.variables(named(t, delegates, "Multicast").VariablesReference)
	require.Len(t, multicast, 4)
	call := c.variables(multicast[1].VariablesReference)
	assert.Equal(t, "Debuggee.Zoo.Delegates.Handler(System.String)", named(t, call, "Method").Value)
	assert.NotEmpty(t, named(t, call, "Target").Value)
	arrays := c.variables(named(t, all, "Arrays").VariablesReference)
	matrix := c.variables(named(t, arrays, "Matrix").VariablesReference)
	require.Len(t, matrix, 6)
	assert.Equal(t, "[1, 2]", matrix[5].Name)
	assert.Equal(t, "[5]", c.variables(named(t, arrays, "NonZeroBased").VariablesReference)[0].Name)
	dog := c.variables(named(t, all, "Dog").VariablesReference)
	assert.NotEmpty(t, c.variables(named(t, dog, "Static fields").VariablesReference))
	f := frameOf(t, c, "Scenario.Hold(")
	assert.Equal(t, "Debuggee.Zoo.Everything", named(t, c.scope(f.Id, "Statics of the type"), "Root").Type)
}

// TestTasks checks the state and waiters of a task, and the async frames of a thread.
func TestTasks(t *testing.T) {
	d := testdump.Open(t, "net10-async").Plain()
	c, _ := open(t, d, nil)
	found := 0
	for _, row := range rows(document(t, d, "dumpasync"), "stacks") {
		for _, f := range rows(row, "frames") {
			if f["kind"] != "async method" || found == 20 {
				continue
			}
			found++
			state := document(t, d, "taskstate", f["object"].(string))
			v := c.variables(c.evaluate(f["object"].(string), "watch", 0).VariablesReference)
			assert.Equal(t, state["status"], named(t, v, "Status").Value)
			if on, ok := state["waitsOn"].(map[string]any); ok {
				assert.Equal(t, on["object"], named(t, v, "Waits on").MemoryReference)
			}
			for i, then := range rows(state, "then") {
				assert.Equal(t, then["object"], named(t, v, fmt.Sprintf("Then[%d]", i)).MemoryReference)
			}
			assert.NotEmpty(t, c.variables(named(t, v, "Raw view").VariablesReference))
		}
	}
	assert.NotZero(t, found)
}

// TestMemory compares memory with the dump's bytes and instructions with clru's, and checks the count of unreadable
// bytes.
func TestMemory(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	c, _ := open(t, d.Plain(), nil)
	f := frameOf(t, c, "Scenario.Hold(")
	text := named(t, c.scope(f.Id, "Arguments"), "text")
	m := ask[*dap.ReadMemoryResponse](c, "readMemory", map[string]any{"memoryReference": text.MemoryReference, "offset": 12, "count": 16}).Body
	b, err := base64.StdEncoding.DecodeString(m.Data)
	require.NoError(t, err)
	assert.Equal(t, "a\x00r\x00g\x00u\x00m\x00e\x00n\x00t\x00", string(b))
	assert.Contains(t, c.refused("readMemory", map[string]any{"memoryReference": "0x8", "count": 16}), "no process has memory there")
	want := rows(document(t, d.Plain(), "clru", f.InstructionPointerReference), "instructions")
	require.NotEmpty(t, want)
	got := ask[*dap.DisassembleResponse](c, "disassemble", map[string]any{"memoryReference": f.InstructionPointerReference, "instructionOffset": -10_000 + 100 + len(want), "instructionCount": 10_000}).Body.Instructions
	require.Len(t, got, 10_000)
	n := 0
	for _, i := range got {
		if i.Instruction == "??" {
			continue
		}
		if n == 0 {
			assert.Contains(t, i.Symbol, "Scenario.Hold(")
		}
		assert.Equal(t, want[n]["bytes"], i.InstructionBytes)
		assert.Contains(t, i.Instruction, want[n]["text"])
		n++
	}
	assert.Equal(t, len(want), n)
}

// TestRuntimes checks that one stack shows the frames of both runtimes, and that each object is read by the runtime
// that owns it.
func TestRuntimes(t *testing.T) {
	c, _ := open(t, testdump.Open(t, "sxs").Plain(), nil)
	n := 0
	for _, th := range c.threads() {
		for _, f := range c.stack(th.Id, 0, 100) {
			for _, s := range []string{"Arguments", "Locals"} {
				if f.PresentationHint != "" {
					continue
				}
				for _, v := range c.scope(f.Id, s) {
					if v.VariablesReference != 0 {
						c.variables(v.VariablesReference)
						n++
					}
				}
			}
		}
	}
	assert.NotZero(t, n)
}

// TestMissing checks that a missing value is shown with its reason.
func TestMissing(t *testing.T) {
	c, _ := open(t, "../../../testdata/dumps/bare/net10-zoo-gcore/net10-zoo-gcore.dmp.zst", nil)
	missing := 0
	for _, th := range c.threads() {
		for _, f := range c.stack(th.Id, 0, 50) {
			if strings.Contains(f.Name, "<not in dump>") {
				missing++
			}
		}
	}
	assert.NotZero(t, missing)
}

// TestProgress checks that only long requests are reported, and only to clients that support it.
func TestProgress(t *testing.T) {
	launch := func(t *testing.T) *client {
		c := start(t)
		ask[*dap.InitializeResponse](c, "initialize", map[string]any{"adapterID": "sosgo", "supportsProgressReporting": true})
		ask[*dap.LaunchResponse](c, "launch", map[string]any{"dump": testdump.Open(t, "net10-zoo").Plain()})
		ask[*dap.ConfigurationDoneResponse](c, "configurationDone", nil)
		return c
	}
	t.Run("long", func(t *testing.T) {
		t.Cleanup(adapter.SetProgressDelay(0))
		c := launch(t)
		c.events = nil
		seq := c.send("evaluate", map[string]any{"expression": "triage", "context": "repl"})
		require.True(t, c.response(seq).GetResponse().Success)
		for {
			begin := event[*dap.ProgressStartEvent](c)
			if begin.Body.RequestId != seq {
				continue
			}
			assert.Equal(t, "sosgo: evaluate", begin.Body.Title)
			assert.True(t, begin.Body.Cancellable)
			end := event[*dap.ProgressEndEvent](c)
			assert.Equal(t, begin.Body.ProgressId, end.Body.ProgressId)
			return
		}
	})
	t.Run("short", func(t *testing.T) {
		t.Cleanup(adapter.SetProgressDelay(time.Hour))
		c := launch(t)
		assert.NotEmpty(t, c.evaluate("triage", "repl", 0).Result)
		ask[*dap.DisconnectResponse](c, "disconnect", nil)
		for _, e := range c.events {
			assert.NotContains(t, fmt.Sprintf("%T", e), "Progress")
		}
	})
}
