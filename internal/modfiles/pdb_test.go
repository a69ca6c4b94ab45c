package modfiles

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

func TestFindPDB(t *testing.T) {
	dir := t.TempDir()
	sub := filepath.Join(dir, "sub")
	require.NoError(t, os.Mkdir(sub, 0o755))
	write := func(path, content string) { require.NoError(t, os.WriteFile(path, []byte(content), 0o600)) }
	write(filepath.Join(dir, "app.pdb"), "other")
	write(filepath.Join(sub, "App.pdb"), "right")
	m := &target.Module{Path: "/srv/App.dll"}
	id := target.PDBID{Path: `C:\src\obj\App.pdb`}
	check := func(b []byte) error {
		if string(b) != "right" {
			return target.Corruptf("another id")
		}
		return nil
	}
	f := &Finder{Dirs: []string{dir}}
	b, path, err := f.FindPDB(m, id, "", check)
	require.NoError(t, err)
	assert.Equal(t, "right", string(b))
	assert.Equal(t, filepath.Join(sub, "App.pdb"), path, "the file with another id is refused")

	// Beside the module's file comes first; the name of the module serves where
	// the image names no PDB.
	_, path, err = (&Finder{}).FindPDB(m, target.PDBID{}, filepath.Join(sub, "App.dll"), check)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(sub, "App.pdb"), path)

	_, _, err = f.FindPDB(m, id, "", func([]byte) error { return errors.New("no") })
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, "app.pdb: no")
	_, _, err = (&Finder{}).FindPDB(m, id, "", check)
	assert.ErrorIs(t, err, os.ErrNotExist)

	// The path that the dump records counts only where the user lets it.
	recordedID := target.PDBID{Path: filepath.Join(sub, "App.pdb")}
	_, _, err = (&Finder{}).FindPDB(m, recordedID, "", check)
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, _, err = (&Finder{Recorded: true}).FindPDB(m, recordedID, "", check)
	assert.NoError(t, err)
}
