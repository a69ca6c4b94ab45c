package sosgo_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/testdump"
	"github.com/sosgo/sosgo/roots"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// nativeView is the view of the canned NativeAOT process.
func nativeView(t *testing.T) *sosgo.View {
	v, err := testdump.Open(t, "nativeaot-crash").View("")
	require.NoError(t, err)
	return v
}

// TestNativeTypes names types as the program's source does: classes, nested ones, arrays
// and generic instances of them, and says in which assembly they are.
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

// TestNativeStack names the methods that the runtime itself named when it wrote the record
// of its crash, those of a catch block as the method that has it.
func TestNativeStack(t *testing.T) {
	v := nativeView(t)
	d := v.Dump()
	crash, err := v.Crash()
	require.NoError(t, err)
	require.NotNil(t, crash.Record)
	symbols := d.Symbols()
	named := 0
	for _, f := range append(crash.Record.Exception.Stack, crash.Record.Exception.Inner[0].Stack...) {
		s, ok := symbols.At(f.IP)
		require.True(t, ok)
		if s.Name != "" {
			named++
			assert.Equal(t, f.Name, s.Name)
			assert.Equal(t, f.Offset, s.Offset)
		}
	}
	assert.Equal(t, 2, named, "all but what reflection alone names")

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

// TestNativeThreads: of a thread the program tells which thread of the system it is and
// what it handles; what it does not tell is not given as if it were nothing.
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
		assert.True(t, m.Native)
		assert.Equal(t, list[i].OS.ID, m.OSID)
		if i > 0 {
			assert.Zero(t, m.LastThrown)
			continue
		}
		e, err := rt.Exception(m.LastThrown)
		require.NoError(t, err)
		assert.EqualValues(t, 0x80131509, e.HResult)
		inner, err := rt.NestedExceptions(m)
		require.NoError(t, err)
		assert.Equal(t, []target.Addr{e.Inner}, inner)
		_, err = rt.StackTrace(&e)
		require.ErrorIs(t, err, target.ErrUnsupported)
	}
	assert.Equal(t, 3, known)
}

// TestNativeRoots: the dictionary of the orders lives by a static field, which a handle
// leads to, and what stacks hold is only taken for references.
func TestNativeRoots(t *testing.T) {
	v := nativeView(t)
	kinds := map[roots.Kind]int{}
	for root, err := range v.Roots(context.Background()) {
		require.NoError(t, err)
		kinds[root.Kind]++
		if root.Kind == roots.KindStack || root.Kind == roots.KindThreadStatics {
			assert.True(t, root.Conservative)
		}
	}
	assert.NotZero(t, kinds[roots.KindHandle])
	assert.NotZero(t, kinds[roots.KindStack])
	assert.NotZero(t, kinds[roots.KindThreadStatics])
}
