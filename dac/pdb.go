package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A PDBFiles finds portable PDBs on this machine. A ModuleFiles can be one too.
type PDBFiles interface {
	// PDB returns the content of the first PDB of m that check accepts, and the path of its file. id is the identity in the module's image.
	PDB(m *target.Module, id target.PDBID, check func([]byte) error) ([]byte, string, error)
}

// A PDB is the portable PDB of a module.
type PDB struct {
	Metadata *metadata.Metadata
	Path     string // of its file, or of the image that contains it
}

// PDB finds the module's portable PDB, in the image or in a file with the identity that the image has. It refuses other files.
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
	file, ferr := m.OpenFile(im)
	if err != nil && ferr == nil {
		im = file
		id, err = im.PDB()
	}
	if err != nil {
		return nil, err
	}
	for _, source := range []*image.Image{im, file} {
		if source == nil {
			continue
		}
		if b, err := source.EmbeddedPDB(id.GUID); err == nil {
			if md, err := checkPDB(b, id, m); err == nil {
				return &PDB{md, source.Path()}, nil
			}
		}
	}
	finder, ok := m.runtime().files.(PDBFiles)
	if !ok {
		return nil, target.Unsupportedf("no PDB files were searched")
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
		return nil, err
	}
	return &PDB{md, path}, nil
}

// checkPDB parses b and holds it to the identity that a module names.
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
