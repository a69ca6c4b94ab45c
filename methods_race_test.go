package sosgo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/app/doctor"
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/internal/app/resolve"
	"github.com/sosgo/sosgo/internal/app/sensitive"
	"github.com/sosgo/sosgo/internal/test/answers"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A call calls one public method of a dump or of a view and returns its result as text.
type call func(d *sosgo.Dump, v *sosgo.View, where string) any

// dumpCalls are the public methods of a Dump, except Close.
var dumpCalls = map[string]call{
	"Default":     func(d *sosgo.Dump, _ *sosgo.View, _ string) any { return d.Default() != nil },
	"Environment": func(d *sosgo.Dump, _ *sosgo.View, _ string) any { l, err := d.Environment(); return said(len(l), err) },
	"ModuleAt":    func(d *sosgo.Dump, _ *sosgo.View, _ string) any { return d.ModuleAt(anAddress(d)).Path },
	"ModuleFile": func(d *sosgo.Dump, _ *sosgo.View, _ string) any {
		m, err := d.ModuleFile(&d.Target().Modules()[0])
		return said(m.Path, err)
	},
	"Process":      func(d *sosgo.Dump, _ *sosgo.View, _ string) any { p, err := d.Process("0"); return said(p != nil, err) },
	"ProcessOf":    func(d *sosgo.Dump, _ *sosgo.View, _ string) any { return len(d.Processes()) },
	"Processes":    func(d *sosgo.Dump, _ *sosgo.View, _ string) any { return len(d.Processes()) },
	"File":         func(d *sosgo.Dump, _ *sosgo.View, _ string) any { return d.File().Size },
	"FileProblems": func(d *sosgo.Dump, _ *sosgo.View, _ string) any { return d.FileProblems() },
	"Forked":       func(d *sosgo.Dump, _ *sosgo.View, _ string) any { return d.Forked() },
	"Heap":         func(d *sosgo.Dump, _ *sosgo.View, _ string) any { h, err := d.Heap(); return said(h != nil, err) },
	"ID":           func(d *sosgo.Dump, _ *sosgo.View, _ string) any { id, err := d.ID(); return said(id, err) },
	"Like": func(d *sosgo.Dump, _ *sosgo.View, _ string) any {
		_, err := d.Like(filepath.Join("no", "dump"))
		return err != nil
	},
	"Over": func(d *sosgo.Dump, _ *sosgo.View, _ string) any {
		again, err := d.Over(d.Target())
		return said(again != nil && again.Close() == nil, err)
	},
	"OverAlone": func(d *sosgo.Dump, _ *sosgo.View, _ string) any {
		again, err := d.OverAlone(d.Target(), func(m target.Memory) target.Memory { return m })
		return said(again != nil && again.Close() == nil, err)
	},
	"Jobs":         func(d *sosgo.Dump, _ *sosgo.View, _ string) any { return d.Jobs() },
	"Memory":       func(d *sosgo.Dump, _ *sosgo.View, _ string) any { return len(d.Memory().Span(anAddress(d))) },
	"MemorySource": func(d *sosgo.Dump, _ *sosgo.View, _ string) any { return d.MemorySource(anAddress(d)) },
	"MergedWalk": func(d *sosgo.Dump, _ *sosgo.View, _ string) any {
		return frames(slices.Collect(d.MergedWalk(context.Background(), d.Target().Threads()[0].ID, stackwalk.WalkOptions{})))
	},
	"Modules":   func(d *sosgo.Dump, _ *sosgo.View, _ string) any { return len(d.Modules()) },
	"Objects":   func(d *sosgo.Dump, _ *sosgo.View, _ string) any { o, err := d.Objects(); return said(o != nil, err) },
	"OpenFiles": func(d *sosgo.Dump, _ *sosgo.View, _ string) any { return d.OpenFiles(context.Background()) },
	"Pack": func(d *sosgo.Dump, _ *sosgo.View, _ string) any {
		p, err := d.Pack(canceled(), io.Discard, nil)
		return said(p != nil, err)
	},
	"PackFile": func(d *sosgo.Dump, _ *sosgo.View, where string) any {
		f, err := os.CreateTemp(where, "pack")
		if err != nil {
			return err
		}
		defer f.Close()
		p, _ := d.PackFile(canceled(), f.Name()+".new", nil)
		return p != nil
	},
	"Runtime":         func(d *sosgo.Dump, _ *sosgo.View, _ string) any { rt, err := d.Runtime(); return said(rt != nil, err) },
	"Lost":            func(d *sosgo.Dump, _ *sosgo.View, _ string) any { return d.Lost() },
	"Limited":         func(d *sosgo.Dump, _ *sosgo.View, _ string) any { return d.Limited() },
	"Runtimes":        func(d *sosgo.Dump, _ *sosgo.View, _ string) any { return len(d.Runtimes()) },
	"Scanner":         func(d *sosgo.Dump, _ *sosgo.View, _ string) any { s, err := d.Scanner(); return said(s != nil, err) },
	"SeveralRuntimes": func(d *sosgo.Dump, _ *sosgo.View, _ string) any { return d.SeveralRuntimes() },
	"Symbols":         func(d *sosgo.Dump, _ *sosgo.View, _ string) any { return d.Symbols() != nil },
	"Target":          func(d *sosgo.Dump, _ *sosgo.View, _ string) any { return d.Target().Process().ID },
	"Threads":         func(d *sosgo.Dump, _ *sosgo.View, _ string) any { t, err := d.Threads(); return said(len(t), err) },
	"Truncated":       func(d *sosgo.Dump, _ *sosgo.View, _ string) any { return d.Truncated() },
	"View":            func(d *sosgo.Dump, _ *sosgo.View, _ string) any { v, err := d.View("0"); return said(v != nil, err) },
	"WithMaxMemory":   func(d *sosgo.Dump, _ *sosgo.View, _ string) any { return d.WithMaxMemory(context.Background()).Err() },
	"Walker":          func(d *sosgo.Dump, _ *sosgo.View, _ string) any { w, err := d.Walker(); return said(w != nil, err) },
}

