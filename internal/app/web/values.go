package web

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/objects"
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
	ip := g.Address(g.ObjectAt(f, x))
	if !ip.IsValid() {
		return ""
	}
	p := g.IntAt(port, x)
	if p.Err() != nil || p.Value == 0 {
		return ip.String()
	}
	return shapes.HostPort(ip.String(), p.Value)
}
