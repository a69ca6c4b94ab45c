package modfiles

import (
	"io/fs"
	"iter"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// Bounds of the search in a folder. A larger folder is searched in part.
const (
	folderDepth = 16
	folderFiles = 1_000_000
)

// A folder proposes the files below a folder with the module's name, without regard to case. It lists the names
// once.
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

// list walks the folder in lexical order. Links to files count as files. Links to folders are not followed, except for the root.
func (f *folder) list() {
	f.files = map[string][]string{}
	root := f.root
	if r, err := filepath.EvalSymlinks(root); err == nil {
		root = r
	}
	n := 0
	// Unreadable folders have no candidates.
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
