package stackwalk

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// The structs that TestStructArguments passes.
var (
	object  = metadata.ElementClass
	double  = metadata.ElementR8
	single  = metadata.ElementR4
	managed = metadata.ElementByRef

	twoObjects    = structOf(16, leaf(0, object), leaf(8, object))
	objectDouble  = structOf(16, leaf(0, object), leaf(8, double))
	threeObjects  = structOf(24, leaf(0, object), leaf(8, object), leaf(16, object))
	fourDoubles   = structOf(32, leaf(0, double), leaf(8, double), leaf(16, double), leaf(24, double))
	twoDoubles    = structOf(16, leaf(0, double), leaf(8, double))
	threeSingles  = structOf(12, leaf(0, single), leaf(4, single), leaf(8, single))
	mixedNumbers  = structOf(16, leaf(0, double), leaf(8, single))
	pointerAndInt = structOf(16, leaf(0, managed), leaf(8, metadata.ElementI4))
	oneObject     = structOf(8, leaf(0, object))
)

func leaf(offset uint64, t metadata.ElementType) objects.Leaf {
	return objects.Leaf{Offset: offset, Type: t}
}

func structOf(size uint64, leaves ...objects.Leaf) *structValue {
	return &structValue{size: size, leaves: leaves}
}

// TestStructArguments: the places of references in struct arguments, by the documents of the calling conventions.
// Registers begin at 0x1000 and the stack at 0x2000.
func TestStructArguments(t *testing.T) {
	for _, c := range []struct {
		name    string
		abi     *target.ABI
		before  int // integers passed before
		structs []*structValue
		want    []heldSlot
		// Registers and words taken.
		integers, floats, words int
	}{
		{name: "System V: two eightbytes in registers", abi: target.SystemVAMD64(), structs: []*structValue{twoObjects, objectDouble},
			want: []heldSlot{{0x1000, false}, {0x1008, false}, {0x1010, false}}, integers: 3, floats: 1},
		{name: "System V: more than two eightbytes in memory", abi: target.SystemVAMD64(), structs: []*structValue{threeObjects, oneObject},
			want: []heldSlot{{0x2000, false}, {0x2008, false}, {0x2010, false}, {0x1000, false}}, integers: 1, words: 3},
		{name: "System V: what does not fit whole is in memory, and the register is left", abi: target.SystemVAMD64(), before: 5,
			structs: []*structValue{twoObjects, oneObject}, want: []heldSlot{{0x2000, false}, {0x2008, false}, {0x1028, false}}, integers: 6, words: 2},
		{name: "System V: a managed pointer", abi: target.SystemVAMD64(), structs: []*structValue{pointerAndInt}, want: []heldSlot{{0x1000, true}}, integers: 2},
		{name: "Windows: a slot or the address of a copy", abi: target.WindowsAMD64(), structs: []*structValue{oneObject, twoObjects, twoDoubles},
			want: []heldSlot{{0x2000, false}, {0x2008, true}, {0x2010, true}}, words: 3},
		{name: "AAPCS64: two words in registers", abi: target.SystemVARM64(), structs: []*structValue{twoObjects, objectDouble},
			want: []heldSlot{{0x1000, false}, {0x1008, false}, {0x1010, false}}, integers: 4},
		{name: "AAPCS64: the address of a copy", abi: target.SystemVARM64(), structs: []*structValue{threeObjects, oneObject},
			want: []heldSlot{{0x1000, true}, {0x1008, false}}, integers: 2},
		{name: "AAPCS64: what does not fit whole takes the last registers", abi: target.SystemVARM64(), before: 7, structs: []*structValue{twoObjects, oneObject},
			want: []heldSlot{{0x2000, false}, {0x2008, false}, {0x2010, false}}, integers: 8, words: 3},
		{name: "AAPCS64: numbers of one type", abi: target.SystemVARM64(), structs: []*structValue{fourDoubles, threeSingles, twoDoubles, oneObject},
			want: []heldSlot{{0x1000, false}}, integers: 1, floats: 8, words: 2},
		{name: "AAPCS64: numbers of two types are no such aggregate", abi: target.SystemVARM64(), structs: []*structValue{mixedNumbers}, integers: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &arguments{abi: c.abi, area: dac.ArgumentArea{Registers: 0x1000, Stack: 0x2000}, integers: c.before}
			for _, v := range c.structs {
				require.NoError(t, a.addStruct(v))
			}
			assert.Equal(t, c.want, a.slots)
			assert.Equal(t, [3]int{c.integers, c.floats, c.words}, [3]int{a.integers, a.floats, a.words}, "integers, floats, words")
		})
	}
}