// viewCalls are the public methods of a View.
var viewCalls = map[string]call{
	"Dump":        func(_ *sosgo.Dump, v *sosgo.View, _ string) any { return v.Dump() != nil },
	"Memory":      func(d *sosgo.Dump, v *sosgo.View, _ string) any { return len(v.Process.Memory().Span(anAddress(d))) },
	"Target":      func(_ *sosgo.Dump, v *sosgo.View, _ string) any { return v.Target().Process().ID },
	"Premises":    func(_ *sosgo.Dump, v *sosgo.View, _ string) any { return len(v.Premises()) },
	"State":       func(_ *sosgo.Dump, v *sosgo.View, _ string) any { return v.State(answer.HeapWhole) },
	"StackState":  func(_ *sosgo.Dump, v *sosgo.View, _ string) any { return v.StackState(0) },
	"StackStates": func(_ *sosgo.Dump, v *sosgo.View, _ string) any { return len(v.StackStates()) },
	"Scanning": func(_ *sosgo.Dump, v *sosgo.View, _ string) any {
		return v.Scanning(context.Background(), "scanning", heap.ScanOptions{}).Jobs
	},
	"Crash": func(_ *sosgo.Dump, v *sosgo.View, _ string) any {
		c, err := crash.Describe(context.Background(), v.Process, crash.Options{})
		text, _ := json.Marshal(c)
		return said(string(text), err)
	},
	"Mask": func(_ *sosgo.Dump, v *sosgo.View, _ string) any {
		mask, err := sensitive.Mask(context.Background(), v.Process)
		return said(mask != nil && mask("Password=tiger-99") == "Password=<hidden>", err)
	},
	"SecretValues": func(_ *sosgo.Dump, v *sosgo.View, _ string) any {
		list, err := sensitive.SecretValues(context.Background(), v.Process)
		return said(len(list), err)
	},
	"BriefCrash": func(_ *sosgo.Dump, v *sosgo.View, _ string) any {
		return crash.DescribeBriefly(v.Process, crash.Options{}) != nil
	},
	"Diagnose": func(_ *sosgo.Dump, v *sosgo.View, _ string) any {
		return doctor.Of(v.Process, doctor.Options{Members: true}).Modules
	},
	"FoldedWalk": func(_ *sosgo.Dump, v *sosgo.View, _ string) any {
		return frames(slices.Collect(v.FoldedWalk(context.Background(), v.Dump().Target().Threads()[0].ID, stackwalk.WalkOptions{})))
	},
	"Graph": func(_ *sosgo.Dump, v *sosgo.View, _ string) any {
		g, err := v.Graph(context.Background(), graph.Options{})
		if err != nil {
			return err
		}
		r, err := g.Reach(context.Background())
		return said([]any{g.Objects(), g.Edges(), r != nil}, err)
	},
	"Holders": func(_ *sosgo.Dump, v *sosgo.View, _ string) any {
		h, err := v.Holders(context.Background(), graph.Options{})
		if err != nil {
			return err
		}
		r, err := h.Retained(context.Background(), graph.RetainedOptions{})
		text, _ := json.Marshal(r)
		return said(string(text), err)
	},
	"RootReader": func(_ *sosgo.Dump, v *sosgo.View, _ string) any {
		r, err := v.RootReader()
		if err != nil {
			return err
		}
		n := 0
		for range r.All(context.Background(), graph.RootOptions{Weak: true}) {
			n++
		}
		return n
	},
	"Heap": func(_ *sosgo.Dump, v *sosgo.View, _ string) any {
		h, err := v.Heap()
		if err != nil {
			return err
		}
		stats, err := h.Stats(context.Background(), nil, heap.ScanOptions{})
		var objects, bytes uint64
		for _, s := range stats.Types {
			objects, bytes = objects+uint64(s.Count), bytes+uint64(s.Size)
		}
		return said([]uint64{uint64(len(stats.Types)), objects, bytes}, err)
	},
	"HeapGraph": func(_ *sosgo.Dump, v *sosgo.View, _ string) any {
		g, err := memory.HeapGraph(context.Background(), v.Process, heap.ScanOptions{})
		return said(g != nil, err)
	},
	"Instance":     func(_ *sosgo.Dump, v *sosgo.View, _ string) any { i, err := v.Instance(); return said(i.Index, err) },
	"NativeWalker": func(_ *sosgo.Dump, v *sosgo.View, _ string) any { return v.NativeWalker() != nil },
	"Objects":      func(_ *sosgo.Dump, v *sosgo.View, _ string) any { o, err := v.Objects(); return said(o != nil, err) },
	"StressLog": func(_ *sosgo.Dump, v *sosgo.View, _ string) any {
		l, err := memory.StressLog(context.Background(), v.Process, 0)
		if err != nil {
			return err.Error()
		}
		return l.Enabled
	},
	"Resolve": func(d *sosgo.Dump, v *sosgo.View, _ string) any {
		return resolve.Address(context.Background(), v.Process, anAddress(d)).Kind
	},
	"Roots": func(_ *sosgo.Dump, v *sosgo.View, _ string) any {
		n, failed := 0, 0
		for _, err := range v.Roots(context.Background()) {
			if n++; err != nil {
				failed++
			}
		}
		return []int{n, failed}
	},
	"Runtime": func(_ *sosgo.Dump, v *sosgo.View, _ string) any { rt, err := v.Runtime(); return said(rt != nil, err) },
	"Shapes":  func(_ *sosgo.Dump, v *sosgo.View, _ string) any { s, err := v.Shapes(); return said(s != nil, err) },
	"Collections": func(_ *sosgo.Dump, v *sosgo.View, _ string) any {
		s, err := v.Collections()
		return said(s != nil, err)
	},
	"Scanner":    func(_ *sosgo.Dump, v *sosgo.View, _ string) any { s, err := v.Scanner(); return said(s != nil, err) },
	"StacksOnly": func(_ *sosgo.Dump, v *sosgo.View, _ string) any { return v.StacksOnly() },
	"Threads":    func(_ *sosgo.Dump, v *sosgo.View, _ string) any { t, err := v.Threads(); return said(len(t), err) },
	"CrashedThread": func(_ *sosgo.Dump, v *sosgo.View, _ string) any {
		t, err := v.CrashedThread()
		return said(t.ID(), err)
	},
	"Walk": func(_ *sosgo.Dump, v *sosgo.View, _ string) any {
		t, err := v.Threads()
		if err != nil {
			return err
		}
		return frames(slices.Collect(v.Walk(context.Background(), &t[0], stackwalk.WalkOptions{})))
	},
	"Walker": func(_ *sosgo.Dump, v *sosgo.View, _ string) any { w, err := v.Walker(); return said(w != nil, err) },
}

