package disasm

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A module writes metadata with indexes of two bytes (ECMA-335 II.24.2).
type module struct {
	rows                 [64][][]byte
	strings, blobs, user []byte
}

func (m *module) str(s string) uint16 {
	i := len(m.strings)
	m.strings = append(append(m.strings, s...), 0)
	return uint16(i)
}

func (m *module) blob(b ...byte) uint16 {
	i := len(m.blobs)
	m.blobs = append(append(m.blobs, byte(len(b))), b...)
	return uint16(i)
}

// row adds a row of uint16 and uint32 columns.
func (m *module) row(id metadata.TableID, columns ...any) {
	var b []byte
	for _, c := range columns {
		b, _ = binary.Append(b, binary.LittleEndian, c)
	}
	m.rows[id] = append(m.rows[id], b)
}

func (m *module) tables() []byte {
	le := binary.LittleEndian
	valid := uint64(0)
	for id := range m.rows {
		if len(m.rows[id]) > 0 {
			valid |= 1 << id
		}
	}
	b := []byte{0, 0, 0, 0, 2, 0, 0, 1}
	b = le.AppendUint64(b, valid)
	b = le.AppendUint64(b, 0x16003301FA00) // the tables that compilers sort
	for rest := valid; rest != 0; rest &= rest - 1 {
		b = le.AppendUint32(b, uint32(len(m.rows[bits.TrailingZeros64(rest)])))
	}
	for id := range m.rows {
		b = append(b, slices.Concat(m.rows[id]...)...)
	}
	return b
}

func (m *module) open(t *testing.T) *metadata.Metadata {
	t.Helper()
	le := binary.LittleEndian
	names := []string{"#~\x00\x00", "#Strings\x00\x00\x00\x00", "#Blob\x00\x00\x00", "#US\x00"}
	streams := [][]byte{m.tables(), m.strings, m.blobs, m.user}
	b := append([]byte("BSJB\x01\x00\x01\x00\x00\x00\x00\x00\x0c\x00\x00\x00v4.0.30319\x00\x00\x00\x00"), byte(len(streams)), 0)
	at := len(b)
	for _, name := range names {
		at += 8 + len(name)
	}
	for i, s := range streams {
		b = le.AppendUint32(b, uint32(at))
		b = le.AppendUint32(b, uint32(len(s)))
		b = append(b, names[i]...)
		at += len(s)
	}
	md, err := metadata.Parse(slices.Concat(append([][]byte{b}, streams...)...))
	require.NoError(t, err)
	return md
}

// The kinds of coded indexes (ECMA-335 II.24.2.6).
const (
	resolutionAssembly, resolutionType                           = 2, 3
	parentDef, parentRef, parentModule, parentMethod, parentSpec = 0, 1, 2, 3, 4
)

