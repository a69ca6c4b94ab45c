// Package modfiles finds the files of a dump's modules on this machine. It returns a file only if the content
// proves that it is the loaded one; names only decide where to search. It does not fetch files; package
// symstore has caches and servers.
//
// Start at Files, which searches the files of one dump, and Policy, which judges them.
package modfiles

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// A Source proposes files for modules.
type Source interface {
	// Candidates iterates over paths of files that may be m's, the likeliest first.
	Candidates(m *target.Module, id *image.Identity) iter.Seq[string]
}

// A Candidate is a file that Find tried. Err is the reason for its refusal, nil for the accepted file.
type Candidate struct {
	Path string
	Err  error
}

// Refusal describes the refused file and the reason. It is "" for the accepted file and for one that does not
// exist.
func (c *Candidate) Refusal() string {
	if c.Err == nil || errors.Is(c.Err, os.ErrNotExist) {
		return ""
	}
	words := oneLine(c.Err)
	if c.Path != "" && !strings.Contains(words, c.Path) {
		words = c.Path + ": " + words
	}
	return words
}

// A Finder finds module files. Its fields must not change after the first Find. It is safe for concurrent use.
type Finder struct {
	Policy
	Dirs []string // searched with their subfolders, by name and then by identity; may also be files
	More []Source // tried last, in order

	once sync.Once
	dirs []Source
}

// A contextSource is a Source with requests that a context can end.
type contextSource interface {
	In(ctx context.Context) Source
}

// A failingSource reports why it proposed no file for a module. The error is nil if it does not have such a
// file.
type failingSource interface {
	Failure(m *target.Module, id *image.Identity) error
}

// Find returns the first file of m that judge accepts, opened, with judge's proof, and the tried files in
// order. If no file is accepted, the error wraps os.ErrNotExist and has the reason for one of them. If ctx
// ended, it returns ctx's error.
func (f *Finder) Find(ctx context.Context, m *target.Module, id *image.Identity, judge func(*image.Image) (Proof, error)) (
	*image.Image, Proof, []Candidate, error) {
	f.start()
	var tried []Candidate
	seen := map[string]bool{}
	for _, s := range f.dirs {
		if c, ok := s.(contextSource); ok {
			s = c.In(ctx)
		}
		for p := range s.Candidates(m, id) {
			if seen[p] {
				continue
			}
			seen[p] = true
			im, proof, err := f.try(p, judge)
			tried = append(tried, Candidate{p, err})
			if err == nil {
				return im, proof, tried, nil
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, "", tried, fmt.Errorf("%s: the search was stopped: %w", m.Path, err)
		}
		if t, ok := s.(failingSource); ok {
			if err := t.Failure(m, id); err != nil {
				tried = append(tried, Candidate{"", err})
			}
		}
	}
	return nil, "", tried, notFound(m, tried)
}

// try opens a file and judges it.
func (f *Finder) try(p string, judge func(*image.Image) (Proof, error)) (*image.Image, Proof, error) {
	im, err := f.openImage(p)
	if err != nil {
		return nil, "", err
	}
	proof, err := judge(im)
	if err != nil {
		return nil, "", errors.Join(err, im.Close())
	}
	return im, proof, nil
}

// A NotFoundError reports that no file was proved to be a module's. It wraps os.ErrNotExist.
type NotFoundError struct {
	Path  string      // path of the module in the dump
	Tried []Candidate // refused files
}

func notFound(m *target.Module, tried []Candidate) error {
	e := &NotFoundError{Path: m.Path}
	for _, c := range tried {
		if c.Err != nil && !errors.Is(c.Err, os.ErrNotExist) {
			e.Tried = append(e.Tried, c)
		}
	}
	return e
}

// Reason describes the result of the search.
func (e *NotFoundError) Reason() string {
	if len(e.Tried) == 0 {
		return "no file of that name was found"
	}
	words := e.Tried[0].Refusal()
	if e.Tried[0].Path != "" {
		words = "refused: " + words
	}
	if n := len(e.Tried) - 1; n > 0 {
		words += fmt.Sprintf(" (and %d more)", n)
	}
	return words
}

func (e *NotFoundError) Error() string {
	if e.Path == "" {
		return "nothing names its file"
	}
	return e.Path + ": " + e.Reason()
}

// Unwrap returns os.ErrNotExist and the reasons for refused files.
func (e *NotFoundError) Unwrap() []error {
	out := []error{os.ErrNotExist}
	for _, c := range e.Tried {
		out = append(out, c.Err)
	}
	return out
}

// oneLine returns the text of an error on one line. errors.Join puts parts on lines.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// start lists the sources on the first call.
func (f *Finder) start() {
	f.once.Do(func() {
		var renamed []Source
		for _, d := range f.Dirs {
			named := &folder{root: d}
			f.dirs = append(f.dirs, named)
			renamed = append(renamed, &identified{folder: named, policy: &f.Policy})
		}
		if f.Recorded {
			f.dirs = append(f.dirs, recorded{&f.Policy})
		}
		f.dirs = append(f.dirs, renamed...)
		f.dirs = append(f.dirs, f.More...)
	})
}

// lowerName returns the file name of a path of either system, in lower case.
func lowerName(p string) string { return strings.ToLower(target.BaseName(withoutDeleted(p))) }

// recorded proposes the path recorded in the dump.
type recorded struct{ policy *Policy }

func (r recorded) Candidates(m *target.Module, _ *image.Identity) iter.Seq[string] {
	return func(yield func(string) bool) {
		if p := r.policy.recorded(m.Path); p != "" {
			yield(p)
		}
	}
}
