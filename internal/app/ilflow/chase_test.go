package ilflow

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestChases checks which loops end only at null, in the forms in which compilers write them.
func TestChases(t *testing.T) {
	const nop, ldloc0, ldloc1, stloc0, stloc1, ldlocaS, ldarg0, stargS, ldargS = 0x00, 0x06, 0x07, 0x0A, 0x0B, 0x12, 0x02, 0x10, 0x0E
	const ldnull, dup, ret, call, ldfld, stfld, pop, two = 0x14, 0x25, 0x2A, 0x28, 0x7B, 0x7D, 0x26, 0xFE
	const br, brfalse, brtrue, beq, bneUn, ceq, cgtUn = 0x2B, 0x2C, 0x2D, 0x2E, 0x33, 0x01, 0x03
	const ldci0, ldsfld, ldflda, stindRef, ldelemI4, castclass, div, add, leaveS = 0x16, 0x7E, 0x7C, 0x51, 0x94, 0x74, 0x5B, 0x58, 0xDE
	back := func(n int) byte { return byte(-n) }
	local, argument := Variable{Number: 0}, Variable{Argument: true, Number: 0}
	for name, c := range map[string]struct {
		il   []byte
		want []Chase
	}{
		"for (; x != null; x = x.next), optimised": {[]byte{br, 7, ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brtrue, back(10), ret},
			[]Chase{{Variable: local, Field: 0x04000001, OnlyNull: true}}},
		"the same, as compiled for debugging": {[]byte{br, 7, ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, ldnull, two, cgtUn, stloc1, ldloc1, brtrue, back(15), ret},
			[]Chase{{Variable: local, Field: 0x04000001, OnlyNull: true}}},
		"while (x.next != null) x = x.next": {[]byte{br, 8, ldarg0, ldfld, 1, 0, 0, 4, stargS, 0, ldarg0, ldfld, 1, 0, 0, 4, brtrue, back(16), ret},
			[]Chase{{Variable: argument, Field: 0x04000001, OnlyNull: true}}},
		"while ((x = x.next) != null)": {[]byte{ldloc0, ldfld, 1, 0, 0, 4, dup, stloc0, brtrue, back(10), ret},
			[]Chase{{Variable: local, Field: 0x04000001, OnlyNull: true}}},
		"while (true) if (x == null) break": {[]byte{ldloc0, ldnull, beq, 9, ldloc0, ldfld, 1, 0, 0, 4, stloc0, br, back(13), ret},
			[]Chase{{Variable: local, Field: 0x04000001, OnlyNull: true}}},
		"of an argument": {[]byte{ldarg0, ldfld, 1, 0, 0, 4, stargS, 0, ldargS, 0, brtrue, back(12), ret},
			[]Chase{{Variable: argument, Field: 0x04000001, OnlyNull: true}}},
		"with a call": {[]byte{nop, call, 1, 0, 0, 6, ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brtrue, back(15), ret},
			[]Chase{{Variable: local, Field: 0x04000001, OnlyNull: true, Calls: true}}},
		"while (x != y)": {[]byte{ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, ldloc1, bneUn, back(11), ret},
			[]Chase{{Variable: local, Field: 0x04000001, Compares: true}}},
		"do … while (x != null && x != this.head)": {[]byte{ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brfalse, 9, ldloc0, ldarg0, ldfld, 2, 0, 0, 4, bneUn, back(19), ret},
			[]Chase{{Variable: local, Field: 0x04000001, Compares: true, Throws: true}}},
		"if (x.next == y) break": {[]byte{ldloc0, ldfld, 1, 0, 0, 4, ldloc1, beq, 9, ldloc0, ldfld, 1, 0, 0, 4, stloc0, br, back(18), ret},
			[]Chase{{Variable: local, Field: 0x04000001, Compares: true}}},
		"if (x.id == y) break": {[]byte{ldloc0, ldfld, 2, 0, 0, 4, ldloc1, beq, 9, ldloc0, ldfld, 1, 0, 0, 4, stloc0, br, back(18), ret},
			[]Chase{{Variable: local, Field: 0x04000001}}},
		"while (x.value != null)": {[]byte{ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, ldfld, 2, 0, 0, 4, brtrue, back(15), ret},
			[]Chase{{Variable: local, Field: 0x04000001}}},
		"while ((y ? x : z) != null)": {[]byte{ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc1, brtrue, 4, ldarg0, nop, br, 1, ldloc0, brtrue, back(17), ret},
			[]Chase{{Variable: local, Field: 0x04000001}}},
		"flag = y ? false : x != null": {[]byte{ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brfalse, 4, ldci0, stloc1, br, 5, ldloc0, ldnull, two, cgtUn, stloc1, ldloc1, brtrue, back(22), ret},
			[]Chase{{Variable: local, Field: 0x04000001}}},
		"a[0] in the body": {[]byte{ldloc1, ldci0, ldelemI4, pop, ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brtrue, back(14), ret},
			[]Chase{{Variable: local, Field: 0x04000001, OnlyNull: true, Throws: true}}},
		"a quotient in the body": {[]byte{ldci0, ldloc1, div, pop, ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brtrue, back(14), ret},
			[]Chase{{Variable: local, Field: 0x04000001, OnlyNull: true, Throws: true}}},
		"a half in the body": {[]byte{ldloc1, ldci0 + 2, div, pop, ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brtrue, back(14), ret},
			[]Chase{{Variable: local, Field: 0x04000001, OnlyNull: true}}},
		"a division by zero in the body": {[]byte{ldloc1, ldci0, div, pop, ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brtrue, back(14), ret},
			[]Chase{{Variable: local, Field: 0x04000001, OnlyNull: true, Throws: true}}},
		"a cast in the body": {[]byte{ldloc1, castclass, 1, 0, 0, 2, pop, ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brtrue, back(17), ret},
			[]Chase{{Variable: local, Field: 0x04000001, OnlyNull: true, Throws: true}}},
		"y.id in the body": {[]byte{ldloc1, ldfld, 2, 0, 0, 4, pop, ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brtrue, back(17), ret},
			[]Chase{{Variable: local, Field: 0x04000001, OnlyNull: true, Throws: true}}},
		"a sum of x.id in the body": {[]byte{ldsfld, 9, 0, 0, 4, ldloc0, ldfld, 2, 0, 0, 4, add, pop, ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brtrue, back(23), ret},
			[]Chase{{Variable: local, Field: 0x04000001, OnlyNull: true}}},
		"leave": {[]byte{ldloc0, ldfld, 1, 0, 0, 4, stloc0, leaveS, 0, ldloc0, brtrue, back(12), ret},
			[]Chase{{Variable: local, Field: 0x04000001}}},
		"ref y = ref x; y = null": {[]byte{ldlocaS, 0, stloc1, ldloc1, ldnull, stindRef, ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brtrue, back(13), ret}, nil},
		"ref x.next":              {[]byte{ldloc0, ldflda, 1, 0, 0, 4, pop, ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brtrue, back(17), ret}, nil},
		"while (true)": {[]byte{ldloc0, ldfld, 1, 0, 0, 4, stloc0, br, back(9), ret},
			[]Chase{{Variable: local, Field: 0x04000001}}},
		"if (y) return": {[]byte{ldloc1, brfalse, 1, ret, ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brtrue, back(14), ret},
			[]Chase{{Variable: local, Field: 0x04000001}}},
		"another test of a flag": {[]byte{ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, ldnull, two, ceq, stloc1, ldloc0, stloc1, ldloc1, brfalse, back(17), ret},
			[]Chase{{Variable: local, Field: 0x04000001}}},
		"x = y":                    {[]byte{ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc1, stloc0, ldloc0, brtrue, back(12), ret}, nil},
		"x = x.next or x.previous": {[]byte{ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, ldfld, 2, 0, 0, 4, stloc0, ldloc0, brtrue, back(17), ret}, nil},
		"out x":                    {[]byte{ldlocaS, 0, pop, ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brtrue, back(13), ret}, nil},
		"x.next = y":               {[]byte{ldloc0, ldloc1, stfld, 1, 0, 0, 4, ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brtrue, back(17), ret}, nil},
		"y = x.next":               {[]byte{ldloc0, ldfld, 1, 0, 0, 4, stloc1, ldloc0, brtrue, back(10), ret}, nil},
		"no loop":                  {[]byte{ldloc0, ldfld, 1, 0, 0, 4, stloc0, ret}, nil},
	} {
		got, err := Chases(c.il)
		require.NoError(t, err, name)
		for i := range got {
			assert.Less(t, got[i].Start, got[i].End, name)
			assert.Less(t, got[i].End, len(c.il), name)
			got[i].Start, got[i].End = 0, 0
		}
		assert.Equal(t, c.want, got, name)
		for n := range c.il {
			_, _ = Chases(c.il[:n]) // an error or an answer, and no panic
		}
	}
}

