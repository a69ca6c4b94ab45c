package ondumps_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// eachScenario calls f for the dumps of a scenario with the heap.
func eachScenario(t *testing.T, scenario string, f func(t *testing.T, d *testdump.Dump)) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		if d.Manifest.Scenario != scenario || !d.HasHeap() {
			t.Skip("another scenario, or no heap")
		}
		f(t, d)
	})
}

// fact returns the address of an object in the manifest.
func fact(t *testing.T, d *testdump.Dump, name string) target.Addr {
	facts := d.Manifest.Objects()
	i := slices.IndexFunc(facts, func(o testcase.ObjectFact) bool { return o.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return facts[i].Addr
}

// values returns the names, types and values of variables.
func values(list []answer.Variable) (names, types, text []string) {
	for i := range list {
		names, types, text = append(names, list[i].Name), append(types, list[i].Type.String()), append(text, list[i].Value)
	}
	return names, types, text
}

// TestDescribeArguments: the scenario "zoo" waits in a method with arguments that its source and the manifest
// determine.
func TestDescribeArguments(t *testing.T) {
	eachScenario(t, "zoo", func(t *testing.T, d *testdump.Dump) {
		seen := 0
		framesOf(t, d.Dump, "Hold", func(f *stackwalk.Frame, _ *objects.Reader) {
			seen++
			var gaps answer.Gaps
			row := threads.NewDescriber(threads.DescribeOptions{Registers: true, Arguments: true, Locals: true}, &gaps).Frame(f)
			assert.Equal(t, answer.FrameManaged, row.Kind)
			assert.True(t, strings.HasPrefix(row.Method.String(), "Debuggee.Zoo.Scenario.Hold("), row.Method)
			assert.Equal(t, "Debuggee.dll", row.Module)
			assert.Equal(t, f.Code.Method.Addr, row.MethodDesc)
			assert.Equal(t, uint64(f.Code.Offset), *row.Offset)
			sp, _ := row.Registers.SP()
			assert.Equal(t, f.SP, sp)
			assert.False(t, row.Guessed)
			names, types, text := values(row.Arguments)
			assert.Equal(t, []string{"segments", "text", "number", "color"}, names)
			assert.Equal(t, []string{"Debuggee.Zoo.Segment[]", "System.String", "System.Double", "Debuggee.Zoo.Color"}, types)
			assert.Equal(t, "0x"+fact(t, d, "stack only").String()+" Debuggee.Zoo.Segment[2]", text[0])
			assert.True(t, strings.HasSuffix(text[1], ` "argument string"`), text[1])
			assert.Equal(t, []string{"12.5", "Blue"}, text[2:])
			assert.Equal(t, answer.Hex(fact(t, d, "stack only")), row.Arguments[0].Word)
		})
		assert.Equal(t, 1, seen)
	})
}

// TestDescribeManyArguments looks at arguments of every kind, and at locals.
func TestDescribeManyArguments(t *testing.T) {
	eachScenario(t, "stacks", func(t *testing.T, d *testdump.Dump) {
		seen := 0
		framesOf(t, d.Dump, "ManyArguments", func(f *stackwalk.Frame, _ *objects.Reader) {
			seen++
			var gaps answer.Gaps
			row := threads.NewDescriber(threads.DescribeOptions{Arguments: true, Locals: true}, &gaps).Frame(f)
			assert.Empty(t, gaps.Noted())
			_, types, text := values(row.Arguments)
			assert.Equal(t, []string{"System.Int32", "System.Double", "System.String", "Debuggee.Zoo.Point", "System.Int64", "System.Byte",
				"System.Int16", "System.Single", "Debuggee.Zoo.Segment", "System.Object"}, types)
			assert.True(t, strings.HasSuffix(text[2], ` "three"`), text[2])
			assert.Contains(t, text[8], `Label="ten"`)
			text[2], text[8] = "", ""
			assert.Equal(t, []string{"1", "2.5", "", "{X=4, Y=5}", "6", "7", "8", "9", "", "null"}, text)
			_, _, text = values(row.Locals)
			require.GreaterOrEqual(t, len(text), 2)
			assert.Equal(t, "8", text[0])
			assert.True(t, strings.HasSuffix(text[1], ` "three8"`), text[1])
			assert.True(t, row.Registers.IsZero(), "were not asked for")
		})
		assert.Equal(t, 1, seen)
	})
}

// TestDescribeVariablesInRegisters: the thread "spinning" was stopped in its loop, with variables in registers.
func TestDescribeVariablesInRegisters(t *testing.T) {
	d := testdump.Open(t, "net10-stacks")
	seen := 0
	framesOf(t, d.Dump, "Step", func(f *stackwalk.Frame, _ *objects.Reader) {
		seen++
		var gaps answer.Gaps
		row := threads.NewDescriber(threads.DescribeOptions{Arguments: true, Locals: true}, &gaps).Frame(f)
		require.Len(t, row.Arguments, 2)
		assert.Equal(t, "rdi", row.Arguments[0].Register)
		assert.Zero(t, row.Arguments[0].Address)
		assert.True(t, strings.HasSuffix(row.Arguments[0].Value, " System.String[4]"), row.Arguments[0].Value)
		rdi, _ := f.Regs.Get(target.RDI)
		assert.Equal(t, answer.Hex(rdi), row.Arguments[0].Word)
		for _, l := range row.Locals {
			assert.Equal(t, answer.VariableNoData, l.State)
			assert.Empty(t, l.Value, "no value is not zero")
		}

		lost := *f
		lost.Regs = target.Registers{Arch: f.Regs.Arch}
		row = threads.NewDescriber(threads.DescribeOptions{Arguments: true}, &gaps).Frame(&lost)
		assert.Equal(t, answer.VariableState("not supported"), row.Arguments[0].State)
		assert.ErrorIs(t, row.Arguments[0].WordErr, target.ErrUnsupported)
		assert.Empty(t, row.Arguments[0].Value)
	})
	assert.Equal(t, 1, seen)
}

// TestGenericContext: code that instantiations share has the exact arguments of its type if the frame keeps this, and
// the shared ones otherwise. Arguments that are not shared are always known.
func TestGenericContext(t *testing.T) {
	eachScenario(t, "stacks", func(t *testing.T, d *testdump.Dump) {
		rt, err := d.Runtime()
		require.NoError(t, err)
		var got []string
		var gaps answer.Gaps
		describer := threads.NewDescriber(threads.DescribeOptions{}, &gaps)
		framesOf(t, d.Dump, "Go", func(f *stackwalk.Frame, _ *objects.Reader) {
			row := describer.Frame(f)
			if strings.Contains(row.Method.S, "Work`1") {
				assert.Contains(t, row.Method.S, "System.__Canon", "it is what SOS prints")
			}
			c, err := f.GenericContext()
			require.NoError(t, err)
			for _, a := range c.TypeArgs {
				name, err := rt.TypeName(a, dac.NameManaged)
				require.NoError(t, err)
				got = append(got, name)
				name, err = rt.TypeName(a, dac.NameNative)
				require.NoError(t, err)
				assert.Contains(t, row.Name(), "Work`1[["+name+", System.Private.CoreLib]].Go()")
			}
			assert.Empty(t, c.MethodArgs)
		})
		slices.Sort(got)
		exact := []string{"System.Collections.Generic.KeyValuePair<System.Int32, System.String>", "System.Object"}
		assert.Equal(t, exact, got)
	})
}

// TestDescribePretty: compiler-generated names are formatted as in the source.
func TestDescribePretty(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	seen := 0
	framesOf(t, d.Dump, "<Run>b__1", func(f *stackwalk.Frame, _ *objects.Reader) {
		seen++
		var gaps answer.Gaps
		plain := threads.NewDescriber(threads.DescribeOptions{}, &gaps).Frame(f)
		pretty := threads.NewDescriber(threads.DescribeOptions{Pretty: true}, &gaps).Frame(f)
		assert.Contains(t, plain.Method.S, "<Run>b__1")
		assert.NotContains(t, pretty.Method.S, "b__1")
		assert.Contains(t, pretty.Method.S, "Run")
	})
	assert.Equal(t, 1, seen)
}

// TestDescribeRoots: the precise references of the waiting frame are the arguments in its source.
func TestDescribeRoots(t *testing.T) {
	eachScenario(t, "zoo", func(t *testing.T, d *testdump.Dump) {
		want := fact(t, d, "stack only")
		r, err := d.Objects()
		require.NoError(t, err)
		found := 0
		eachStack(t, d.Dump, func(w *stackwalk.Walker, th *stackwalk.Thread) {
			for root, err := range w.Roots(context.Background(), th.Managed, th.OS.Registers) {
				if err != nil || root.Object != want {
					continue
				}
				var gaps answer.Gaps
				row := threads.DescribeRoot(&root, r, &gaps)
				assert.Empty(t, gaps.Noted())
				assert.Equal(t, "Debuggee.Zoo.Segment[]", row.Type.String())
				assert.Equal(t, want, row.Object)
				assert.NotEmpty(t, row.Place)
				assert.False(t, row.Value.Present, "it is no string")
				found++
			}
		})
		assert.NotZero(t, found)

		var gaps answer.Gaps
		row := threads.DescribeRoot(&stackwalk.Root{Object: 0x10}, r, &gaps)
		assert.Error(t, row.Type.Err)
		assert.Len(t, gaps.Noted(), 1)
		row = threads.DescribeRoot(&stackwalk.Root{Object: want + 8, Interior: true, Explicit: "GCFrame"}, r, &gaps)
		assert.True(t, row.Type.IsZero(), "what points inside an object has no type")
		assert.Empty(t, row.Place)
	})
}

// TestDebugStack: it has the managed frames of a walk, and frames for explicit frames between them.
func TestDebugStack(t *testing.T) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		if !d.HasHeap() {
			t.Skip("no runtime, or no heap")
		}
		labels := map[string]int{}
		eachStack(t, d.Dump, func(w *stackwalk.Walker, th *stackwalk.Thread) {
			var want, got []target.Addr
			for f := range w.Walk(context.Background(), th.Managed, th.OS.Registers, stackwalk.WalkOptions{}) {
				if f.Kind == stackwalk.FrameManaged {
					want = append(want, f.SP)
				}
			}
			var gaps answer.Gaps
			var last target.Addr
			for f, err := range w.DebugStack(context.Background(), th.Managed, th.OS.Registers, stackwalk.WalkOptions{Now: true}, &gaps) {
				if err != nil {
					assert.ErrorIs(t, err, stackwalk.ErrSnapshotNoManagedFrames)
					continue
				}
				assert.GreaterOrEqual(t, f.SP, last, "in the order of the stack")
				last = f.SP
				switch {
				case f.Label != "":
					labels[f.Label]++
				case !f.Native:
					got = append(got, f.SP)
					assert.NotEmpty(t, f.Method.String())
					assert.Equal(t, f.Unnamed, f.Module.IsZero(), "%s", f.Method)
				}
			}
			assert.Equal(t, want, got)
		})
		assert.NotZero(t, labels["Managed to Unmanaged transition"]+labels["Internal call"], "Thread.Sleep leaves managed code")
	})
}

