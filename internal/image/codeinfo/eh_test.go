package codeinfo

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// jitClause returns a clause in the form of compiled code.
func jitClause(flags, tryStart, tryEnd, handlerStart, handlerEnd uint32, union uint64) []byte {
	b := make([]byte, 0, jitClauseSize)
	for _, v := range []uint32{flags, tryStart, tryEnd, handlerStart, handlerEnd, 0} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return binary.LittleEndian.AppendUint64(b, union)
}

// imageClause returns a clause in the form of images.
func imageClause(flags, tryStart, tryEnd, handlerStart, handlerEnd, union uint32) []byte {
	var b []byte
	for _, v := range []uint32{flags, tryStart, tryEnd, handlerStart, handlerEnd, union} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// jitClauses returns a memory with clauses at address 16 and the count n.
func jitClauses(n uint64, clauses ...[]byte) *parts {
	b := binary.LittleEndian.AppendUint64(make([]byte, 8), n)
	b = append(b, make([]byte, jitClausesOffset)...)
	for _, c := range clauses {
		b = append(b, c...)
	}
	return &parts{b, len(b), len(b)}
}

func TestReadEHClauses(t *testing.T) {
	mem := jitClauses(6,
		jitClause(0, 1, 2, 3, 4, 0x02000007),
		jitClause(clauseCached, 1, 2, 3, 4, 0x7f00_1234_5678),
		jitClause(clauseFilter, 1, 2, 5, 6, 4),
		jitClause(clauseFinally|clauseSameTry, 1, 2, 7, 8, 0),
		jitClause(clauseFault, 1, 2, 7, 8, 0),
		jitClause(clauseFinally|clauseDuplicated, 9, 9, 9, 12, 0),
	)
	got, err := ReadEHClauses(mem, 16)
	require.NoError(t, err)
	try := CodeRange{1, 2}
	want := []EHClause{
		{Kind: EHTyped, Try: try, Handler: CodeRange{3, 4}, ClassToken: 0x02000007},
		{Kind: EHTyped, Try: try, Handler: CodeRange{3, 4}, TypeHandle: 0x7f00_1234_5678},
		{Kind: EHFilter, Try: try, Handler: CodeRange{5, 6}, Filter: 4},
		{Kind: EHFinally, Try: try, Handler: CodeRange{7, 8}, SameTry: true},
		{Kind: EHFault, Try: try, Handler: CodeRange{7, 8}},
		{Kind: EHFinally, Try: CodeRange{9, 9}, Handler: CodeRange{9, 12}, Duplicated: true},
	}
	assert.Equal(t, want, got)
	for i := range got {
		assert.Equal(t, i == 5, got[i].ClonedFinally())
	}
	assert.Equal(t, "FAULT", EHFault.String())

	none, err := ReadEHClauses(mem, 0)
	assert.NoError(t, err)
	assert.Empty(t, none)
}

func TestLyingEHClauses(t *testing.T) {
	one := jitClause(0, 1, 2, 3, 4, 0)
	for _, test := range []struct {
		name string
		mem  *parts
		want error
	}{
		{"too many", jitClauses(1<<40, one), target.ErrCorrupt},
		{"more than there are", jitClauses(2, one), target.ErrNotInDump},
		{"block that ends before it starts", jitClauses(1, jitClause(0, 3, 2, 3, 4, 0)), target.ErrCorrupt},
		{"handler that ends before it starts", jitClauses(1, jitClause(0, 1, 2, 4, 3, 0)), target.ErrCorrupt},
		{"no count", &parts{end: 8, b: make([]byte, 8)}, target.ErrNotInDump},
	} {
		_, err := ReadEHClauses(test.mem, 16)
		assert.ErrorIs(t, err, test.want, test.name)
	}
}

// ehImage returns an image with a table of three methods. The second has two clauses, the third has
// no clauses.
func ehImage() (*parts, target.Range) {
	const table, clauses = 16, 64
	b := make([]byte, 128)
	for i, v := range []uint32{0x1000, clauses, 0x2000, clauses + 24, 0x3000, clauses + 72, 0xffffffff, clauses + 72} {
		binary.LittleEndian.PutUint32(b[table+4*i:], v)
	}
	b = append(b[:clauses], imageClause(clauseFinally, 1, 2, 3, 4, 0)...)
	b = append(b, imageClause(0, 5, 6, 7, 8, 0x01000002)...)
	b = append(b, imageClause(clauseFilter, 5, 6, 9, 10, 8)...)
	return &parts{b, len(b), len(b)}, target.Range{Start: table, End: table + 4*8}
}

func TestReadImageEHClauses(t *testing.T) {
	mem, table := ehImage()
	for rva, want := range map[uint32]int{0x1000: 1, 0x2000: 2, 0x3000: 0, 0x1001: 0, 0x4000: 0, 0: 0, 0xffffffff: 0} {
		got, err := ReadImageEHClauses(mem, 0, table, rva)
		require.NoError(t, err)
		assert.Len(t, got, want, "%#x", rva)
	}
	got, err := ReadImageEHClauses(mem, 0, table, 0x2000)
	require.NoError(t, err)
	assert.Equal(t, EHClause{Kind: EHTyped, Try: CodeRange{5, 6}, Handler: CodeRange{7, 8}, ClassToken: 0x01000002}, got[0])
	assert.Equal(t, uint32(8), got[1].Filter)

	none, err := ReadImageEHClauses(mem, 0, target.Range{}, 0x2000)
	assert.NoError(t, err)
	assert.Empty(t, none)

	binary.LittleEndian.PutUint32(mem.b[table.Start+12:], 5)
	_, err = ReadImageEHClauses(mem, 0, table, 0x1000)
	assert.ErrorIs(t, err, target.ErrCorrupt, "clauses that end before they start")
	mem.end = int(table.Start) + 20
	mem.cut = mem.end
	_, err = ReadImageEHClauses(mem, 0, table, 0x3000)
	assert.ErrorIs(t, err, target.ErrNotInDump)
}

func FuzzEHClauses(f *testing.F) {
	f.Add(jitClauses(1, jitClause(clauseFilter, 1, 2, 3, 4, 5)).b, uint32(0))
	mem, _ := ehImage()
	f.Add(mem.b, uint32(0x2000))
	f.Fuzz(func(t *testing.T, b []byte, rva uint32) {
		mem := &parts{b, len(b), len(b)}
		check := func(clauses []EHClause, err error) {
			if err != nil {
				return
			}
			if len(clauses)*imageClauseSize > len(b) {
				t.Fatal("more clauses than bytes")
			}
		}
		check(ReadEHClauses(mem, 16))
		check(ReadImageEHClauses(mem, 0, target.Range{Start: 16, End: target.Addr(len(b))}, rva))
	})
}