// TestSearches checks which loops end only at null or at a key, in the forms in which compilers write them.
func TestSearches(t *testing.T) {
	const nop, ldloc0, ldloc1, stloc0, stloc1, ldarg0, ldc3, ret = 0x00, 0x06, 0x07, 0x0A, 0x0B, 0x02, 0x19, 0x2A
	const call, callvirt, ldfld, two, br, brfalse, brtrue, beq, bneUn, ceq, div, stargS = 0x28, 0x6F, 0x7B, 0xFE, 0x2B, 0x2C, 0x2D, 0x2E, 0x33, 0x01, 0x5B, 0x10
	back := func(n int) byte { return byte(-n) }
	key := Search{Field: 0x04000002, Key: Variable{Argument: true}, Call: -1}
	fixed := Search{Field: 0x04000002, Constant: 3, Fixed: true, Call: -1}
	throws := key
	throws.Throws = true
	for name, c := range map[string]struct {
		il   []byte
		want Search
	}{
		"if (x.id == key) return": {[]byte{br, 17, ldloc0, ldfld, 2, 0, 0, 4, ldarg0, bneUn, 1, ret, ldloc0, ldfld, 1, 0, 0, 4, stloc0, nop, nop, ldloc0, brtrue, back(22), ret}, key},
		"if (key == x.id) break":  {[]byte{ldarg0, ldloc0, ldfld, 2, 0, 0, 4, beq, 10, ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brtrue, back(19), ret}, key},
		"if (x.id == 3) return": {[]byte{br, 15, ldloc0, ldfld, 2, 0, 0, 4, ldc3, bneUn, 1, ret, ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brtrue, back(20), ret},
			fixed},
		"the same as compiled for debugging": {[]byte{br, 20, ldloc0, ldfld, 2, 0, 0, 4, ldc3, two, ceq, stloc1, ldloc1, brfalse, 2, nop, ret, ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brtrue, back(25), ret},
			fixed},
		"if (x.name == key) return": {[]byte{br, 20, ldloc0, ldfld, 2, 0, 0, 4, ldarg0, call, 1, 0, 0, 10, brfalse, 1, ret, ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brtrue, back(25), ret},
			Search{Field: 0x04000002, Key: Variable{Argument: true}, Call: 9}},
		"if (x.name.Equals(key)) return": {[]byte{br, 20, ldloc0, ldfld, 2, 0, 0, 4, ldarg0, callvirt, 1, 0, 0, 10, brfalse, 1, ret, ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brtrue, back(25), ret},
			Search{Field: 0x04000002, Key: Variable{Argument: true}, Call: 9, Called: true}},
		"with a quotient": {[]byte{br, 18, ldloc0, ldfld, 2, 0, 0, 4, ldarg0, bneUn, 1, ret, ldloc1, ldarg0, div, ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brtrue, back(23), ret},
			throws},
		"another call": {[]byte{br, 20, ldloc0, ldfld, 2, 0, 0, 4, ldarg0, bneUn, 1, ret, call, 1, 0, 0, 6, ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brtrue, back(25), ret},
			Search{}},
		"another end": {[]byte{br, 19, ldloc0, ldfld, 2, 0, 0, 4, ldarg0, bneUn, 1, ret, ldloc1, brfalse, 1, ret, ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brtrue, back(24), ret},
			Search{}},
		"the key changes": {[]byte{br, 18, ldloc0, ldfld, 2, 0, 0, 4, ldarg0, bneUn, 1, ret, ldloc1, stargS, 0, ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brtrue, back(23), ret},
			Search{}},
		"if (x.id != key) return": {[]byte{br, 15, ldloc0, ldfld, 2, 0, 0, 4, ldarg0, beq, 1, ret, ldloc0, ldfld, 1, 0, 0, 4, stloc0, ldloc0, brtrue, back(20), ret}, Search{}},
		"no test for null: a ring by design": {[]byte{ldloc0, ldfld, 2, 0, 0, 4, ldarg0, beq, 9, ldloc0, ldfld, 1, 0, 0, 4, stloc0, br, back(18), ret},
			Search{}},
	} {
		got, err := Chases(c.il)
		require.NoError(t, err, name)
		require.Len(t, got, 1, name)
		assert.False(t, got[0].OnlyNull, name)
		assert.Equal(t, c.want, got[0].Search, name)
		for n := range c.il {
			_, _ = Chases(c.il[:n]) // an error or an answer, and no panic
		}
	}
}

// TestExtents checks where loops start and end: a thread behind a loop is in it no more.
func TestExtents(t *testing.T) {
	got, err := Chases([]byte{0x2B, 7, 0x06, 0x7B, 1, 0, 0, 4, 0x0A, 0x06, 0x2D, 0xF6, 0x2B, 0xFE, 0x2A})
	require.NoError(t, err)
	require.Len(t, got, 1)
	assert.Equal(t, [2]int{2, 12}, [2]int{got[0].Start, got[0].End})
}

// FuzzChases checks that damaged IL gives an error or an answer about variables that IL can name.
func FuzzChases(f *testing.F) {
	f.Add([]byte{0x2B, 7, 0x06, 0x7B, 1, 0, 0, 4, 0x0A, 0x06, 0x2D, 0xF6, 0x2A})
	f.Add([]byte{0x45, 0xFF, 0xFF, 0xFF, 0xFF})
	f.Fuzz(func(t *testing.T, il []byte) {
		list, err := Chases(il)
		if err != nil && list != nil {
			t.Fatal("an answer with an error")
		}
		for _, c := range list {
			if c.Variable.Number < 0 || c.Variable.Number > 0xFFFF {
				t.Fatalf("%+v", c)
			}
		}
	})
}
