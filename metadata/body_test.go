package metadata

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

// fatBody makes a fat body with code and sections after it, aligned.
func fatBody(flags uint16, code []byte, sections ...byte) []byte {
	le := binary.LittleEndian
	b := le.AppendUint16(nil, 3<<12|flags|bodyFat)
	b = le.AppendUint16(b, 5)
	b = le.AppendUint32(b, uint32(len(code)))
	b = le.AppendUint32(b, 0x11000002)
	b = append(b, code...)
	if len(sections) > 0 {
		for len(b)%4 != 0 {
			b = append(b, 0xCC)
		}
		b = append(b, sections...)
	}
	return b
}

func TestMethodBody(t *testing.T) {
	tiny, err := ParseMethodBody([]byte{2<<2 | 2, 0x02, 0x2A, 0xFF})
	require.NoError(t, err)
	assert.Equal(t, MethodBody{MaxStack: 8, Code: []byte{0x02, 0x2A}, Header: 1, Size: 3}, tiny)

	code := slices.Repeat([]byte{0}, 9)
	fat, err := ParseMethodBody(append(fatBody(bodyInitLocals, code), 0xFF))
	require.NoError(t, err)
	assert.Equal(t, MethodBody{
		MaxStack: 5, InitLocals: true, LocalSig: 0x11000002, Code: code, Header: 12, Size: 21,
	}, fat)
}

func TestMethodBodyClauses(t *testing.T) {
	small := []byte{0, 0, 1, 0, 2, 3, 0, 4, 7, 0, 0, 1}
	le := binary.LittleEndian
	var wide []byte
	for _, v := range []uint32{1, 0, 2, 3, 4, 6} {
		wide = le.AppendUint32(wide, v)
	}
	want := []Clause{
		{Kind: ClauseCatch, TryOffset: 1, TryLength: 2, HandlerOffset: 3, HandlerLength: 4, CatchType: 0x01000007},
		{Kind: ClauseFilter, TryLength: 2, HandlerOffset: 3, HandlerLength: 4, FilterOffset: 6},
	}
	cases := map[string][]byte{
		"sizes with the header":    slices.Concat([]byte{sectEHTable | sectMoreSects, 16, 0, 0}, small, []byte{sectEHTable | sectFat, 28, 0, 0}, wide),
		"sizes without the header": slices.Concat([]byte{sectEHTable | sectMoreSects, 12, 0, 0}, small, []byte{sectEHTable | sectFat, 24, 0, 0}, wide),
		"another section between":  slices.Concat([]byte{sectEHTable | sectMoreSects, 16, 0, 0}, small, []byte{2 | sectMoreSects, 8, 0, 0, 9, 9, 9, 9}, []byte{sectEHTable | sectFat, 28, 0, 0}, wide),
	}
	for name, sections := range cases {
		b := fatBody(bodyMoreSects, make([]byte, 9), sections...)
		m, err := ParseMethodBody(append(b, 1, 2, 3))
		require.NoError(t, err, name)
		assert.Equal(t, want, m.Clauses, name)
		assert.Equal(t, len(b), m.Size, name)
	}
	assert.Equal(t, "catch filter finally fault unknown",
		fmt.Sprint(ClauseCatch, " ", ClauseFilter, " ", ClauseFinally, " ", ClauseFault, " ", ClauseKind(9)))
}

