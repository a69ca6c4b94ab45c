package scrub

import (
	"bytes"

	"github.com/sosgo/sosgo/internal/base/leftout"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// A lacking is the process of a dump without the pages that module files may have. Files that are found complete it.
type lacking struct {
	target.Target
	gone func(page target.Addr) bool
}

// kept returns how many of n bytes from a on are on pages that stay.
func (l *lacking) kept(a target.Addr, n int) int {
	got := 0
	for got < n {
		at := a + target.Addr(got)
		if l.gone(at &^ (leftout.Page - 1)) {
			break
		}
		got += int(leftout.Page - at&(leftout.Page-1))
	}
	return min(got, n)
}

// ReadMemory implements target.Memory.
func (l *lacking) ReadMemory(p []byte, a target.Addr) (int, error) {
	n := l.kept(a, len(p))
	got, err := l.Target.ReadMemory(p[:n], a)
	if err == nil && n < len(p) {
		err = &target.MemoryError{Addr: a + target.Addr(n), Size: len(p) - n, Err: target.ErrNotInDump}
	}
	return got, err
}

// View implements target.Memory.
func (l *lacking) View(a target.Addr, n int) ([]byte, bool) {
	if l.kept(a, n) < n {
		return nil, false
	}
	return l.Target.View(a, n)
}

// Span implements target.Memory.
func (l *lacking) Span(a target.Addr) []byte {
	b := l.Target.Span(a)
	return b[:l.kept(a, len(b))]
}

// NextStored implements target.SparseMemory.
func (l *lacking) NextStored(a target.Addr) (target.Addr, bool) {
	for {
		at, ok := target.NextStored(l.Target, a)
		if !ok || !l.gone(at&^(leftout.Page-1)) {
			return at, ok
		}
		if a = at&^(leftout.Page-1) + leftout.Page; a < at {
			return 0, false
		}
	}
}

// Claims returns the memory that the process had.
func (l *lacking) Claims() *target.Claims { return target.ClaimsOf(l.Target) }

// A fileCheck compares pages with the module files available. The process can have changed a page that it could not write to, as tools that patch
// code do.
type fileCheck struct {
	files  *process.Dump // without the pages themselves
	atHand areas         // of modules with a file
}

// newFileCheck returns a check of the pages that d's module files may have, or nil if no file is available.
func (s *shrinker) newFileCheck(d *process.Dump) (*fileCheck, error) {
	if !s.withFiles {
		return nil, nil
	}
	gone := func(page target.Addr) bool {
		kind, ok := s.unread(page, leftout.Page)
		return ok && kind == areaFile
	}
	files, err := d.Over(&lacking{d.File(), gone})
	if err != nil {
		return nil, err
	}
	var at []area
	for _, m := range s.files {
		if _, err := d.ModuleFile(&m); err == nil {
			at = append(at, area{Range: target.RangeAt(m.Base, m.Size), kind: areaFile})
		}
	}
	return &fileCheck{files, areas(nil).overlay(at)}, nil
}

// kind returns how the new file refers to the page b at a: leftout.InFile if its file was compared, mayBeInFile if the file is not available. It
// reports false if the file lacks the page.
func (c *fileCheck) kind(b []byte, a target.Addr) (leftout.Kind, bool) {
	if c == nil || c.atHand.at(a).kind != areaFile {
		return mayBeInFile, true
	}
	got, err := target.Bytes(c.files.Memory(), a, len(b))
	return leftout.InFile, err == nil && bytes.Equal(got, b)
}

// mayBeInFile is leftout.InFile for a page of a file that is not available.
const mayBeInFile = leftout.InFile + 1