// TestDebugStackThrow: before .NET 10 managed code throws through a helper of the runtime with a labelled frame.
func TestDebugStackThrow(t *testing.T) {
	for _, name := range []string{"net9-zoo", "net8-zoo", "net31-zoo", "win-net8-zoo"} {
		over, memory := testdump.OpenOverlaid(t, name)
		rt, err := over.Runtime()
		require.NoError(t, err)
		offset, err := rt.Layout().Offset("HelperMethodFrame", "Attribs")
		require.NoError(t, err)
		frames := 0
		eachStack(t, over, func(w *stackwalk.Walker, th *stackwalk.Thread) {
			labels := func() (out []string) {
				var gaps answer.Gaps
				for f := range w.DebugStack(t.Context(), th.Managed, th.OS.Registers, stackwalk.WalkOptions{Now: true}, &gaps) {
					if f.Label != "" {
						out = append(out, f.Label)
					}
				}
				return out
			}
			for f := range rt.Frames(th.Managed) {
				if f.Kind == dac.FrameHelper {
					frames++
					memory.Set()
					was := labels()
					memory.Set(testdump.Damage{At: f.Addr + target.Addr(offset), Bytes: []byte{0x21}})
					assert.Equal(t, "Internal call", was[0], name)
					assert.Equal(t, "Exception", labels()[0], name)
					break
				}
			}
		})
		assert.NotZero(t, frames, name)
	}
}

