package modfiles

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

func TestFindPDB(t *testing.T) {
	dir := t.TempDir()
	sub := filepath.Join(dir, "sub")
	guid := target.GUID{7}
	write(t, filepath.Join(dir, "app.pdb"), pdb(target.GUID{8}, "right"))
	write(t, filepath.Join(sub, "App.pdb"), pdb(guid, "right"))
	m := &target.Module{Path: "/srv/App.dll"}
	id := target.PDBID{GUID: guid, Path: `C:\src\obj\App.pdb`}
	check := func(b []byte) error {
		if !strings.HasSuffix(string(b), "right") {
			return target.Corruptf("another content")
		}
		return nil
	}
	find := func(f *Finder, id target.PDBID, beside string, check func([]byte) error) (string, error) {
		file, err := f.FindPDB(t.Context(), m, id, beside, check)
		if err != nil {
			return "", err
		}
		require.NoError(t, check(file.Data))
		require.NoError(t, file.Close())
		return file.Path, nil
	}
	f := &Finder{Dirs: []string{dir}}
	path, err := find(f, id, "", check)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(sub, "App.pdb"), path, "the file with another id is refused")

	// A PDB beside the module's file comes first. If the image does not name a PDB, the module's name is used.
	path, err = find(&Finder{}, target.PDBID{GUID: guid}, filepath.Join(sub, "App.dll"), check)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(sub, "App.pdb"), path)

	_, err = find(f, id, "", func([]byte) error { return errors.New("no") })
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, "app.pdb: the PDB has the id 00000008-0000-0000-0000-000000000000")
	_, err = find(&Finder{}, id, "", check)
	assert.ErrorIs(t, err, os.ErrNotExist)

	// The recorded path is only tried if the user allows it.
	recordedID := target.PDBID{GUID: guid, Path: filepath.Join(sub, "App.pdb")}
	_, err = find(&Finder{}, recordedID, "", check)
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = find(&Finder{Policy: Policy{Recorded: true}}, recordedID, "", check)
	assert.NoError(t, err)

	// It is the same without a mapping.
	_, err = find(&Finder{Policy: Policy{NoMmap: true}, Dirs: []string{dir}}, id, "", check)
	assert.NoError(t, err)
}

// TestWrongPDBCostsNothing checks that a file of a gigabyte with another id is refused by its first bytes, with
// or without a mapping.
func TestWrongPDBCostsNothing(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "app.pdb"), pdb(target.GUID{8}, ""))
	require.NoError(t, os.Truncate(path, 1<<30))
	for _, noMmap := range []bool{false, true} {
		p := &Policy{NoMmap: noMmap}
		n := testing.AllocsPerRun(1, func() {
			_, err := p.openPDB(path, target.GUID{7}, func([]byte) error { t.Error("the content is looked at"); return nil })
			assert.ErrorIs(t, err, target.ErrCorrupt)
		})
		assert.Less(t, n, 100.0)
	}
}
