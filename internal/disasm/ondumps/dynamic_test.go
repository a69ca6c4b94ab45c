package ondumps_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/disasm"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// emitted is the IL of the DynamicMethod of the program of net10-stacks.
var emitted = []string{
	"0 ldarg.0 ",
	"1 call 6000002 Debuggee.Stacks.Scenario.Park(System.String)",
	"6 ldarg.0 ",
	"7 call 6000003 System.GC.KeepAlive(System.Object)",
	"12 ret ",
}

// expression is the IL of a compiled expression of the program.
var expression = []string{
	`0 ldstr 70000002 "expression"`,
	"5 call 6000003 Debuggee.Stacks.Scenario.Park(System.String)",
	`10 ldstr 70000004 "expression"`,
	"15 call 6000005 Debuggee.Stacks.Scenario.Park(System.String)",
	"20 ret ",
}

// withStacks opens the dump with dynamic methods on its stacks.
func withStacks(t *testing.T) (*dac.Runtime, *objects.Reader, *disasm.Lister, *testdump.Dump) {
	d := testdump.Open(t, "net10-stacks")
	rt, err := d.Runtime()
	require.NoError(t, err)
	r, err := d.Objects()
	require.NoError(t, err)
	return rt, r, disasm.NewLister(rt, r), d
}

// lines returns the instructions of IL.
func lines(t *testing.T, il *answer.IL) []string {
	t.Helper()
	var out []string
	for in, err := range il.Instructions {
		require.NoError(t, err)
		out = append(out, fmt.Sprintf("%d %s %s", in.Offset, in.Opcode, in.Operand))
	}
	require.NoError(t, il.Failure())
	return out
}

// dynamicMethods returns the compiled dynamic methods by their names.
func dynamicMethods(t *testing.T, rt *dac.Runtime) map[string]*dac.MethodDesc {
	t.Helper()
	out := map[string]*dac.MethodDesc{}
	for info, err := range dac.CodeOf(rt).JITCode() {
		if err != nil { // the headers of some images are not in the dump
			assert.ErrorIs(t, err, target.ErrNotInDump)
			continue
		}
		if info.Method == nil {
			continue
		}
		if lcg, err := info.Method.IsLCG(); err == nil && lcg {
			name, err := dac.CodeOf(rt).MethodName(info.Method, dac.MethodFull)
			require.NoError(t, err)
			out[name] = info.Method
		}
	}
	return out
}

// TestDynamicMethodDesc: the IL of a DynamicMethod comes from its resolver, and its tokens number the objects of its
// scope.
func TestDynamicMethodDesc(t *testing.T) {
	rt, r, l, _ := withStacks(t)
	methods := dynamicMethods(t, rt)
	for name, want := range map[string][]string{
		"DynamicClass.emitted(System.String)":                                  emitted,
		"DynamicClass.lambda_method1(System.Runtime.CompilerServices.Closure)": expression,
	} {
		m := methods[name]
		require.NotNil(t, m, name)
		il, err := l.IL(m.Addr)
		require.NoError(t, err)
		assert.Equal(t, answer.Of(name, nil), il.Name)
		assert.Equal(t, m.Addr, il.MethodDesc)
		assert.True(t, il.Dynamic)
		assert.Equal(t, want, lines(t, il))
		items, err := r.Object(il.Items.Value)
		require.NoError(t, err)
		_, err = items.Array()
		assert.NoError(t, err)
	}
}

// TestDynamicObjects: a DynamicMethod and its resolver lead to the same IL. Other objects of System.Reflection.Emit are
// not methods.
func TestDynamicObjects(t *testing.T) {
	rt, r, l, d := withStacks(t)
	h, err := d.Heap()
	require.NoError(t, err)
	found := map[string]int{}
	for at, err := range h.Objects() {
		require.NoError(t, err)
		o, err := r.Of(at)
		require.NoError(t, err)
		name, err := rt.TypeName(o.Type.MT.Addr, dac.NameNative)
		if err != nil || !strings.HasPrefix(name, "System.Reflection.Emit.Dynamic") {
			continue
		}
		il, err := l.IL(o.Addr)
		if name != "System.Reflection.Emit.DynamicMethod" && name != "System.Reflection.Emit.DynamicResolver" {
			var none *disasm.NoMethodError
			require.ErrorAs(t, err, &none, name)
			assert.Contains(t, none.Error(), "is not a MethodDesc")
			continue
		}
		require.NoError(t, err, name)
		assert.Zero(t, il.MethodDesc)
		assert.ErrorIs(t, il.Name.Err(), target.ErrUnsupported)
		if got := lines(t, il); strings.Contains(got[0], "ldarg") {
			assert.Equal(t, emitted, got)
		} else {
			assert.Equal(t, expression, got)
		}
		found[name]++
	}
	assert.Equal(t, map[string]int{"System.Reflection.Emit.DynamicMethod": 2, "System.Reflection.Emit.DynamicResolver": 2}, found)
}

