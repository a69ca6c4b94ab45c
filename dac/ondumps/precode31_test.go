package ondumps_test

import (
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// TestPrecodesOf31OnARM64 checks that precodes of ARM64 before .NET 7 lead to their methods, by indexes in a
// chunk or by their own word.
func TestPrecodesOf31OnARM64(t *testing.T) {
	const fixup, stub = 0x1000000c, 0x10000089 // adr x12, 0; adr x9, 16
	const path = "../../testdata/dumps/arm64/net31-arm64/net31-arm64.dmp.zst"
	if _, err := os.Stat(path); err != nil {
		t.Skip("there are no canned dumps here")
	}
	d, err := sosgo.Open(path, sosgo.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	rt, err := d.Runtime()
	require.NoError(t, err)
	r := dac.CodeOf(rt)
	first := map[uint32]int{} // by the precode's first instruction
	for mt, err := range rt.LoadedTypes() {
		if err != nil {
			continue
		}
		for m, err := range r.Methods(mt) {
			if err != nil {
				continue
			}
			entry, err := r.MethodEntry(m)
			if err != nil || entry == 0 {
				continue
			}
			if info, err := r.MethodAt(entry); err == nil && info.Method != nil {
				continue // its code
			}
			word, err := target.Uint32(d.Target(), entry)
			if err != nil {
				continue
			}
			got, err := r.MethodOfEntry(entry)
			if errors.Is(err, target.ErrNotInDump) || errors.Is(err, dac.ErrNoCode) && word != fixup && word != stub {
				continue // the others are functions of the runtime
			}
			if assert.NoError(t, err, "%v", entry) {
				assert.Equal(t, m.Addr, got.Addr, "%v", entry)
			}
			chunked, err := r.MethodOfChunkedPrecode(entry)
			if word == fixup && assert.NoError(t, err, "%v", entry) {
				assert.Equal(t, m.Addr, chunked.Addr, "%v", entry)
			} else if word != fixup {
				assert.ErrorIs(t, err, dac.ErrNoCode, "%v", entry)
			}
			first[word]++
		}
	}
	assert.Greater(t, first[fixup], 1000)
	assert.Greater(t, first[stub], 100)
}