// farm returns a module with a row in each table that IL tokens refer to.
func farm(t *testing.T) *metadata.Metadata {
	m := &module{strings: []byte{0}, blobs: []byte{0}, user: []byte{0}}
	m.row(metadata.TableModule, uint16(0), m.str("Farm.dll"), uint16(0), uint16(0), uint16(0))
	system := m.str("System")
	m.row(metadata.TableTypeRef, uint16(1<<2|resolutionAssembly), m.str("Exception"), system) // 1
	m.row(metadata.TableTypeRef, uint16(1<<2|resolutionAssembly), m.str("List`1"), system)    // 2
	m.row(metadata.TableTypeRef, uint16(2<<2|resolutionType), m.str("Enumerator"), uint16(0)) // 3: in 2
	m.row(metadata.TableTypeRef, uint16(1<<2|resolutionAssembly), uint16(0xFFF0), uint16(0))  // 4: no name
	object := uint16(1<<2 | 1)
	m.row(metadata.TableTypeDef, uint32(0), m.str("<Module>"), uint16(0), uint16(0), uint16(1), uint16(1))                       // 1
	m.row(metadata.TableTypeDef, uint32(1), m.str("Barn"), m.str("Farm"), object, uint16(1), uint16(1))                          // 2
	m.row(metadata.TableTypeDef, uint32(2), m.str("Door"), uint16(0), object, uint16(2), uint16(3))                              // 3: in 2
	m.row(metadata.TableField, uint16(0), m.str("cows"), m.blob(0x06, 0x08))                                                     // 1: of Barn
	m.row(metadata.TableField, uint16(0), m.str("open"), m.blob(0x06, 0x02))                                                     // 2: of Door
	m.row(metadata.TableMethodDef, uint32(0), uint16(0), uint16(0), m.str("Feed"), m.blob(0x20, 1, 0x02, 0x0E), uint16(1))       // 1
	m.row(metadata.TableMethodDef, uint32(0), uint16(0), uint16(0), m.str("Swap"), m.blob(0x30, 1, 1, 0x01, 0x1E, 0), uint16(1)) // 2
	m.row(metadata.TableMethodDef, uint32(0), uint16(0), uint16(0), m.str("Shut"), m.blob(0x20, 1, 0x7E), uint16(1))             // 3: no signature
	void := m.blob(0x20, 0, 0x01)
	m.row(metadata.TableMemberRef, uint16(1<<3|parentRef), m.str(".ctor"), void)                       // 1
	m.row(metadata.TableMemberRef, uint16(1<<3|parentSpec), m.str("_size"), m.blob(0x06, 0x08))        // 2
	m.row(metadata.TableMemberRef, uint16(1<<3|parentModule), m.str("getpid"), m.blob(0, 0, 0x08))     // 3
	m.row(metadata.TableMemberRef, uint16(1<<3|parentMethod), m.str("Feed"), m.blob(5, 1, 0x01, 0x0E)) // 4
	m.row(metadata.TableMemberRef, uint16(1<<3|parentRef), m.str("Cast"), m.blob(0x10, 1, 0, 0x1E, 0)) // 5
	m.row(metadata.TableMemberRef, uint16(3<<3|parentDef), m.str("Knock"), void)                       // 6
	m.row(metadata.TableMemberRef, uint16(9<<3|parentDef), m.str("Lost"), void)                        // 7: no such type
	m.row(metadata.TableMemberRef, uint16(1<<3|parentRef), m.str("Lost"), uint16(0xFFF0))              // 8: no signature
	m.row(metadata.TableMemberRef, uint16(9<<3|parentModule), m.str("Lost"), void)                     // 9: no such module
	m.row(metadata.TableMemberRef, uint16(9<<3|parentMethod), m.str("Lost"), void)                     // 10: no such method
	m.row(metadata.TableStandAloneSig, m.blob(0x07, 2, 0x08, 0x0E))                                    // 1: locals
	m.row(metadata.TableStandAloneSig, m.blob(0, 1, 0x01, 0x08))                                       // 2: calli
	m.row(metadata.TableStandAloneSig, uint16(0xFFF0))                                                 // 3: no blob
	m.row(metadata.TableModuleRef, m.str("libc"))
	m.row(metadata.TableTypeSpec, m.blob(0x15, 0x12, 2<<2|1, 1, 0x0E)) // 1: List<string>
	m.row(metadata.TableTypeSpec, m.blob(0x15))                        // 2: cut off
	m.row(metadata.TableTypeSpec, uint16(0xFFF0))                      // 3: no blob
	m.row(metadata.TableAssemblyRef, uint16(1), uint16(0), uint16(0), uint16(0), uint32(0), uint16(0), m.str("System.Runtime"), uint16(0), uint16(0))
	m.row(metadata.TableNestedClass, uint16(3), uint16(2))
	m.row(metadata.TableMethodSpec, uint16(2<<1), m.blob(0x0A, 1, 0x08))   // 1: Swap<int>
	m.row(metadata.TableMethodSpec, uint16(5<<1|1), m.blob(0x0A, 1, 0x0E)) // 2: Cast<string>
	m.row(metadata.TableMethodSpec, uint16(2<<1), m.blob(0x0A, 1))         // 3: cut off
	m.row(metadata.TableMethodSpec, uint16(2<<1), uint16(0xFFF0))          // 4: no blob
	m.user = append(m.user, 7, 'm', 0, 'o', 0, 'o', 0, 0)
	return m.open(t)
}

