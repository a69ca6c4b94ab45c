package target_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestClaims: a missing byte was either left out, or the process had no memory there.
func TestClaims(t *testing.T) {
	list := func() []target.Range {
		return []target.Range{{Start: 0x7000_0000, End: 0x7000_2000}, {Start: 0x40_0000, End: 0x50_0000}, {Start: 0x50_0000, End: 0x60_0000}}
	}
	partial := target.NewClaims(target.ArchAMD64, list(), false)
	for _, test := range []struct {
		a              target.Addr
		partial, whole error
	}{
		{0x40_0000, target.ErrNotInDump, target.ErrNotInDump},
		{0x5f_ffff, target.ErrNotInDump, target.ErrNotInDump},
		{0x7000_1fff, target.ErrNotInDump, target.ErrNotInDump},
		{0x60_0000, target.ErrNotInDump, target.ErrCorrupt},
		{0x4141_4141_4141, target.ErrNotInDump, target.ErrCorrupt},
		{0x8, target.ErrCorrupt, target.ErrCorrupt},
		{0xffff, target.ErrCorrupt, target.ErrCorrupt},
		{0x8000_0000_0000, target.ErrCorrupt, target.ErrCorrupt},
		{0x4141_4141_4141_4140, target.ErrCorrupt, target.ErrCorrupt},
		{0xffff_f800_0000_0000, target.ErrCorrupt, target.ErrCorrupt},
	} {
		assert.ErrorIs(t, partial.Missing(test.a), test.partial, "%v", test.a)
		assert.ErrorIs(t, partial.AsWhole().Missing(test.a), test.whole, "%v", test.a)
	}
	high := target.NewClaims(target.ArchAMD64, append(list(), target.Range{Start: 1 << 50, End: 1<<50 + 0x1000}), false)
	assert.ErrorIs(t, high.Missing(1<<49), target.ErrNotInDump, "the process has memory above")
	assert.ErrorIs(t, target.NewClaims(target.Arch386, list(), false).Missing(1<<32), target.ErrCorrupt)
	assert.ErrorIs(t, target.NewClaims(target.ArchARM64, list(), false).Missing(1<<47), target.ErrNotInDump)
}

// TestClaimsOfDumps: full dumps and dumps that list regions know which memory the process did not
// have; dumps of single pages, and those that createdump wrote of writable memory, don't. Dumps of kind heap and full
// have what the process could write, and small ones don't, also where they list it.
func TestClaimsOfDumps(t *testing.T) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		created := d.Target().Platform().OS == target.OSLinux && !strings.HasPrefix(d.Manifest.Tool, "gcore") && d.Manifest.Tool != "kernel"
		pages := created && (d.Manifest.Kind != "full" || d.Manifest.Source != "") || d.Manifest.Kind == "normal" || d.Manifest.Kind == "triage"
		for _, m := range d.Target().Modules() {
			_, err := target.Uint64(d.Target(), m.Base)
			assert.NotErrorIs(t, err, target.ErrCorrupt, m.Path)
		}
		for _, th := range d.Target().Threads() {
			if sp, ok := th.Registers.SP(); ok {
				_, err := target.Uint64(d.Target(), sp)
				assert.NotErrorIs(t, err, target.ErrCorrupt)
			}
		}
		_, err := target.Uint64(d.Target(), 0x4141414141414140)
		assert.ErrorIs(t, err, target.ErrCorrupt)
		_, err = target.Uint64(d.Target(), 0x414141414140)
		if pages {
			assert.ErrorIs(t, err, target.ErrNotInDump)
		} else {
			assert.ErrorIs(t, err, target.ErrCorrupt)
		}
		if whole := d.Manifest.Source == ""; whole && d.HasRuntime() {
			assert.Equal(t, d.Manifest.Kind != "normal" && d.Manifest.Kind != "triage", target.StoresWritable(d.Target()), d.Manifest.Kind)
		}
	})
}