// TestDebugStackNames: methods have their names in metadata.
func TestDebugStackNames(t *testing.T) {
	for _, name := range []string{"net10-zoo", "win-net10-zoo"} {
		d := testdump.Open(t, name)
		var names []string
		eachStack(t, d.Dump, func(w *stackwalk.Walker, th *stackwalk.Thread) {
			var gaps answer.Gaps
			for f, err := range w.DebugStack(context.Background(), th.Managed, th.OS.Registers, stackwalk.WalkOptions{Now: true}, &gaps) {
				if err == nil {
					names = append(names, f.Method.String())
				}
			}
			ended, cancel := context.WithCancel(context.Background())
			cancel()
			var last error
			for _, err := range w.DebugStack(ended, th.Managed, th.OS.Registers, stackwalk.WalkOptions{Now: true}, &gaps) {
				last = err
			}
			assert.ErrorIs(t, last, context.Canceled)
		})
		for _, want := range []string{
			"[DEFAULT] Void System.Threading.Thread.Sleep(I4)",
			"[DEFAULT] Void Debuggee.Zoo.Scenario.Hold(SZArray ValueType Debuggee.Zoo.Segment,String,R8,ValueType Debuggee.Zoo.Color)",
			"[DEFAULT] I4 Debuggee.Program.Main(SZArray String)",
			"[DEFAULT] [hasThis] Void System.Threading.Thread.StartCallback()",
		} {
			assert.Contains(t, names, want)
		}
	}
}

