package acceptance_test

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/app/threadpool"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// nativeView returns the view of the canned NativeAOT process.
func nativeView(t *testing.T) *sosgo.View {
	v, err := testdump.Open(t, "nativeaot-crash").View("")
	require.NoError(t, err)
	return v
}

// TestNativeTypes: types have the names in the program's source, including nested types, arrays and
// generic instances, and their assemblies.
func TestNativeTypes(t *testing.T) {
	v := nativeView(t)
	rt, err := v.Runtime()
	require.NoError(t, err)
	h, err := v.Heap()
	require.NoError(t, err)
	names := map[string]target.Addr{}
	for o, err := range h.Walk(context.Background(), nil) {
		require.NoError(t, err)
		name, err := rt.TypeName(o.Type.Addr, dac.NameManaged)
		require.NoError(t, err)
		names[name] = o.Type.Addr
	}
	const entries = "System.Collections.Generic.Dictionary<System.String, Order>+Entry[]"
	for _, want := range []string{"Order", "Program+<>c", "System.String", "System.Object[]", entries, "System.Threading.Thread", "Free", "<static fields>",
		"<thread static fields>", "System.Collections.Generic.Dictionary<System.String, Order>", "System.Runtime.CompilerServices.ClassConstructorRunner+Cctor[][]"} {
		assert.Contains(t, names, want)
	}
	native, err := rt.TypeName(names[entries], dac.NameNative)
	require.NoError(t, err)
	assert.Equal(t, "System.Collections.Generic.Dictionary`2+Entry[[System.String, System.Private.CoreLib],[Order, aot]][]", native)
	// Commands also look up types by the names of definitions.
	for name, want := range map[string]string{"Order": "Order", "Program+<>c": "Program+<>c", "System.String": "System.String", "<static fields>": "", entries: "", "Free": "",
		"System.Collections.Generic.Dictionary<System.String, Order>": "System.Collections.Generic.Dictionary`2"} {
		mt, err := rt.MethodTable(names[name])
		require.NoError(t, err)
		definition, err := rt.DefinitionName(mt)
		require.NoError(t, err, name)
		assert.Equal(t, want, definition, name)
	}
	base, err := rt.MethodTable(names["Order"])
	require.NoError(t, err)
	assert.Equal(t, rt.WellKnown().Object, base.Parent)

	r, err := v.Objects()
	require.NoError(t, err)
	found := 0
	for typ, err := range r.TypeByName("Order", "aot") {
		require.NoError(t, err)
		found++
		assert.Equal(t, names["Order"], typ.MT.Addr)
		_, err = typ.Fields()
		require.ErrorIs(t, err, target.ErrUnsupported, "its fields are not known, which is not that there are none")
	}
	assert.Equal(t, 1, found)
	for range r.TypeByName("Order", "System.Private.CoreLib") {
		t.Error("Order is of another assembly")
	}
}

// TestNativeShapes: types without objects in the program are reported as absent, although the
// fields of its objects are unknown.
func TestNativeShapes(t *testing.T) {
	v := nativeView(t)
	b, err := v.Shapes()
	require.NoError(t, err)
	h, err := v.Heap()
	require.NoError(t, err)
	type request struct {
		_ objects.Shape `of:"Microsoft.AspNetCore.Http.DefaultHttpContext"`
	}
	for f, err := range objects.BoundObjects[*request](t.Context(), b, h, nil, heap.ScanOptions{}) {
		assert.NoError(t, err)
		assert.Fail(t, "a request", "%x", uint64(f.Object.Addr))
	}
	type task struct {
		_ objects.Shape `of:"System.Threading.Tasks.Task"`
	}
	tasks := 0
	for _, err := range objects.BoundObjects[*task](t.Context(), b, h, nil, heap.ScanOptions{}) {
		require.NoError(t, err)
		tasks++
	}
	assert.Equal(t, 1, tasks, "by its name")
	type thread struct {
		_    objects.Shape    `of:"System.Threading.Thread"`
		Name objects.RefField `field:"_name"`
	}
	var errs []error
	for _, err := range objects.BoundObjects[*thread](t.Context(), b, h, nil, heap.ScanOptions{}) {
		errs = append(errs, err)
	}
	require.Len(t, errs, 1)
	assert.ErrorIs(t, errs[0], target.ErrUnsupported)
	assert.ErrorContains(t, errs[0], "objects of System.Threading.Thread: fields of ")
	assert.ErrorContains(t, errs[0], "no record of which fields its types have")
}

