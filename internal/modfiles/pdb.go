package modfiles

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/target"
)

// FindPDB returns the content of the first PDB of m that check accepts, and its
// path. It looks beside the module's file, in the Finder's folders, and where
// the module was linked. id is what the module says of its PDB. The error wraps
// os.ErrNotExist when there is no such file, and says what was refused.
func (f *Finder) FindPDB(m *target.Module, id target.PDBID, beside string, check func([]byte) error) ([]byte, string, error) {
	var refused []string
	seen := map[string]bool{}
	for p := range f.pdbs(m, id, beside) {
		if seen[p] {
			continue
		}
		seen[p] = true
		b, err := readPDB(p)
		if err == nil {
			err = check(b)
		}
		if err == nil {
			return b, p, nil
		}
		if !os.IsNotExist(err) {
			refused = append(refused, fmt.Sprintf("%s: %v", p, err))
		}
	}
	err := fmt.Errorf("%s: no PDB found: %w", m.Path, os.ErrNotExist)
	if len(refused) > 0 {
		err = fmt.Errorf("%s: %s: %w", m.Path, strings.Join(refused, "; "), os.ErrNotExist)
	}
	return nil, "", err
}

// pdbs proposes files, the likeliest first.
func (f *Finder) pdbs(m *target.Module, id target.PDBID, beside string) func(func(string) bool) {
	f.start()
	name := lowerName(id.Path)
	if name == "" {
		name = pdbName(lowerName(m.Path))
	}
	return func(yield func(string) bool) {
		if beside != "" && !yield(pdbName(beside)) {
			return
		}
		named := target.Module{Path: name}
		for _, s := range f.dirs {
			if _, ok := s.(*folder); !ok {
				continue
			}
			for p := range s.Candidates(&named, nil) {
				if !yield(p) {
					return
				}
			}
		}
		if f.Recorded {
			for _, path := range []string{pdbName(m.Path), id.Path} {
				for p := range (recorded{}).Candidates(&target.Module{Path: path}, nil) {
					if !yield(p) {
						return
					}
				}
			}
		}
	}
}

// pdbName is a path with the extension of PDBs.
func pdbName(p string) string { return strings.TrimSuffix(p, filepath.Ext(p)) + ".pdb" }

// readPDB reads a regular file that is no larger than metadata can be.
func readPDB(p string) ([]byte, error) {
	st, err := os.Stat(p)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > limits.MetadataSize {
		return nil, target.Unsupportedf("not a regular file of a PDB's size")
	}
	return os.ReadFile(p)
}