// TestTokens names tokens of each table that IL tokens refer to.
func TestTokens(t *testing.T) {
	names := tokenNames{farm(t)}
	for token, want := range map[metadata.Token]string{
		0x01000001: "System.Exception",
		0x01000003: "System.List`1/Enumerator",
		0x02000002: "Farm.Barn",
		0x02000003: "Farm.Barn/Door",
		0x04000001: "Farm.Barn::cows",
		0x04000002: "Farm.Barn/Door::open",
		0x06000001: "bool Farm.Barn::Feed(string)",
		0x06000002: "void Farm.Barn::Swap(!!0)",
		0x0a000001: "void System.Exception::.ctor()",
		0x0a000002: "class [System.Runtime]System.List`1<string>::_size",
		0x0a000003: "int32 libc::getpid()",
		0x0a000004: "void Farm.Barn::Feed(string)",
		0x0a000005: "!!0 System.Exception::Cast()",
		0x0a000006: "void Farm.Barn/Door::Knock()",
		0x11000002: "void(int32)",
		0x1b000001: "class [System.Runtime]System.List`1<string>",
		0x2b000001: "void Farm.Barn::Swap<int32>(!!0)",
		0x2b000002: "!!0 System.Exception::Cast<string>()",
		0x70000001: `"moo"`,
	} {
		name, err := names.token(token)
		require.NoError(t, err, token)
		assert.Equal(t, want, name.String(), token)
	}
	enumerator, err := names.token(0x01000003)
	require.NoError(t, err)
	assert.Equal(t, answer.ILType{Kind: answer.ILTypeRef, Full: "System.List`1/Enumerator", Own: "Enumerator"}, enumerator.Type)
	barn, err := names.token(0x02000002)
	require.NoError(t, err)
	assert.Equal(t, answer.ILType{Kind: answer.ILTypeDef, Full: "Farm.Barn", Own: "Farm.Barn"}, barn.Type)
	libc, err := names.token(0x0a000003)
	require.NoError(t, err)
	assert.Equal(t, answer.ILType{Kind: answer.ILModule, Full: "libc", Own: "libc"}, libc.Type)
}

// TestCorruptTokens: a token of a missing row, or of a row that leads nowhere, has an error instead of a name.
func TestCorruptTokens(t *testing.T) {
	names := tokenNames{farm(t)}
	for _, token := range []metadata.Token{
		0x01000004, 0x01000009, 0x02000009, 0x04000009, 0x06000003, 0x06000009,
		0x0a000007, 0x0a000008, 0x0a000009, 0x0a00000a, 0x0a000099,
		0x11000001, 0x11000003, 0x11000009, 0x1b000002, 0x1b000003, 0x1b000009,
		0x2b000003, 0x2b000004, 0x2b000009, 0x70ff0001, 0x20000001, 0x00000001,
	} {
		_, err := names.token(token)
		assert.ErrorIs(t, err, target.ErrCorrupt, token)
	}
}

// TestList lists IL with each form of operand.
func TestList(t *testing.T) {
	b := &ilBody{MethodBody: metadata.MethodBody{MaxStack: 8, InitLocals: true, LocalSig: 0x11000001, Code: append(synth.ILOperands(), []byte{
		0xFE, 0x12, 4, // unaligned. 4
		0x28, 6, 0, 0, 0x0A, // call
		0x28, 9, 0, 0, 0x0A, // call of nothing
		0x72, 1, 0, 0, 0x70, // ldstr
		0xFE, 0x16, 1, 0, 0, 0x1B, // constrained.
		0x29, 2, 0, 0, 0x11, // calli
		0x2A, // ret
	}...), Clauses: []metadata.Clause{
		{Kind: metadata.ClauseCatch, TryLength: 2, HandlerOffset: 2, HandlerLength: 5, CatchType: 0x01000001},
		{Kind: metadata.ClauseCatch, TryLength: 2, HandlerOffset: 2, HandlerLength: 5, CatchType: 0x1b000001},
		{Kind: metadata.ClauseFilter, TryLength: 2, HandlerOffset: 3, HandlerLength: 4, FilterOffset: 2},
		{Kind: metadata.ClauseFinally, TryLength: 2, HandlerOffset: 2, HandlerLength: 5},
		{Kind: metadata.ClauseFault, TryLength: 2, HandlerOffset: 2, HandlerLength: 5},
	}}}
	b.setNames(farm(t))
	il := b.list()
	assert.Equal(t, len(b.Code), il.CodeSize)
	assert.EqualValues(t, 8, il.MaxStack)
	assert.True(t, il.InitLocals)
	assert.Equal(t, []string{"int32", "string"}, collect(t, il.Locals))

	var lines []string
	for in, err := range il.Instructions {
		require.NoError(t, err)
		lines = append(lines, in.Opcode+" "+in.Operand.String())
	}
	assert.Equal(t, []string{
		"ldarg.0 ", "ldloc.s VAR OR ARG 254", "ldloc VAR OR ARG 256", "ldc.i4.s -1", "ldc.i4 -2",
		"ldc.i8 -9223372036854775807", "ldc.r4 2.5", "ldc.r8 -2.5", "br.s IL_0025", "br IL_002c",
		"switch (IL_0038, IL_003a)", "unaligned. 4", "call void Farm.Barn/Door::Knock()", "call <token 0a000009>", `ldstr "moo"`,
		"constrained. class [System.Runtime]System.List`1<string>", "calli void(int32)", "ret ",
	}, lines)
	require.NoError(t, il.Failure())
	assert.Len(t, il.Noted(), 1, "the token that names nothing")

	assert.Equal(t, []answer.ILClause{
		{Kind: "catch", Try: [2]uint32{0, 2}, Handler: [2]uint32{2, 5}, Token: 0x01000001, Type: answer.Text{S: "System.Exception"}},
		{Kind: "catch", Try: [2]uint32{0, 2}, Handler: [2]uint32{2, 5}, Token: 0x1b000001,
			Type: answer.Text{S: "class [System.Runtime]System.List`1<string>"}},
		{Kind: "filter", Try: [2]uint32{0, 2}, Handler: [2]uint32{3, 4}, Filter: 2},
		{Kind: "finally", Try: [2]uint32{0, 2}, Handler: [2]uint32{2, 5}},
		{Kind: "fault", Try: [2]uint32{0, 2}, Handler: [2]uint32{2, 5}},
	}, il.Clauses)
}

