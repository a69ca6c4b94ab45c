package testdump

import (
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/testcase"
	"github.com/sosgo/sosgo/target"
)

// Patched opens the canned dump of that name with other bytes in the process's
// memory: those of patches, by their addresses.
func Patched(t testing.TB, name string, patches map[target.Addr][]byte) *sosgo.Dump {
	t.Helper()
	list := make([]Damage, 0, len(patches))
	for at, b := range patches {
		list = append(list, Damage{at, b})
	}
	t.Attr("case", name)
	d, _ := OpenOverlaid(t, name, list...)
	return d
}

// OpenOverlaid opens the canned dump of that name with an Overlay over its memory,
// which holds that damage and can be changed.
func OpenOverlaid(t testing.TB, name string, damage ...Damage) (*sosgo.Dump, *Overlay) {
	t.Helper()
	from := Open(t, name)
	return OverlaidFile(t, from.Path, from.Options(), damage...)
}

// Libraries opens the dump whose classes have the names and fields that those of libraries have of which no program was
// at hand, with an Overlay over its memory.
func Libraries(t testing.TB) (*sosgo.Dump, *Overlay) {
	t.Helper()
	root, err := testcase.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	return OverlaidFile(t, filepath.Join(root, "testdata", "dumps", "libraries", "net10-libraries", "net10-libraries.dmp.zst"), sosgo.Options{Offline: true})
}

// OverlaidFile is OpenOverlaid for a dump that is no canned one.
func OverlaidFile(t testing.TB, path string, o sosgo.Options, damage ...Damage) (*sosgo.Dump, *Overlay) {
	t.Helper()
	over := &Overlay{}
	over.Set(damage...)
	o.WrapMemory = func(m target.Memory) target.Memory { over.Memory = m; return over }
	d, err := sosgo.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d, over
}

// An Overlay is memory with other bytes at some addresses, where it has any. What
// is apart from them is lent as it is, so that reads cost what they do without.
type Overlay struct {
	target.Memory
	damage atomic.Pointer[[]Damage]
}

// Set puts this damage in the place of what there was. Of two at one address the
// last counts.
func (o *Overlay) Set(damage ...Damage) { o.damage.Store(&damage) }

func (o *Overlay) ReadMemory(b []byte, a target.Addr) (int, error) {
	n, err := o.Memory.ReadMemory(b, a)
	for _, d := range *o.damage.Load() {
		if from := d.At - a; from < target.Addr(n) {
			copy(b[from:n], d.Bytes)
		} else if from = a - d.At; from < target.Addr(len(d.Bytes)) {
			copy(b[:n], d.Bytes[from:])
		}
	}
	return n, err
}

func (o *Overlay) View(a target.Addr, n int) ([]byte, bool) {
	for _, d := range *o.damage.Load() {
		if d.At-a < target.Addr(max(n, 0)) || a-d.At < target.Addr(len(d.Bytes)) {
			return nil, false
		}
	}
	return o.Memory.View(a, n)
}

func (o *Overlay) Span(a target.Addr) []byte {
	s := o.Memory.Span(a)
	for _, d := range *o.damage.Load() {
		if a-d.At < target.Addr(len(d.Bytes)) {
			return nil
		}
		if to := d.At - a; to < target.Addr(len(s)) {
			s = s[:to]
		}
	}
	return s
}

// NextStored implements target.SparseMemory. What is damaged was stored before.
func (o *Overlay) NextStored(a target.Addr) (target.Addr, bool) {
	return target.NextStored(o.Memory, a)
}