// TestDynamicCode: the machine code of a DynamicMethod calls the methods that its IL calls, except GC.KeepAlive, which
// the compiler removes.
func TestDynamicCode(t *testing.T) {
	rt, _, l, _ := withStacks(t)
	m := dynamicMethods(t, rt)["DynamicClass.emitted(System.String)"]
	require.NotNil(t, m)
	d, err := l.Method(context.Background(), m.Addr, disasm.MethodOptions{})
	require.NoError(t, err)
	var names []string
	for in, err := range d.Instructions {
		require.NoError(t, err)
		if in.Name != "" {
			names = append(names, in.Text+" "+in.Name)
		}
	}
	assert.Equal(t, []string{
		"call    qword ptr [0x7f27f4827e58] Debuggee.Stacks.Scenario.Park(System.String), mdToken: 06000049",
	}, names)
}

// TestILAt: the IL at an address is the method's. In the image of a module its tokens have the same names.
func TestILAt(t *testing.T) {
	n := 0
	eachMethod(t, func(t *testing.T, l *disasm.Lister, m *dac.MethodDesc) {
		il, err := l.IL(m.Addr)
		if err != nil || il.NoBody || il.Address.Err() != nil {
			return
		}
		at, err := l.ILAt(il.Address.Value)
		require.NoError(t, err)
		assert.Equal(t, lines(t, il), lines(t, at))
		assert.Equal(t, il.CodeSize, at.CodeSize)
		assert.Equal(t, il.Clauses, at.Clauses)
		assert.Equal(t, il.Locals == nil, at.Locals == nil)
		assert.ErrorIs(t, at.Name.Err(), target.ErrUnsupported)
		n++
	})
	assert.NotZero(t, n)
}

// TestILNowhere: an address without memory in the dump has no IL.
func TestILNowhere(t *testing.T) {
	_, _, l, _ := withStacks(t)
	_, err := l.ILAt(8)
	require.ErrorIs(t, err, target.ErrCorrupt)
}

// TestDynamicWithoutItems: if the list of a scope has no array, the IL has the numbers of its tokens and an error.
func TestDynamicWithoutItems(t *testing.T) {
	rt, r, _, d := withStacks(t)
	m := dynamicMethods(t, rt)["DynamicClass.emitted(System.String)"]
	require.NotNil(t, m)
	at, err := dac.CodeOf(rt).DynamicResolver(m)
	require.NoError(t, err)
	resolver, err := r.Object(at)
	require.NoError(t, err)
	scope, err := resolver.Field("m_scope").Object()
	require.NoError(t, err)
	list, err := scope.Field("m_tokens").Object()
	require.NoError(t, err)
	items, err := list.Field("_items").Addr()
	require.NoError(t, err)
	word := list.Addr + 8 // the first reference of a List
	got, err := target.Pointer(d.Memory(), word)
	require.NoError(t, err)
	require.Equal(t, items, got)

	damaged, err := testdump.Patched(t, "net10-stacks", map[target.Addr][]byte{word: make([]byte, 8)}).Runtime()
	require.NoError(t, err)
	for _, a := range []target.Addr{m.Addr, at} {
		il, err := disasm.NewLister(damaged, objects.New(damaged)).IL(a)
		require.NoError(t, err)
		require.Error(t, il.Items.Err())
		require.Equal(t, []string{"0 ldarg.0 ", "1 call 6000002", "6 ldarg.0 ", "7 call 6000003", "12 ret "}, lines(t, il))
		require.NotEmpty(t, il.Noted())
	}
}

// TestDynamicFaults: if a part on the way to it is missing, the IL of a dynamic method is absent, or a token has no
// name. It is never another method's.
func TestDynamicFaults(t *testing.T) {
	rt, _, _, _ := withStacks(t)
	m := dynamicMethods(t, rt)["DynamicClass.emitted(System.String)"]
	require.NotNil(t, m)
	testdump.Faults(t, "net10-stacks", 120, func(rt *dac.Runtime, a *testdump.Answers) {
		il, err := disasm.NewLister(rt, objects.New(rt)).IL(m.Addr)
		if err != nil {
			a.Add("IL", nil, err)
			return
		}
		a.Add("name", il.Name.Value, il.Name.Err())
		a.Add("items", il.Items.Value, il.Items.Err())
		for in := range il.Instructions {
			at := fmt.Sprint("instruction ", in.Offset)
			a.Add(at, fmt.Sprint(in.Opcode, in.Token), nil)
			if in.Token == 0 {
				continue
			}
			_, name, _ := strings.Cut(in.Operand.String(), " ")
			a.Add(at+": name", name, errors.Join(il.Noted()...))
		}
		a.Add("instructions", "all", il.Failure())
	})
}