func collect(t *testing.T, seq func(func(string, error) bool)) []string {
	t.Helper()
	var out []string
	for s, err := range seq {
		require.NoError(t, err)
		out = append(out, s)
	}
	return out
}

// TestListCorrupt: IL that ends inside an instruction fails after the instructions before it. So do local variables
// without a signature.
func TestListCorrupt(t *testing.T) {
	for name, code := range map[string][]byte{
		"operand": {0x00, 0x28, 1, 2}, "switch": {0x00, 0x45, 2, 0, 0, 0, 1}, "prefix": {0x00, 0xFE}, "opcode": {0x00, 0x24},
	} {
		il := (&ilBody{MethodBody: metadata.MethodBody{Code: code}}).list()
		n := 0
		for in, err := range il.Instructions {
			if n++; n == 1 {
				require.NoError(t, err)
				assert.Equal(t, "nop", in.Opcode)
				continue
			}
			assert.ErrorIs(t, err, target.ErrCorrupt, name)
		}
		assert.Equal(t, 2, n, name)
	}
	for _, sig := range []metadata.Token{0x11000002, 0x11000003, 0x11000009} {
		b := &ilBody{MethodBody: metadata.MethodBody{LocalSig: sig}}
		b.setNames(farm(t))
		for _, err := range b.list().Locals {
			assert.ErrorIs(t, err, target.ErrCorrupt, sig)
		}
	}
}

// TestListStops: a caller may end a list.
func TestListStops(t *testing.T) {
	b := &ilBody{MethodBody: metadata.MethodBody{LocalSig: 0x11000001, Code: []byte{0x00, 0x24}}}
	b.setNames(farm(t))
	il := b.list()
	for range il.Instructions {
		break
	}
	for range il.Locals {
		break
	}
	assert.NoError(t, il.Failure())
}

// TestListUnnamed: if no module is known that would name a token, it is not a gap.
func TestListUnnamed(t *testing.T) {
	b := &ilBody{MethodBody: metadata.MethodBody{LocalSig: 0x11000001, Code: []byte{0x28, 6, 0, 0, 0x0A}}}
	b.name = func(metadata.Token) (answer.ILToken, error) { return answer.ILToken{}, errUnnamed }
	il := b.list()
	assert.Nil(t, il.Locals)
	for in, err := range il.Instructions {
		require.NoError(t, err)
		assert.Equal(t, answer.ILInstruction{Opcode: "call", Token: 0x0a000006,
			Operand: answer.ILOperand{Kind: answer.ILUnnamed, Token: 0x0a000006}}, in)
	}
	assert.Empty(t, il.Noted())
}