// TestStackTree merges the stacks of the canned dump "stacks": threads share their outermost callers, and each has one
// leaf.
func TestStackTree(t *testing.T) {
	for _, name := range []string{"net10-stacks", "win-net10-zoo"} {
		d := testdump.Open(t, name)
		rt, err := d.Runtime()
		require.NoError(t, err)
		var tree threads.StackTree
		managed := func(f *stackwalk.Frame) bool { return f.Kind == stackwalk.FrameManaged }
		frames := map[uint32]int{}
		eachStack(t, d.Dump, func(w *stackwalk.Walker, th *stackwalk.Thread) {
			walk := w.Walk(context.Background(), th.Managed, th.OS.Registers, stackwalk.WalkOptions{})
			require.NoError(t, tree.Add(th.ID(), walk, managed))
			for f := range walk {
				if managed(&f) {
					frames[th.ID()]++
				}
			}
		})
		assert.Len(t, tree.Threads, len(frames))
		own := map[uint32]int{}
		var down func(nodes []*threads.StackNode, depth int)
		down = func(nodes []*threads.StackNode, depth int) {
			for _, n := range nodes {
				for _, id := range n.Own() {
					own[id]++
					assert.Equal(t, frames[id], depth, "thread %x stands as deep as its walk is long", id)
				}
				short, err := stackwalk.ShortName(rt, n.Method)
				require.NoError(t, err)
				assert.NotContains(t, short[strings.LastIndexByte(short, '('):], ".", "parameters have no namespaces")
				down(n.Calls, depth+1)
			}
		}
		down(tree.Roots, 1)
		for _, id := range tree.Threads {
			assert.Equal(t, 1, own[id], "thread %x", id)
		}
		assert.Less(t, len(tree.Roots), len(tree.Threads), "threads share their outermost callers")
	}
}

// TestDescribeSpans: a span shows its length and its elements, or its text (Stacks.cs, Spans).
func TestDescribeSpans(t *testing.T) {
	eachScenario(t, "stacks", func(t *testing.T, d *testdump.Dump) {
		seen := 0
		framesOf(t, d.Dump, "Spans", func(f *stackwalk.Frame, _ *objects.Reader) {
			var gaps answer.Gaps
			_, types, text := values(threads.NewDescriber(threads.DescribeOptions{Locals: true}, &gaps).Frame(f).Locals)
			for i, name := range types {
				switch name {
				case "System.Span<System.Byte>":
					assert.True(t, strings.HasPrefix(text[i], "(64) {0, 0, 0, 9, 0, "), text[i])
					seen++
				case "System.ReadOnlySpan<System.Char>":
					assert.Equal(t, `"text"`, text[i])
					seen++
				}
			}
		})
		assert.Equal(t, 2, seen)
	})
}