// TestNativeStack: methods have the names that the runtime wrote to its crash record. A catch block
// has the name of its method.
func TestNativeStack(t *testing.T) {
	v := nativeView(t)
	d := v.Dump()
	crash, err := crash.Read(v.Process, crash.Options{})
	require.NoError(t, err)
	require.NotNil(t, crash.Record)
	symbols := d.Symbols()
	named := 0
	for _, f := range append(crash.Record.Exception.Stack, crash.Record.Exception.Inner[0].Stack...) {
		s, ok := symbols.At(f.IP)
		require.True(t, ok)
		if s.Name != "" {
			named++
			assert.Equal(t, strings.Replace(f.Name, "String[] args", "String[]", 1), s.Name, "only reflection has the names of parameters")
			assert.Equal(t, f.Offset, s.Offset)
		}
	}
	assert.Equal(t, 3, named)

	list, err := v.Threads()
	require.NoError(t, err)
	w, err := v.Walker()
	require.NoError(t, err)
	var names []string
	for f := range w.Walk(context.Background(), list[0].Managed, list[0].OS.Registers, stackwalk.WalkOptions{}) {
		require.NoError(t, f.Err)
		s, _ := symbols.At(f.IP)
		names = append(names, s.Name)
	}
	stack := strings.Join(names, "\n")
	assert.Equal(t, 2, strings.Count(stack, "Program.Ship(Order, Int32)"), stack)
	assert.Contains(t, stack, "System.Runtime.EH.RhThrowEx(Object, EH+ExInfo&)")
	assert.Contains(t, stack, "__libc_start_main")
}

// TestNativeThreads: the program has a thread's OS id and its exception; unknown data are not
// reported as empty.
func TestNativeThreads(t *testing.T) {
	v := nativeView(t)
	rt, err := v.Runtime()
	require.NoError(t, err)
	list, err := v.Threads()
	require.NoError(t, err)
	require.Len(t, list, 4)
	known := 0
	for i := range list {
		m := list[i].Managed
		if m == nil {
			continue
		}
		known++
		assert.ErrorIs(t, m.Unknown, target.ErrUnsupported)
		assert.Equal(t, list[i].OS.ID, m.OSID)
		if i > 0 {
			assert.Zero(t, m.LastThrown)
			continue
		}
		e, err := rt.Exception(m.LastThrown)
		require.NoError(t, err)
		assert.EqualValues(t, uint32(0x80131509), e.HResult)
		inner, err := rt.NestedExceptions(m)
		require.NoError(t, err)
		assert.Equal(t, []target.Addr{e.Inner}, inner)
		trace, err := rt.StackTrace(&e)
		require.NoError(t, err)
		assert.Len(t, trace, 3)
	}
	assert.Equal(t, 3, known)
}

// TestNativeRoots: a handle for a static field keeps the dictionary of the orders alive; references
// on stacks are only possible ones.
func TestNativeRoots(t *testing.T) {
	v := nativeView(t)
	kinds := map[graph.RootKind]int{}
	for root, err := range v.Roots(context.Background()) {
		require.NoError(t, err)
		kinds[root.Kind]++
		if root.Kind == graph.RootStack || root.Kind == graph.RootThreadStatics {
			assert.True(t, root.Conservative)
		}
	}
	assert.NotZero(t, kinds[graph.RootHandle])
	assert.NotZero(t, kinds[graph.RootStack])
	assert.NotZero(t, kinds[graph.RootThreadStatics])
}

// TestNativeVersions reads crashed programs of .NET 8, 9 and 10: all types have names, threads are
// the system's, and an exception's stack trace equals the program's output.
func TestNativeVersions(t *testing.T) {
	testdump.Native(t, func(t *testing.T, d *testdump.Dump) {
		v, err := d.View("")
		require.NoError(t, err)
		rt, err := v.Runtime()
		require.NoError(t, err)
		assert.Equal(t, d.Case.Manifest.Runtime, rt.Instance().Version()+" NativeAOT")
		h, err := v.Heap()
		require.NoError(t, err)
		for o, err := range h.Walk(context.Background(), nil) {
			require.NoError(t, err)
			_, err = rt.TypeName(o.Type.Addr, dac.NameManaged)
			require.NoError(t, err)
			_, err = heap.ReadGCDesc(d.Memory(), o.Type)
			require.NoError(t, err, "what says that objects have references differs between versions")
		}
		pool, err := threadpool.Of(v.Process)
		require.NoError(t, err)
		p, err := pool.Describe(t.Context(), threadpool.Options{})
		require.NoError(t, err)
		queues := false
		for _, err := range rt.TypesNamed("System.Threading.ThreadPoolWorkQueue", "") {
			require.NoError(t, err)
			queues = true
		}
		assert.Equal(t, queues, p.Queued.Err() != nil, "static fields are not known")
		for _, verdict := range p.Verdicts {
			assert.NotEqual(t, answer.StrengthProved, verdict.Strength, "static fields are not known: %s", verdict.Text)
		}
		list, err := v.Threads()
		require.NoError(t, err)
		var thrown target.Addr
		for i := range list {
			if m := list[i].Managed; m != nil {
				require.NotNil(t, list[i].OS, "a thread of the program is one of the system")
				thrown = max(thrown, m.LastThrown)
			}
		}
		crashed, err := crash.Describe(t.Context(), v.Process, crash.Options{})
		require.NoError(t, err)
		recorded := 0
		for _, verdict := range crashed.Verdicts {
			if strings.HasPrefix(verdict.Text, "UnhandledException: ") {
				recorded++
				assert.Equal(t, answer.StrengthRecorded, verdict.Strength)
			}
		}
		assert.Equal(t, 1, recorded, "the program's own record")
		w, err := v.Walker()
		require.NoError(t, err)
		var running []*stackwalk.Thread
		for i := range list {
			if list[i].OS != nil {
				running = append(running, &list[i])
			}
		}
		merged, err := threads.ParallelStacks(context.Background(), w, running, threads.ParallelOptions{})
		require.NoError(t, err)
		names := ""
		for s, err := range merged.Stacks {
			require.NoError(t, err)
			for _, m := range s.Methods {
				names += m.S + "\n"
			}
		}
		assert.Contains(t, names, "System.Runtime.EH.DispatchEx(")
		assert.NotContains(t, names, "abort")
		refers := map[target.Addr]bool{}
		o, err := h.ObjectAt(thrown)
		require.NoError(t, err)
		for ref, err := range h.Edges(heap.EdgeOptions{}).Of(&o) {
			require.NoError(t, err)
			refers[ref.Target] = true
		}
		thing, err := rt.Exception(thrown)
		require.NoError(t, err)
		assert.True(t, refers[thing.Message], "an exception refers to its message")
		x, err := dac.CodeOf(rt).DescribeException(thrown, dac.ExceptionOptions{})
		require.NoError(t, err)
		var got []string
		for _, f := range x.Frames {
			if f.Method.Err == nil {
				got = append(got, fmt.Sprintf("%s + %#x", plainMethod(f.Method.S), *f.Offset))
			}
		}
		outer, inner := d.Case.Manifest.Output, strings.LastIndex(d.Case.Manifest.Output, "--- End of inner")
		if inner >= 0 {
			outer = outer[inner:]
		}
		var want []string
		for line := range strings.Lines(outer) {
			if frame, ok := strings.CutPrefix(strings.TrimSpace(line), "at "); ok {
				want = append(want, plainMethod(strings.Replace(frame, "String[] args", "String[]", 1)))
			}
		}
		assert.NotEmpty(t, want)
		assert.Equal(t, want, got)
	})
}