func TestCorruptBodies(t *testing.T) {
	code := make([]byte, 9)
	cases := map[string][]byte{
		"empty":           nil,
		"format":          {0x01},
		"tiny code":       {10<<2 | 2, 0},
		"fat header":      fatBody(0, nil)[:11],
		"header size":     {0x03, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		"code size":       append(binary.LittleEndian.AppendUint32([]byte{0x03, 0x30, 0, 0}, 0xFFFFFFFF), 0, 0, 0, 0),
		"no section":      fatBody(bodyMoreSects, code),
		"section of zero": fatBody(bodyMoreSects, code, sectEHTable|sectMoreSects, 0, 0, 0),
		"clauses":         fatBody(bodyMoreSects, code, sectEHTable|sectFat, 0xFF, 0xFF, 0xFF),
		"clause outside":  fatBody(bodyMoreSects, code, sectEHTable, 16, 0, 0, 0, 0, 8, 0, 2, 3, 0, 4, 7, 0, 0, 1),
		"section beyond":  fatBody(bodyMoreSects, code, 2, 0xFF, 0, 0),
	}
	for name, b := range cases {
		_, err := ParseMethodBody(b)
		var fe *FormatError
		assert.ErrorAs(t, err, &fe, name)
		assert.ErrorIs(t, err, target.ErrCorrupt, name)
	}
}

func listing(t *testing.T, code []byte) (lines []string) {
	t.Helper()
	for i, err := range Instructions(code) {
		require.NoError(t, err)
		s := fmt.Sprintf("%02x %s", i.Offset, i.Opcode)
		switch {
		case i.Kind.IsToken():
			s += " " + i.Token().String()
		case i.Kind == OperandBranch8 || i.Kind == OperandBranch32:
			s += fmt.Sprintf(" %02x", i.Target())
		case i.Kind == OperandSwitch:
			s += fmt.Sprint(" ", slices.Collect(i.Targets()))
		case i.Kind == OperandFloat32 || i.Kind == OperandFloat64:
			s += fmt.Sprint(" ", i.Float())
		case i.Kind != OperandNone:
			s += fmt.Sprint(" ", i.Int())
		}
		lines = append(lines, s)
	}
	return lines
}

func TestInstructions(t *testing.T) {
	code := append(synth.ILOperands(), []byte{
		0xFE, 0x12, 4, // unaligned. 4
		0x28, 7, 0, 0, 0x0A, // call
		0xFE, 0x16, 2, 0, 0, 0x1B, // constrained.
		0xFE, 0x01, // ceq
		0x2A, // ret
	}...)
	assert.Equal(t, strings.Split(strings.TrimSpace(`
00 ldarg.0
01 ldloc.s 254
03 ldloc 256
07 ldc.i4.s -1
09 ldc.i4 -2
0e ldc.i8 -9223372036854775807
17 ldc.r4 2.5
1c ldc.r8 -2.5
25 br.s 25
27 br 2c
2c switch [56 58]
39 unaligned. 4
3c call 0a000007
41 constrained. 1b000002
47 ceq
49 ret`), "\n"), listing(t, code))
}

func TestCorruptIL(t *testing.T) {
	cases := map[string][]byte{
		"opcode":        {0x24},
		"prefix":        {0xFE},
		"second byte":   {0xFE, 0x08},
		"after table":   {0xFE, 0x7F},
		"operand":       {0x28, 1, 2, 3},
		"switch count":  {0x45, 1, 2},
		"switch target": {0x45, 2, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7},
		"switch lies":   {0x45, 0xFF, 0xFF, 0xFF, 0xFF},
	}
	for name, code := range cases {
		n := 0
		for _, err := range Instructions(code) {
			assert.ErrorIs(t, err, target.ErrCorrupt, name)
			n++
		}
		assert.Equal(t, 1, n, name)
	}
	assert.Equal(t, "Opcode(0xfe08)", Opcode(0xFE08).String())
	assert.Equal(t, "Opcode(0x1234)", Opcode(0x1234).String())
}

// TestOpcodes counts the opcodes of ECMA-335 III and checks some.
func TestOpcodes(t *testing.T) {
	n := 0
	for op := range 0x10000 {
		if Opcode(op).info().name != "" {
			n++
		}
	}
	assert.Equal(t, 219, n)
	for op, name := range map[Opcode]string{
		0x2A: "ret", 0x6F: "callvirt", 0x73: "newobj", 0x8D: "newarr", 0xA5: "unbox.any",
		0xB3: "conv.ovf.i1", 0xD0: "ldtoken", 0xDC: "endfinally", 0xE0: "conv.u",
		0xFE06: "ldftn", 0xFE1A: "rethrow", 0xFE1E: "readonly.",
	} {
		assert.Equal(t, name, op.String())
	}
}
