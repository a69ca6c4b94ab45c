package modfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/target"
)

// Bounds of a folder's search. A folder beyond them is searched in part.
const (
	folderDepth = 16
	folderFiles = 1_000_000
)

// A folder proposes the files below a folder that have the module's name,
// whatever the case of its letters. The names are listed once, when first
// needed.
type folder struct {
	root  string
	once  sync.Once
	files map[string][]string // by name in lower case
}

func (f *folder) Candidates(m *target.Module, _ *image.Identity) iter.Seq[string] {
	f.once.Do(f.list)
	return func(yield func(string) bool) {
		for _, p := range f.files[lowerName(m.Path)] {
			if !yield(p) {
				return
			}
		}
	}
}

// list walks the folder in lexical order. Links to files count as files; links
// to folders are not followed, apart from the root's.
func (f *folder) list() {
	f.files = map[string][]string{}
	root := f.root
	if r, err := filepath.EvalSymlinks(root); err == nil {
		root = r
	}
	n := 0
	// What can't be listed has no candidates.
	_ = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case d.IsDir():
			if strings.Count(p[len(root):], string(filepath.Separator)) > folderDepth {
				return fs.SkipDir
			}
			return nil
		}
		if n++; n > folderFiles {
			return fs.SkipAll
		}
		if t := d.Type(); t.IsRegular() || t&fs.ModeSymlink != 0 {
			name := strings.ToLower(d.Name())
			f.files[name] = append(f.files[name], p)
		}
		return nil
	})
}

// CheckDir reports with an error that a folder of module files which the user named
// is none: that it is not there, can't be read, or is a file that is no module's.
func CheckDir(dir string) error {
	st, err := os.Stat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("folder of module files: %w", err)
	case st.IsDir():
		d, err := os.Open(dir)
		if err == nil {
			err = d.Close()
		}
		return err
	}
	var p Policy
	img, err := p.openImage(dir)
	if err == nil {
		return img.Close()
	}
	if f, ferr := p.open(dir, limits.PDBFile); ferr == nil {
		_, ferr = image.PortablePDBID(f, f.Size())
		if err := errors.Join(ferr, f.Close()); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s is neither a folder nor a module's file: %w", dir, err)
}
