package ondumps_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// TestOtherPDB checks that the PDB of another build is refused.
func TestOtherPDB(t *testing.T) {
	c := testcase.Open(t, "net10-zoo-withheap")
	d, err := sosgo.Open(c.Plain(), sosgo.Options{Modules: []string{testcase.ModuleSet(t, "net8-linux")}, NoLocalFiles: true})
	require.NoError(t, err)
	defer d.Close()
	rt, err := d.Runtime()
	require.NoError(t, err)
	mods, err := rt.Modules()
	require.NoError(t, err)
	for _, m := range mods {
		if p, _ := m.Path(); target.BaseName(p) == "Debuggee.dll" {
			_, err := m.PDB()
			assert.ErrorIs(t, err, os.ErrNotExist)
			assert.ErrorContains(t, err, "the module names")
			return
		}
	}
	t.Error("no Debuggee.dll")
}
