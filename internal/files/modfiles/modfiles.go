// Package modfiles finds the files of a dump's modules on this machine. A file is returned only if its content proves
// that it is the one that was loaded; names decide nothing but where to look.
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
	// Candidates yields paths of files that may be m's, most likely first.
	Candidates(m *target.Module, id *image.Identity) iter.Seq[string]
}

// A Candidate is a file that Find looked at. Err gives the reason why it was refused, nil for the one taken.
type Candidate struct {
	Path string
	Err  error
}

// Refusal describes which file was refused and why; it is empty for the one taken and for one that is not there.
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
	Dirs []string // searched with their subfolders, by name and then by identity; a file stands for itself
	More []Source // tried last, in order

	once sync.Once
	dirs []Source
}

// A contextSource is a Source that obeys a context while it proposes.
type contextSource interface {
	In(ctx context.Context) Source
}

// A failingSource reports why it proposed nothing for a module. The error is nil if it just has no such file.
type failingSource interface {
	Failure(m *target.Module, id *image.Identity) error
}

// Find returns the first file of m that judge accepts, opened, with judge's proof, and the files that were looked at in order. The error
// wraps os.ErrNotExist when no file was the right one, with the reason for one of them; if ctx ended, it is ctx's.
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

// try opens a file and has it judged.
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

// A NotFoundError reports that no file was proved to be a module's. It is os.ErrNotExist.
type NotFoundError struct {
	Path  string      // of the module, as the dump has it
	Tried []Candidate // the files that were refused
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

// Unwrap is os.ErrNotExist and why files were refused.
func (e *NotFoundError) Unwrap() []error {
	out := []error{os.ErrNotExist}
	for _, c := range e.Tried {
		out = append(out, c.Err)
	}
	return out
}

// oneLine returns the text of an error, whose parts errors.Join puts on lines.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// start lists the sources, the first time.
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

// recorded proposes the path that the dump records.
type recorded struct{ policy *Policy }

func (r recorded) Candidates(m *target.Module, _ *image.Identity) iter.Seq[string] {
	return func(yield func(string) bool) {
		if p := r.policy.recorded(m.Path); p != "" {
			yield(p)
		}
	}
}
