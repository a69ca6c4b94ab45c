package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A PDBFiles finds portable PDBs on this machine. A ModuleFiles can be one too.
type PDBFiles interface {
	// PDB returns the content of the first PDB of m that check accepts, and the
	// path of its file. id is what the module's image says of it.
	PDB(m *target.Module, id target.PDBID, check func([]byte) error) ([]byte, string, error)
}

// A PDB is the portable PDB of a module.
type PDB struct {
	Metadata *metadata.Metadata
	Path     string // of its file, or of the image that it stands in
}

// PDB finds the module's portable PDB: in the image itself, or a file with the
// identity that the image names. Any other file is refused.
func (m *Module) PDB() (*PDB, error) {
	l, _ := m.r.code.pdbs.LoadOrStore(m.Addr, &lazy[*PDB]{})
	return l.(*lazy[*PDB]).get(func() (*PDB, error) {
		p, err := m.findPDB()
		if err != nil {
			return nil, fmt.Errorf("PDB of %s: %w", m.label(), err)
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
	for _, source := range []*image.Image{im, file} {
		if source == nil {
			continue
		}
		if b, err := source.EmbeddedPDB(); err == nil {
			if md, err := checkPDB(b, id); err == nil {
				return &PDB{md, source.Path()}, nil
			}
		}
	}
	finder, ok := m.r.files.(PDBFiles)
	if !ok {
		return nil, target.Unsupportedf("no PDB files were searched")
	}
	tm, err := m.imageModule()
	if err != nil {
		return nil, err
	}
	var md *metadata.Metadata
	_, path, err := finder.PDB(tm, id, func(b []byte) (err error) {
		md, err = checkPDB(b, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &PDB{md, path}, nil
}

// checkPDB parses b and holds it to the identity that a module names.
func checkPDB(b []byte, id target.PDBID) (*metadata.Metadata, error) {
	md, err := metadata.Parse(b)
	if err != nil {
		return nil, err
	}
	info := md.PDB()
	if info == nil {
		return nil, target.Corruptf("no portable PDB")
	}
	if got := [16]byte(info.ID[:16]); got != id.GUID {
		return nil, target.Corruptf("the PDB has the id %v, the module names %v", metadata.GUID(got), metadata.GUID(id.GUID))
	}
	return md, nil
}

// A SourceLine is a place in a source file.
type SourceLine struct {
	File         string // as the compiler recorded it
	Line, Column int    // from 1
	EndLine      int
	EndColumn    int
}

// SourceLine returns the place in the source of the instruction at info.Offset.
// For a return address, whose call is before it, the caller takes one from
// Offset. Code without a place, hidden by the compiler or without a map to IL,
// is target.ErrUnsupported.
func (r *Runtime) SourceLine(info CodeInfo) (SourceLine, error) {
	if info.Method == nil {
		return SourceLine{}, target.Unsupportedf("a stub has no source")
	}
	if info.Method.Token.IsNil() {
		return SourceLine{}, target.Unsupportedf("the method has no source")
	}
	il, ok, err := r.ILOffset(info)
	if err != nil {
		return SourceLine{}, err
	}
	if !ok {
		return SourceLine{}, target.Unsupportedf("the instruction has no place in the source")
	}
	return r.SourceLineOfIL(info.Method, il)
}

// SourceLineOfIL returns the place in the source of the instruction of m at an
// offset in its IL.
func (r *Runtime) SourceLineOfIL(m *MethodDesc, il int) (SourceLine, error) {
	mod, err := m.Module()
	if err != nil {
		return SourceLine{}, err
	}
	pdb, err := mod.PDB()
	if err != nil {
		return SourceLine{}, err
	}
	var best metadata.SequencePoint
	for p, err := range pdb.Metadata.SequencePoints(m.Token.Row()) {
		if err != nil {
			return SourceLine{}, err
		}
		if int64(p.ILOffset) > int64(il) {
			break
		}
		if !p.Hidden {
			best = p
		}
	}
	if best.StartLine == 0 {
		return SourceLine{}, target.Unsupportedf("the instruction has no place in the source")
	}
	file, err := pdb.Metadata.DocumentName(best.Document.Row())
	return SourceLine{file, int(best.StartLine), int(best.StartColumn), int(best.EndLine), int(best.EndColumn)}, err
}
