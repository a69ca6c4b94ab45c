package memory_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/target"
)

// TestOverwritten: the program (Overrun.cs) wrote 600 bytes to a byte[512] that a static array refers to. The object behind it has lost its
// MethodTable. The faults of the heap lead to it, and so does the address that a collector accesses when it takes the bytes for a MethodTable.
func TestOverwritten(t *testing.T) {
	const path = "../../../testdata/dumps/planted/net10-overrun/net10-overrun.dmp.zst"
	if _, err := os.Stat(path); err != nil {
		t.Skip("testdata/dumps is not here: it is a module of its own")
	}
	d, err := sosgo.Open(path, sosgo.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	v, err := d.View("")
	require.NoError(t, err)
	s, err := memory.Soundness(t.Context(), v.Process)
	require.NoError(t, err)
	require.NotEmpty(t, s.Faults)
	check := func(list []answer.Verdict) {
		t.Helper()
		require.Len(t, list, 2)
		assert.Equal(t, `7f1761816818 was overwritten: it has 0x5a5a5a5a5a5a5a5a (from its second byte the text "ZZZZZZZ") in place of its MethodTable`, list[0].Text)
		assert.Equal(t, answer.StrengthRecorded, list[0].Strength)
		assert.Contains(t, list[1].Text, "System.Byte[] 7f1761816600 (536 B) ends where the overwritten object begins, kept by ")
		assert.Equal(t, answer.StrengthLikely, list[1].Strength, "the bytes of both are alike")
	}
	check(memory.OverwrittenObject(t.Context(), v.Process, s.Faults))
	for _, reach := range []target.Addr{0, 4, 0x28, 63} { // a member of the MethodTable; its class is at 0x28
		check(memory.FaultingObject(t.Context(), v.Process, 0x5a5a5a5a5a5a5a58+reach))
	}
	assert.Empty(t, memory.OverwrittenObject(t.Context(), v.Process, nil))
	for _, other := range []target.Addr{0x4141414141414141, 0x5a5a5a5a5a5a5a58 + 64, 0x5a5a5a5a5a5a5a57} {
		assert.Empty(t, memory.FaultingObject(t.Context(), v.Process, other), "no object begins with it")
	}
}