// typeArguments matches type arguments in metadata's form, which the programs do not print.
var typeArguments = regexp.MustCompile(`<[^<>]*>`)

// plainMethod converts the name of a method to a form that is common to both.
func plainMethod(s string) string {
	name, offset, _ := strings.Cut(s, " + ")
	name = strings.ReplaceAll(typeArguments.ReplaceAllString(name, ""), "+", ".")
	if offset == "" {
		return name
	}
	return name + " + " + offset
}

// TestNativeVersionUnwritten: the version of a program without a crash is in the constant for its
// crash record, or else in its core library.
func TestNativeVersionUnwritten(t *testing.T) {
	d := testdump.Open(t, "nativeaot-crash")
	inst := d.Runtimes()[0]
	record, err := inst.CrashRecord()
	require.NoError(t, err)
	at := addressOf(t, d, record)
	alive := d.Damaged(t, testdump.Damage{At: at, Bytes: []byte{0}})
	_, err = alive.Runtimes()[0].CrashRecord()
	require.ErrorIs(t, err, target.ErrUnsupported)
	assert.Contains(t, []string{"9.0.18", "9.0"}, alive.Runtimes()[0].Version())
	broken := d.Damaged(t, testdump.Damage{At: at, Bytes: []byte("{not JSON")})
	assert.Contains(t, []string{"9.0.18", "9.0"}, broken.Runtimes()[0].Version())
}

// addressOf returns the address of bytes in the dump.
func addressOf(t *testing.T, d *testdump.Dump, b []byte) target.Addr {
	for r := range d.Target().Regions() {
		if s := d.Memory().Span(r.Start); bytes.Contains(s, b) {
			return r.Start + target.Addr(bytes.Index(s, b))
		}
	}
	t.Fatal("the bytes are not in the dump")
	return 0
}

// TestNativeTraceDamaged: an impossible stack trace is rejected, and a rethrow is marked.
func TestNativeTraceDamaged(t *testing.T) {
	d := testdump.Open(t, "nativeaot-crash")
	v, err := d.View("")
	require.NoError(t, err)
	list, err := v.Threads()
	require.NoError(t, err)
	thrown := list[0].Managed.LastThrown
	array, err := target.Pointer(d.Memory(), thrown+64)
	require.NoError(t, err)
	trace := func(damage ...testdump.Damage) ([]dac.TraceFrame, error) {
		v, err := d.Damaged(t, damage...).View("")
		require.NoError(t, err)
		rt, err := v.Runtime()
		require.NoError(t, err)
		e, err := rt.Exception(thrown)
		require.NoError(t, err)
		return rt.StackTrace(&e)
	}
	again, err := trace(testdump.Words(array+24, ^uint64(0)))
	require.NoError(t, err)
	require.Len(t, again, 2)
	assert.True(t, again[0].Foreign)
	assert.False(t, again[1].Foreign)
	short, err := trace(testdump.Words(array+32, 0x1234))
	require.ErrorIs(t, err, target.ErrCorrupt)
	assert.Len(t, short, 2)
	_, err = trace(testdump.Damage{At: thrown + 76, Bytes: []byte{0xff, 0xff, 0xff, 0x7f}})
	require.ErrorIs(t, err, target.ErrCorrupt)
}
