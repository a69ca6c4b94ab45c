package dac

import (
	"cmp"
	"errors"
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A PDBFiles finds portable PDBs on this machine. A ModuleFiles may implement it too.
type PDBFiles interface {
	// PDB returns the content and the path of the first PDB of m for which check returns nil. id is the
	// identity in the module's image.
	PDB(m *target.Module, id target.PDBID, check func([]byte) error) ([]byte, string, error)
}

// A PDB is the portable PDB of a module.
type PDB struct {
	Metadata *metadata.Metadata
	Path     string // path of the PDB's file, or of the image that contains it
}

// PDB finds the module's portable PDB, in the image or in a file with the same identity. It refuses other
// files.
func (m *Module) PDB() (*PDB, error) {
	return m.pdb.Get(func() (*PDB, error) {
		p, err := m.findPDB()
		if err != nil {
			return nil, fmt.Errorf("PDB of %s: %w", m.Label(), err)
		}
		return p, nil
	})
}

func (m *Module) findPDB() (*PDB, error) {
	im, err := m.PEImage()
	if err != nil {
		return nil, err
	}
	id, err := im.PDB()
	file, ferr := m.openFile(im)
	if err != nil && ferr == nil {
		im = file
		id, err = im.PDB()
	}
	if err != nil {
		return nil, err
	}
	var limit error // why an embedded PDB is not read
	for _, source := range []*image.Image{im, file} {
		if source == nil {
			continue
		}
		md, err := m.embeddedPDB(source, id)
		if err == nil {
			return &PDB{md, source.Path()}, nil
		}
		if errors.Is(err, target.ErrLimit) {
			limit = err
		}
	}
	finder, ok := m.r.files.(PDBFiles)
	if !ok {
		return nil, cmp.Or(limit, target.Unsupportedf("no PDB files were searched"))
	}
	tm, err := m.imageModule()
	if err != nil {
		return nil, err
	}
	var md *metadata.Metadata
	_, path, err := finder.PDB(tm, id, func(b []byte) (err error) {
		md, err = checkPDB(b, id, m)
		return err
	})
	if err != nil {
		return nil, cmp.Or(limit, err)
	}
	return &PDB{md, path}, nil
}

// embeddedPDB unpacks the PDB inside of an image, and counts its bytes, which stay as long as the runtime.
func (m *Module) embeddedPDB(source *image.Image, id target.PDBID) (*metadata.Metadata, error) {
	used := &m.r.pdbBytes
	b, err := source.EmbeddedPDB(id.GUID, limits.EmbeddedPDBs-used.Load())
	if err != nil {
		return nil, err
	}
	md, err := checkPDB(b, id, m)
	if err == nil {
		used.Add(int64(len(b)))
	}
	return md, err
}

// checkPDB parses b and compares its identity with id.
func checkPDB(b []byte, id target.PDBID, owner *Module) (*metadata.Metadata, error) {
	md, err := metadata.Parse(b, metadata.Owner(owner))
	if err != nil {
		return nil, err
	}
	info := md.PDB()
	if info == nil {
		return nil, target.Corruptf("no portable PDB")
	}
	if got := [16]byte(info.ID[:16]); got != id.GUID {
		return nil, target.Corruptf("the PDB has the id %v, the module names %v", metadata.GUID(got), id.GUID)
	}
	return md, nil
}

// SourceFiles lists the source files that the module's PDB names, without their text; see Source.
func (m *Module) SourceFiles() iter.Seq2[*answer.SourceFile, error] {
	return func(yield func(*answer.SourceFile, error) bool) {
		pdb, err := m.PDB()
		if err != nil {
			yield(nil, err)
			return
		}
		for rid := uint32(1); rid <= pdb.Metadata.RowCount(metadata.TableDocument); rid++ {
			name, err := pdb.Metadata.DocumentName(rid)
			if !yield(&answer.SourceFile{File: name, Module: m.Label()}, err) {
				return
			}
		}
	}
}

// Source describes a source file of the module by its name in the PDB, with the text if the PDB embeds it.
func (m *Module) Source(file string) (*answer.SourceFile, error) {
	pdb, err := m.PDB()
	if err != nil {
		return nil, err
	}
	out := &answer.SourceFile{File: file, Module: m.Label()}
	for rid := uint32(1); rid <= pdb.Metadata.RowCount(metadata.TableDocument); rid++ {
		name, err := pdb.Metadata.DocumentName(rid)
		if err != nil || name != file {
			continue
		}
		text, ok, err := pdb.Metadata.EmbeddedSource(rid)
		if err != nil {
			return nil, err
		}
		if ok {
			s := string(text)
			out.Text = &s
		}
		out.Link, err = pdb.Metadata.SourceLink(file)
		out.Note(err)
		return out, nil
	}
	return nil, fmt.Errorf("source file %s: %w", file, target.NoSuchf("the PDB of %s has no such file", m.Label()))
}
