package dac

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// TestWrongTablesAreRefused tries each table with each dump. Only the table for the runtime's major version and
// system may pass the probes.
func TestWrongTablesAreRefused(t *testing.T) {
	testcase.Corpus(t, (*testcase.Case).HasRuntime, func(t *testing.T, c *testcase.Case) (refused int) {
		d, err := dump.Open(c.Plain(), dump.Options{})
		require.NoError(t, err)
		defer d.Close()
		for _, inst := range Find(d, d, nil) {
			if inst.Flavor == FlavorCoreCLR {
				refused += refuseOthers(t, inst)
				openAsUnknown(t, inst)
			}
		}
		return refused
	})
}

// refuseOthers returns how many tables were refused.
func refuseOthers(t *testing.T, inst *Instance) (refused int) {
	rt, err := inst.Open()
	require.NoError(t, err)
	right := rt.Layout().Sources()
	rightTable := right[len(right)-1]
	for _, system := range []target.OS{target.OSLinux, target.OSWindows} {
		candidates := layout.Candidates(system, target.ArchAMD64, "")
		for _, c := range candidates {
			require.NoError(t, c.Load(true))
			own := c.Parts[len(c.Parts)-1]
			if own.Source == rightTable {
				continue
			}
			other, err := inst.try(nil, c)
			if err != nil {
				refused++
				continue // the table lacks a required member
			}
			passed, failed := tally(other.probes)
			if len(failed) == 0 && passed > 0 {
				t.Errorf("%s passes %d probes on a runtime of %s", own.Source, passed, strings.Join(right, ", "))
			}
			refused++
		}
	}
	return refused
}

// openAsUnknown opens the runtime as if its build were not in the catalogue and it had no descriptor, like an
// unknown patch of a known major version. The tables and the DAC table must suffice.
func openAsUnknown(t *testing.T, inst *Instance) {
	stranger := &Instance{Module: inst.Module, Image: inst.Image, tgt: inst.tgt, mem: inst.mem}
	stranger.dacTable, stranger.dacSize, _ = stranger.symbol(symDacTable)
	if stranger.dacTable != 0 && !target.Available(inst.mem, stranger.dacTable, 8) {
		return // the dump lacks the table of the process's second runtime
	}
	want, err := inst.Open()
	require.NoError(t, err)
	sources := want.Layout().Sources()
	candidates := layout.Candidates(inst.tgt.Platform().OS, inst.tgt.Platform().Arch, "")
	for _, c := range candidates {
		require.NoError(t, c.Load(true))
		if c.Parts[len(c.Parts)-1].Source != sources[len(sources)-1] {
			continue
		}
		rt, err := stranger.try(nil, c)
		if err != nil && stranger.dacTable == 0 {
			return // the dump lacks even the symbol
		}
		require.NoError(t, err)
		passed, failed := tally(rt.probes)
		require.Empty(t, failed)
		require.Positive(t, passed)
		require.Equal(t, want.known, rt.known)
	}
}
