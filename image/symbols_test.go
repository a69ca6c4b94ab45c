package image

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/target"
)

func TestExportBefore(t *testing.T) {
	x := moduleExports{list: []export{{0x1000, 0x10, "sized"}, {0x2000, 0, "unsized"}}}
	for _, c := range []struct {
		addr target.Addr
		want string
	}{
		{0xfff, ""},
		{0x1000, "sized"},
		{0x100f, "sized"},
		{0x1010, ""}, // after its end: a function that is not exported
		{0x2000, "unsized"},
		{0x2fff, "unsized"},
		{0x3000, ""},
		{^target.Addr(0), ""},
	} {
		got := ""
		if e := x.exportAt(c.addr); e != nil {
			got = e.name
		}
		assert.Equal(t, c.want, got, "%#x", uint64(c.addr))
	}
	assert.Nil(t, (&moduleExports{}).exportAt(0x1000))
}

func TestSymbolText(t *testing.T) {
	m := target.Module{Base: 0x1000, Size: 0x1000, Path: "/lib/libc.so.6"}
	assert.Equal(t, "libc.so.6!read+0x1f", Symbol{Module: m, Name: "read", Offset: 0x1f}.String())
	assert.Equal(t, "libc.so.6+0x20", Symbol{Module: m, Offset: 0x20}.String())
}

// TestSymbolsWithoutMemory: if a module's image is not in the dump, its addresses have the module's
// name.
func TestSymbolsWithoutMemory(t *testing.T) {
	m := target.Module{Base: 0x1000, Size: 0x1000, Path: "a.so"}
	s := &Symbols{mem: noMemory{}, modules: []target.Module{m}, exports: make([]moduleExports, 1)}
	got, ok := s.At(0x1234)
	assert.True(t, ok)
	assert.Equal(t, Symbol{Module: m, Offset: 0x234}, got)
	for _, a := range []target.Addr{0, 0xfff, 0x2000, ^target.Addr(0)} {
		_, ok := s.At(a)
		assert.False(t, ok, "%#x", uint64(a))
	}
}

type noMemory struct{}

func (noMemory) ReadMemory(p []byte, a target.Addr) (int, error) {
	return 0, &target.MemoryError{Addr: a, Size: len(p), Err: target.ErrNotInDump}
}
func (noMemory) View(target.Addr, int) ([]byte, bool) { return nil, false }
func (noMemory) Span(target.Addr) []byte              { return nil }
