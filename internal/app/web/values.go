package web

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A Reader reads the requests of one runtime. It is safe for concurrent use.
type Reader struct {
	b     *objects.Binder
	items *objects.Collections
	tasks *tasks.Reader
}

// New returns a Reader that binds types with b.
func New(b *objects.Binder, c *objects.Collections, t *tasks.Reader) *Reader { return &Reader{b, c, t} }

// reading returns a Reading that records gaps in g.
func (r *Reader) reading(g *answer.Gaps) shapes.Reading {
	return shapes.Reading{Gaps: g, Binder: r.b}
}

// address formats an IPAddress with a port.
func (r *Reader) address(g shapes.Reading, f *objects.RefField, port *objects.IntField, x objects.Instance) string {
	s, at := shapes.BindAt[*ipAddress](g, f, x)
	if s == nil {
		return ""
	}
	var text string
	numbers, err := s.Numbers.Object(at)
	if err == nil && numbers.Addr == 0 {
		var n uint64
		n, err = s.Number.Uint(at)
		text = netip.AddrFrom4([4]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}).String()
	} else if err == nil {
		text, err = address6(numbers)
	}
	if err != nil {
		g.Note(err)
		return ""
	}
	p := g.IntAt(port, x)
	if p.Err() != nil || p.Value == 0 {
		return text
	}
	if strings.Contains(text, ":") {
		text = "[" + text + "]"
	}
	return fmt.Sprintf("%s:%d", text, p.Value)
}

// address6 formats an IPv6 address of eight numbers.
func address6(o objects.Object) (string, error) {
	a, err := o.Array()
	if err != nil {
		return "", err
	}
	if a.Len != 8 {
		return "", target.CorruptHeapf("an IPv6 address has %d numbers", a.Len)
	}
	var b [16]byte
	for i := range uint32(8) {
		n, err := a.At(i).Bits()
		if err != nil {
			return "", err
		}
		b[2*i], b[2*i+1] = byte(n>>8), byte(n)
	}
	return netip.AddrFrom16(b).Unmap().String(), nil
}
