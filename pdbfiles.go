package sosgo

import "github.com/sosgo/sosgo/target"

// PDB implements dac.PDBFiles.
func (f *moduleFiles) PDB(m *target.Module, id target.PDBID, check func([]byte) error) ([]byte, string, error) {
	beside := ""
	if found := f.find(m); found.err == nil {
		beside = found.img.Path()
	}
	return f.finder.FindPDB(m, id, beside, check)
}
