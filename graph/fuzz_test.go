package graph_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/testdump"
)

// numbers are random numbers that the fuzzer chooses, and others behind those: rand never ends over zeros.
type numbers struct {
	b    []byte
	more *rand.PCG
}

func (n *numbers) Uint64() uint64 {
	if len(n.b) == 0 {
		return n.more.Uint64()
	}
	var word [8]byte
	n.b = n.b[copy(word[:], n.b):]
	return binary.LittleEndian.Uint64(word[:])
}

// FuzzGraph: words of a heap's objects are overwritten, as TestDamagedHeaps does.
func FuzzGraph(f *testing.F) {
	d := testdump.Open(f, "net31-zoo")
	h, err := d.Heap()
	require.NoError(f, err)
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 5))
		var b []byte
		for range 12 {
			b = binary.LittleEndian.AppendUint64(b, r.Uint64())
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<10 {
			return
		}
		testDamage(t, d.Damaged(t, damaged(d, h, rand.New(&numbers{b, rand.NewPCG(1, 1)}))...), 0)
	})
}
