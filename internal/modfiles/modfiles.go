// Package modfiles finds the files of a dump's modules on this machine. A
// file is returned only if its content proves that it is the one that was
// loaded; names decide nothing but where to look.
package modfiles

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// A Source proposes files for modules.
type Source interface {
	// Candidates yields paths of files that may be m's, the likeliest first.
	Candidates(m *target.Module, id *image.Identity) iter.Seq[string]
}

// A Candidate is a file that Find looked at. Err says why it was refused, and
// is nil for the one that was taken.
type Candidate struct {
	Path string
	Err  error
}

// A Finder finds module files. Its fields must not change after the first
// Find. It is safe for concurrent use.
type Finder struct {
	Dirs     []string // searched with their subfolders; a file stands for itself
	Recorded bool     // also try the path that the dump records
	More     []Source // tried last, in order

	once sync.Once
	dirs []Source
}

// Find returns the file of m, opened, and the files that were looked at in
// order. The error is target.ErrUnsupported when id says nothing, and wraps
// os.ErrNotExist when no file was the right one.
func (f *Finder) Find(m *target.Module, id image.Identity) (*image.Image, []Candidate, error) {
	if !id.Known() {
		return nil, nil, target.Unsupportedf("%s: the dump does not identify the file", m.Path)
	}
	f.start()
	var tried []Candidate
	seen := map[string]bool{}
	for _, s := range f.dirs {
		for p := range s.Candidates(m, &id) {
			if seen[p] {
				continue
			}
			seen[p] = true
			im, err := open(p, &id)
			tried = append(tried, Candidate{p, err})
			if err == nil {
				return im, tried, nil
			}
		}
	}
	return nil, tried, fmt.Errorf("%s: none of %d files found is the one that was loaded: %w", m.Path, len(tried), os.ErrNotExist)
}

// start lists the sources, the first time.
func (f *Finder) start() {
	f.once.Do(func() {
		for _, d := range f.Dirs {
			f.dirs = append(f.dirs, &folder{root: d})
		}
		if f.Recorded {
			f.dirs = append(f.dirs, recorded{})
		}
		f.dirs = append(f.dirs, f.More...)
	})
}

// open opens and checks one file. Only regular files are opened: a path can
// come from the dump and name a device.
func open(p string, id *image.Identity) (*image.Image, error) {
	st, err := os.Stat(p)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, target.Unsupportedf("%s is not a regular file", p)
	}
	im, err := image.OpenFile(p)
	if err != nil {
		return nil, err
	}
	if err := id.Check(im); err != nil {
		return nil, errors.Join(err, im.Close())
	}
	return im, nil
}

// lowerName is the file name of a path of either system, in lower case.
func lowerName(p string) string { return strings.ToLower(target.BaseName(p)) }

// recorded proposes the path that the dump records.
type recorded struct{}

func (recorded) Candidates(m *target.Module, _ *image.Identity) iter.Seq[string] {
	return func(yield func(string) bool) {
		// A dump must not make this machine talk to a file server.
		if filepath.IsAbs(m.Path) && !strings.HasPrefix(m.Path, `\\`) && !strings.HasPrefix(m.Path, "//") {
			yield(filepath.Clean(m.Path))
		}
	}
}
