package sosgo

import (
	"errors"
	"fmt"
	"os"

	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/target"
)

// A pdbStore keeps portable PDBs by their ids: a symbol cache or server.
type pdbStore interface {
	PortablePDB(path string, guid [16]byte) (file string, ok bool)
}

// PDB implements dac.PDBFiles: beside the module's file and in the folders
// that the user names first, then in symbol caches and on the servers.
func (f *moduleFiles) PDB(m *target.Module, id target.PDBID, check func([]byte) error) ([]byte, string, error) {
	beside := ""
	if found := f.find(m); found.err == nil {
		beside = found.img.Path()
	}
	b, path, err := f.finder.FindPDB(m, id, beside, check)
	if err == nil {
		return b, path, nil
	}
	for _, source := range f.finder.More {
		store, ok := source.(pdbStore)
		if !ok {
			continue
		}
		file, ok := store.PortablePDB(id.Path, id.GUID)
		if !ok {
			continue
		}
		b, rerr := readPDB(file, check)
		if rerr == nil {
			return b, file, nil
		}
		err = errors.Join(err, fmt.Errorf("%s: %w", file, rerr))
	}
	return nil, "", err
}

func readPDB(file string, check func([]byte) error) ([]byte, error) {
	st, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if st.Size() > limits.MetadataSize {
		return nil, target.Corruptf("a PDB of %d bytes", st.Size())
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return b, check(b)
}
