package metadata

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// pdbOf returns a portable PDB of one method with a sequence points blob.
func pdbOf(points ...byte) *builder {
	w := newBuilder()
	w.pdb = make([]byte, 32)
	w.row(TableDocument, w.blob('/', 0, byte(w.blob([]byte("Zoo.cs")...))), uint16(0), uint16(0), uint16(0))
	w.row(TableMethodDebugInformation, uint16(1), w.blob(points...))
	w.row(TableMethodDebugInformation, uint16(0), w.blob(append([]byte{0, 1}, points[1:]...)...))
	w.row(TableMethodDebugInformation, uint16(0), uint16(0))
	return w
}

func TestSequencePoints(t *testing.T) {
	md := pdbOf(
		0x1F,           // signature of the locals
		0, 0, 4, 10, 5, // at 0: line 10, columns 5 to 9
		3, 0, 0, // at 3: hidden
		2, 2, 0x7F, 0x02, 0x7D, // at 5: 2 lines, 1 column less; from line 11, column 3
		0, 2, // document 2
		1, 0, 1, 0x7F, 0x02, // at 6: line 10, column 4
	).open(t)
	doc := NewToken(TableDocument, 1)
	want := []SequencePoint{
		{Document: doc, StartLine: 10, EndLine: 10, StartColumn: 5, EndColumn: 9},
		{ILOffset: 3, Document: doc, Hidden: true},
		{ILOffset: 5, Document: doc, StartLine: 11, EndLine: 13, StartColumn: 3, EndColumn: 2},
		{ILOffset: 6, Document: doc + 1, StartLine: 10, EndLine: 10, StartColumn: 4, EndColumn: 5},
	}
	for method := range uint32(2) { // the second names the document in the blob
		var got []SequencePoint
		for p, err := range md.SequencePoints(method + 1) {
			require.NoError(t, err)
			got = append(got, p)
		}
		assert.Equal(t, want, got)
	}
	for range md.SequencePoints(3) {
		assert.Fail(t, "a method without points has some")
	}
}

func TestCorruptSequencePoints(t *testing.T) {
	for name, points := range map[string][]byte{
		"ends early":  {0, 0, 0, 4, 10},
		"document":    {0, 0, 0, 0, 0, 0},
		"IL offset":   {0, 0, 0, 0, 0xDF, 0xFF, 0xFF, 0xFF, 0, 0, 0xDF, 0xFF, 0xFF, 0xFF, 0, 0, 0xDF, 0xFF, 0xFF, 0xFF, 0, 0, 0xDF, 0xFF, 0xFF, 0xFF, 0, 0, 0xDF, 0xFF, 0xFF, 0xFF, 0, 0, 0xDF, 0xFF, 0xFF, 0xFF, 0, 0, 0xDF, 0xFF, 0xFF, 0xFF, 0, 0, 0xDF, 0xFF, 0xFF, 0xFF, 0, 0, 9, 0, 0},
		"no header":   {0xFF},
		"beyond rows": nil,
	} {
		method := uint32(1)
		if points == nil {
			method, points = 9, []byte{0}
		}
		var last error
		for _, err := range pdbOf(points...).open(t).SequencePoints(method) {
			last = err
		}
		assert.ErrorIs(t, last, target.ErrCorrupt, name)
	}
}