func said(v any, err error) string { return fmt.Sprint(v, " ", err) }

func frames(list []stackwalk.Frame) string {
	s := ""
	for _, f := range list {
		s += fmt.Sprint(f.SP, f.IP, f.Err, " ")
	}
	return s
}

func anAddress(d *sosgo.Dump) target.Addr { return d.Target().Modules()[0].Base }

func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// TestEveryMethodAtOnce calls every public method of a new dump and its view from 16 goroutines, each in its own
// order. Under -race, each result must equal the result of a single goroutine.
func TestEveryMethodAtOnce(t *testing.T) {
	for typ, calls := range map[reflect.Type]map[string]call{reflect.TypeFor[*sosgo.Dump](): dumpCalls, reflect.TypeFor[*sosgo.View](): viewCalls} {
		for m := range typ.Methods() {
			_, known := calls[m.Name]
			assert.True(t, known || m.Name == "Close" || isAnswer(m), "%v.%s is not called", typ, m.Name)
		}
	}
	names := []string{"net10-zoo", "win-net8-zoo", "sxs", "net10-crash-null-triage", "nativeaot-crash"}
	if !testcase.Complete() {
		names = names[2:4]
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			where := t.TempDir()
			c := testdump.Open(t, name)
			open := func() *sosgo.Dump {
				d, err := sosgo.Open(c.Plain(), c.Options())
				require.NoError(t, err)
				t.Cleanup(func() { d.Close() })
				return d
			}
			want := askAll(open(), where, 0)
			d := open()
			got := make([]map[string]any, 16)
			var wg sync.WaitGroup
			for i := range got {
				wg.Go(func() { got[i] = askAll(d, where, i) })
			}
			wg.Wait()
			for i := range got {
				for name := range want {
					assert.Equal(t, want[name], got[i][name], "%s of goroutine %d", name, i)
				}
			}
		})
	}
}

