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

// A Policy decides which file may stand for which memory of a process: which of the paths in a dump may be tried, how a file is opened, and
// what has to prove that it is the one that was loaded. Nothing else decides it. The zero value tries no path that a dump names.
type Policy struct {
	// Recorded lets the paths be tried that the dump records: of modules, and of
	// the PDBs that they name. See namesLocalFile for those that never are.
	Recorded bool
	NoMmap   bool // reads files instead of mapping them
	// MaxFile and MaxPDB are the largest module file and PDB in bytes; 0 means limits.ModuleFile and limits.PDBFile.
	MaxFile, MaxPDB int64
	// Structure, if not nil, compares a managed module's file with what the runtime made of the module, and returns
	// what fits as text. image.ErrMismatch is a contradiction; another error reports that there was nothing to compare.
	Structure func(m *target.Module, file *image.Image) (string, error)
}

// ErrUnproven reports a file that nothing in the dump contradicts, and nothing proves.
var ErrUnproven = errors.New("nothing in the dump proves that it is the file that was loaded")

// A Proof describes why a file counts as the one that was loaded: "build id", or "structure: 1204 of 1204 types fit".
type Proof string

// Judge returns why the file img stands for the module m, whose identity is id as far as the dump records it, and whose
// memory is mem. The error is image.ErrMismatch for a different file, and ErrUnproven where the dump does not show it.
//
// An identity decides alone: a build id, or the time stamp and size of a PE image and the MVID where its metadata is in the dump. Where the
// dump has none, because its writer left out what is in files, the file has to fit what the loader and the runtime made from it.
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

// recorded returns the file that a path in a dump may be tried as, empty if there is none.
func (p *Policy) recorded(path string) string {
	path = withoutDeleted(path)
	if !p.Recorded || !namesLocalFile(runtime.GOOS, path) {
		return ""
	}
	return filepath.Clean(path)
}

// driveLetter reports whether a path begins with a drive letter. Only such paths of
// Windows never reach another machine by themselves. Of the others, \\server\share, /\server\share, \??\UNC\server\share
// and more make Windows send the user's credentials to a server that the dump names.
func driveLetter(path string) bool {
	return len(path) > 2 && (path[0]|0x20 >= 'a' && path[0]|0x20 <= 'z') && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
}

// namesLocalFile reports whether a path from a dump may be tried on a machine with
// the operating system goos. A path of the other system names nothing here.
func namesLocalFile(goos, path string) bool {
	switch {
	case path == "" || len(path) > limits.PathBytes || strings.ContainsRune(path, 0):
		return false
	case goos == "windows":
		// A colon after the drive names a stream of a file.
		return driveLetter(path) && !strings.Contains(path[2:], ":")
	}
	return path[0] == '/' && !strings.HasPrefix(path, "//")
}

// withoutDeleted removes what the kernel adds to the path of a file that has been deleted since it was mapped.
func withoutDeleted(path string) string { return strings.TrimSuffix(path, " (deleted)") }

// open opens a file that a dump names, or whose name a dump chose: a regular file with something in it, on a file
// system that keeps files. Nothing is read. It never blocks on a pipe or a device.
func (p *Policy) open(path string, most int64) (*mmapfile.File, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := harmless(path, st, most); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
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
