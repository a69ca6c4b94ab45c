package modfiles

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// A PDBFile is a portable PDB. Data is invalid after Close.
type PDBFile struct {
	Path string
	Data []byte // mapped if possible
	io.Closer
}

// FindPDB returns the first PDB of m with the GUID of id for which check returns nil. It searches beside the
// module's file, in the Finder's folders, and where the module was linked. id is the module's record of its
// PDB. If there is no such file, the error wraps os.ErrNotExist and lists the refused ones.
func (f *Finder) FindPDB(ctx context.Context, m *target.Module, id target.PDBID, beside string, check func([]byte) error) (*PDBFile, error) {
	var tried []Candidate
	seen := map[string]bool{}
	for p := range f.pdbs(m, id, beside) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if seen[p] {
			continue
		}
		seen[p] = true
		file, err := f.openPDB(p, id.GUID, check)
		if err == nil {
			return file, nil
		}
		tried = append(tried, Candidate{p, err})
	}
	return nil, noPDB(m, tried)
}

// noPDB returns the error for a missing PDB, with the refused files.
func noPDB(m *target.Module, tried []Candidate) error {
	err := notFound(m, tried)
	if e, ok := err.(*NotFoundError); ok && len(e.Tried) > 0 {
		return err
	}
	return fmt.Errorf("%s: no PDB found: %w", m.Path, os.ErrNotExist)
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
		for _, path := range []string{pdbName(withoutDeleted(m.Path)), id.Path} {
			if p := f.recorded(path); p != "" && !yield(p) {
				return
			}
		}
	}
}

// pdbName returns a path with the extension of PDBs.
func pdbName(p string) string { return strings.TrimSuffix(p, filepath.Ext(p)) + ".pdb" }

// openPDB opens a portable PDB. It checks the id first, so that it does not read another file.
func (p *Policy) openPDB(path string, guid target.GUID, check func([]byte) error) (*PDBFile, error) {
	f, err := p.open(path, orDefault(p.MaxPDB, limits.PDBFile))
	if err != nil {
		return nil, err
	}
	data, err := pdbContent(f, guid)
	if err == nil {
		err = check(data)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &PDBFile{path, data, f}, nil
}

// pdbContent returns the content of a portable PDB with that GUID.
func pdbContent(f target.Source, guid target.GUID) ([]byte, error) {
	id, err := image.PortablePDBID(f, f.Size())
	if err != nil {
		return nil, err
	}
	if id != guid {
		return nil, target.Corruptf("the PDB has the id %v, the module names %v", id, guid)
	}
	if b := f.Bytes(0, int(f.Size())); b != nil {
		return b, nil
	}
	var b bytes.Buffer
	_, err = io.Copy(&b, io.NewSectionReader(f, 0, f.Size()))
	return b.Bytes(), err
}