// isAnswer reports whether a method returns an answer and an error. Such methods take a context first.
func isAnswer(m reflect.Method) bool {
	return m.Type.NumIn() > 1 && m.Type.In(1) == reflect.TypeFor[context.Context]() && m.Type.NumOut() == 2
}

// answerCall calls a function that returns an answer, with zero values for the parameters after the process.
func answerCall(name string) call {
	return func(_ *sosgo.Dump, v *sosgo.View, _ string) any {
		out, err := answers.Call(context.Background(), name, v.Process)
		return said(!out.IsZero(), err)
	}
}

// callOf returns the call with a name: Dump.Method, View.Method, or a function that returns an answer.
func callOf(name string) call {
	if m, ok := strings.CutPrefix(name, "Dump."); ok {
		return dumpCalls[m]
	}
	if m, ok := strings.CutPrefix(name, "View."); ok {
		return viewCalls[m]
	}
	return answerCall(name)
}

// callNames lists the names of all calls, sorted.
func callNames() []string {
	var names []string
	for name := range dumpCalls {
		names = append(names, "Dump."+name)
	}
	for name := range viewCalls {
		names = append(names, "View."+name)
	}
	names = slices.AppendSeq(names, maps.Keys(answers.All))
	slices.Sort(names)
	return names
}

// askAll makes every call, starting at call number first.
func askAll(d *sosgo.Dump, where string, first int) map[string]any {
	out := map[string]any{}
	v, err := d.View("")
	list := callNames()
	if err != nil {
		list = slices.DeleteFunc(list, func(name string) bool { return !strings.HasPrefix(name, "Dump.") })
	}
	for i := range list {
		name := list[(i+first*7)%len(list)]
		out[name] = fmt.Sprint(callOf(name)(d, v, where))
	}
	return out
}
