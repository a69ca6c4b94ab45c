package codeinfo

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

// TestSuspensions reads the suspension points, which follow all other chunks.
func TestSuspensions(t *testing.T) {
	typeArg := VarTypeArg
	w := (&synth.Nibbles{}).Uint(3, 3).Int(100).Uint(2).Int(-60).Uint(0).Int(5000).Uint(1)
	w.Uint(0+6, 32, uint32(typeArg+6), 40, 7+6, 1000)
	head := (&synth.Nibbles{}).Uint(fatChunks, 1, 2, 3, 4, 5, uint32(len(w.B)))
	got, err := DebugInfo{Mem: lent(append(append(head.B, make([]byte, 1+2+3+4+5)...), w.B...)), Chunks: true}.Suspensions()
	require.NoError(t, err)
	assert.Equal(t, []Suspension{{100, []SavedVariable{{0, 32}, {VarTypeArg, 40}}}, {40, []SavedVariable{}}, {5040, []SavedVariable{{7, 1000}}}}, got)
	for n := 1; n < len(w.B); n++ {
		_, err := suspensions(w.B[:n])
		assert.ErrorIs(t, err, target.ErrCorrupt, "%d bytes", n)
	}
	for name, b := range map[string][]byte{"a billion points": (&synth.Nibbles{}).Uint(1<<30, 0).B, "a billion variables": (&synth.Nibbles{}).Uint(0, 1<<30).B,
		"more variables than there are": (&synth.Nibbles{}).Uint(1, 1, 0, 2, 0, 0, 0, 0).B} {
		_, err := suspensions(b)
		assert.ErrorIs(t, err, target.ErrCorrupt, name)
	}
	slim := (&synth.Nibbles{}).Uint(1, 0).B
	for _, d := range []DebugInfo{{Mem: lent(slim), Chunks: true}, {Mem: lent(slim)}} {
		got, err := d.Suspensions()
		require.NoError(t, err)
		assert.Empty(t, got)
	}
}

func FuzzSuspensions(f *testing.F) {
	f.Add((&synth.Nibbles{}).Uint(1, 1).Int(100).Uint(1, 6, 32).B)
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := suspensions(b)
		for _, s := range list {
			if err == nil && len(s.Saved) > 2*len(b) {
				t.Errorf("%d variables in %d bytes", len(s.Saved), len(b))
			}
		}
	})
}
