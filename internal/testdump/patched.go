package testdump

import (
	"testing"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/target"
)

// Patched opens the canned dump of that name with other bytes in the process's
// memory: those of patches, by their addresses.
func Patched(t testing.TB, name string, patches map[target.Addr][]byte) *sosgo.Dump {
	t.Helper()
	from := Open(t, name)
	t.Attr("case", name)
	o := from.Options()
	o.WrapMemory = func(m target.Memory) target.Memory { return &patched{m, patches} }
	d, err := sosgo.Open(from.Path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// patched is memory with patches.
type patched struct {
	target.Memory
	patches map[target.Addr][]byte
}

func (p *patched) ReadMemory(b []byte, a target.Addr) (int, error) {
	n, err := p.Memory.ReadMemory(b, a)
	for at, with := range p.patches {
		for i := range with {
			if off := at + target.Addr(i) - a; off < target.Addr(n) {
				b[off] = with[i]
			}
		}
	}
	return n, err
}

func (p *patched) View(a target.Addr, n int) ([]byte, bool) {
	for at, with := range p.patches {
		if at < a+target.Addr(n) && a < at+target.Addr(len(with)) {
			return nil, false
		}
	}
	return p.Memory.View(a, n)
}

func (p *patched) Span(a target.Addr) []byte {
	s := p.Memory.Span(a)
	for at, with := range p.patches {
		switch {
		case at <= a && a < at+target.Addr(len(with)):
			return nil
		case a < at && uint64(at-a) < uint64(len(s)):
			s = s[:at-a]
		}
	}
	return s
}

// NextStored implements target.SparseMemory. What is patched was stored before.
func (p *patched) NextStored(a target.Addr) (target.Addr, bool) {
	return target.NextStored(p.Memory, a)
}
