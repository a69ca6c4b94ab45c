package modfiles

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/mmapfile"
	"github.com/sosgo/sosgo/target"
)

// A Policy decides which files may stand for memory of a process: which recorded paths may be tried, how files
// are opened, and what proves that a file is the loaded one. No other code decides that. The zero value does
// not try recorded paths.
type Policy struct {
	// Recorded allows the paths recorded in the dump, of modules and of their PDBs. namesLocalFile excludes
	// some paths always.
	Recorded bool
	NoMmap   bool // read files instead of mapping them
	// MaxFile and MaxPDB are the largest module file and PDB in bytes; 0 means limits.ModuleFile and limits.PDBFile.
	MaxFile, MaxPDB int64
	// Structure, if not nil, compares a managed module's file with the structures that the runtime made of the
	// module, and returns a description of the match. It returns image.ErrMismatch for a contradiction, and
	// another error if there was nothing to compare.
	Structure func(m *target.Module, file *image.Image) (string, error)
}

// ErrUnproven reports a file that the dump neither contradicts nor proves.
var ErrUnproven = errors.New("nothing in the dump proves that it is the file that was loaded")

// A Proof describes why a file counts as the loaded one: "build id", or "structure: 1204 of 1204 types fit".
type Proof string

// Judge returns the proof that the file img is the module m. id is m's identity as far as the dump records it,
// and mem the memory. It returns image.ErrMismatch for a different file, and ErrUnproven if the dump cannot
// decide.
//
// An identity decides alone: a build id, the time stamp and size of a PE image, or the MVID if the metadata is
// in the dump. Without an identity, because the writer of the dump omitted what is in files, the file must fit
// what the loader and the runtime made from it.
func (p *Policy) Judge(mem target.Memory, m *target.Module, id *image.Identity, img *image.Image) (Proof, error) {
	if id.Known() {
		return Proof(id.Kind()), id.Check(img)
	}
	fit, err := img.FitFile(mem, m)
	if err != nil {
		return "", err
	}
	why := ErrUnproven
	if img.Kind() == image.KindPE && p.Structure != nil {
		words, err := p.Structure(m, img)
		switch {
		case errors.Is(err, image.ErrMismatch):
			return "", err
		case err == nil:
			return Proof("structure: " + words), nil
		}
		why = fmt.Errorf("%w: %v", ErrUnproven, err)
	}
	if fit.Proves() {
		return Proof("structure: " + fit.String()), nil
	}
	return "", why
}

// recorded returns the local path to try for a path in a dump, or "".
func (p *Policy) recorded(path string) string {
	path = withoutDeleted(path)
	if !p.Recorded || !namesLocalFile(runtime.GOOS, path) {
		return ""
	}
	return filepath.Clean(path)
}

// driveLetter reports whether a path starts with a drive letter. Only such paths of Windows never reach another
// machine. With others, \\server\share, /\server\share, \??\UNC\server\share and more, Windows would send the
// user's credentials to a server named in the dump.
func driveLetter(path string) bool {
	return len(path) > 2 && (path[0]|0x20 >= 'a' && path[0]|0x20 <= 'z') && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
}

// namesLocalFile reports whether a path from a dump may be tried on a machine with the operating system goos.
// It excludes paths of other systems.
func namesLocalFile(goos, path string) bool {
	switch {
	case path == "" || len(path) > limits.PathBytes || strings.ContainsRune(path, 0):
		return false
	case goos == "windows":
		// A colon after the drive starts the name of a stream.
		return driveLetter(path) && !strings.Contains(path[2:], ":")
	}
	return path[0] == '/' && !strings.HasPrefix(path, "//")
}

// withoutDeleted removes the kernel's mark from the path of a file that was deleted after it was mapped.
func withoutDeleted(path string) string { return strings.TrimSuffix(path, " (deleted)") }

// open opens a file with a path or name from a dump. It must be a regular file, not empty, on a file system
// that stores files. open does not read it, and never blocks on a pipe or a device.
func (p *Policy) open(path string, most int64) (*mmapfile.File, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := harmless(path, st, most); err != nil {
		return nil, err
	}
	f, err := mmapfile.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	// The path may lead to another file by now.
	if st, err = f.Stat(); err == nil {
		err = harmless(path, st, most)
	}
	if err == nil {
		err = keepsFiles(f)
	}
	var file *mmapfile.File
	if err == nil {
		file, err = mmapfile.FromFile(f, p.NoMmap)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return file, nil
}

func harmless(path string, st os.FileInfo, most int64) error {
	switch {
	case !st.Mode().IsRegular():
		return target.Unsupportedf("%s is not a regular file", path)
	case st.Size() == 0:
		return target.Unsupportedf("%s is empty", path)
	case st.Size() > most:
		return target.Unsupportedf("%s has %d bytes, more than %d", path, st.Size(), most)
	}
	return nil
}

func orDefault(n, standard int64) int64 {
	if n > 0 {
		return n
	}
	return standard
}

// openImage opens a module's file.
func (p *Policy) openImage(path string) (*image.Image, error) {
	f, err := p.open(path, orDefault(p.MaxFile, limits.ModuleFile))
	if err != nil {
		return nil, err
	}
	img, err := image.OpenFrom(path, f, f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return img, nil
}
