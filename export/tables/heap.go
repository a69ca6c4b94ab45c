package tables

import (
	"context"
	"hash/fnv"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/export"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/target"
)

// objectTable has all objects, in the order of their addresses.
func (p *Process) objectTable() *Table {
	return &Table{Name: "objects", Summary: "all objects of the heap, by address", heap: p.Heap, pieces: p.objectPieces, Columns: []Column{
		{Name: "address", Kind: Uint, rising: true, Summary: "where it starts"},
		{Name: "type", Kind: Uint, few: true, Summary: "types.id"},
		{Name: "size", Kind: Uint, few: true, Summary: "bytes"},
		{Name: "generation", Kind: Uint, few: true, Null: true, Summary: "0, 1, 2, 3 large, 4 pinned, 5 frozen; null if it can't be told"},
		{Name: "live", Kind: Bool, Summary: "whether something keeps it alive"},
		{Name: "retained", Kind: Uint, few: true, Summary: "bytes that would be free without it, its own among them"},
		{Name: "owner", Kind: Uint, Null: true, rising: true, Summary: "the object without which it would not live; null if there is none, or it is a root"},
		{Name: "references", Kind: Uint, few: true, Summary: "how many objects it refers to, each as often as it does"},
		{Name: "referrers", Kind: Uint, few: true, Summary: "how many references there are to it, of roots too"},
	}}
}

func (p *Process) objectPieces(ctx context.Context) (func(*export.Piece, *Batch), error) {
	g := p.Heap.Graph
	d, err := g.Dominators(ctx)
	if err != nil {
		return nil, err
	}
	live, err := g.Live(ctx)
	if err != nil {
		return nil, err
	}
	referrers, err := g.Referrers(ctx)
	if err != nil {
		return nil, err
	}
	return func(piece *export.Piece, b *Batch) {
		for n := piece.From; n < piece.To; n++ {
			b.num(0, uint64(piece.Address(n)))
			b.num(1, uint64(g.TypeIndex(n)))
			b.num(2, g.Size(n))
			if gen := piece.Generation(n); gen != heap.GenerationUnknown {
				b.num(3, uint64(gen))
			} else {
				b.null(3)
			}
			b.bool(4, live.Live(n))
			b.num(5, d.Retained(n))
			if owner := d.Idom(n); g.IsObject(owner) {
				b.num(6, uint64(piece.Near(owner)))
			} else {
				b.null(6)
			}
			b.num(7, uint64(len(g.Referents(n))))
			b.num(8, uint64(len(referrers.Of(n))))
			b.n++
		}
	}, nil
}

// typeTable has the types of all objects.
func (p *Process) typeTable() *Table {
	return &Table{Name: "types", Summary: "the types of all objects", rows: p.typeRows, Columns: []Column{
		{Name: "id", Kind: Uint, Summary: "number of the type in this dump"},
		{Name: "name", Kind: Text, Null: true, Summary: "full name"},
		{Name: "assembly", Kind: Text, Null: true, Summary: "simple name of the assembly: with the name the key across dumps"},
		{Name: "module", Kind: Text, Null: true, Summary: "path of the module's file"},
		{Name: "mvid", Kind: Text, Null: true, Summary: "MVID of the module: the same build has the same one"},
		{Name: "method_table", Kind: Uint, Summary: "its MethodTable"},
		{Name: "base_size", Kind: Uint, Summary: "bytes of an object without its elements"},
		{Name: "component_size", Kind: Uint, Summary: "bytes of an element or character, 0 for none"},
		{Name: "count", Kind: Uint, Summary: "objects"},
		{Name: "size", Kind: Uint, Summary: "their bytes"},
		{Name: "live_count", Kind: Uint, Summary: "objects that something keeps alive"},
		{Name: "live_size", Kind: Uint, Summary: "their bytes"},
		{Name: "retained", Kind: Uint, Summary: "bytes that would be free without those that live"},
	}}
}

func (p *Process) typeRows(ctx context.Context, w *writer) error {
	g := p.Heap.Graph
	d, err := g.Dominators(ctx)
	if err != nil {
		return err
	}
	retained, err := d.ByType(ctx, graph.PartLive)
	if err != nil {
		return err
	}
	all, err := p.typeSums(ctx)
	if err != nil {
		return err
	}
	mvids := map[target.Addr]string{}
	for i, t := range p.Heap.Types(w.gaps) {
		b := w.batch
		b.num(0, uint64(i))
		if t.Err != nil {
			b.null(1)
		} else {
			b.text(1, t.Name)
		}
		b.textOrNull(2, t.Assembly)
		b.textOrNull(3, t.Path)
		b.textOrNull(4, p.mvid(mvids, t.Module))
		b.num(5, uint64(t.Addr))
		b.num(6, uint64(t.BaseSize))
		b.num(7, uint64(t.ComponentSize))
		b.num(8, all[i].all.Objects)
		b.num(9, all[i].all.Size)
		b.num(10, all[i].live.Objects)
		b.num(11, all[i].live.Size)
		b.num(12, retained[i])
		if err := w.next(); err != nil {
			return err
		}
	}
	return nil
}

type typeSum struct{ all, live answer.HeapPart }

// typeSums counts the objects of each type.
func (p *Process) typeSums(ctx context.Context) ([]typeSum, error) {
	g := p.Heap.Graph
	live, err := g.Live(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]typeSum, len(g.Types()))
	for n := range graph.Node(g.Objects()) {
		if n%batchRows == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s, size := &out[g.TypeIndex(n)], g.Size(n)
		s.all.Objects++
		s.all.Size += size
		if live.Live(n) {
			s.live.Objects++
			s.live.Size += size
		}
	}
	return out, nil
}

// mvid is the MVID of a module, empty if it can't be read.
func (p *Process) mvid(known map[target.Addr]string, module target.Addr) string {
	id, ok := known[module]
	if ok {
		return id
	}
	if m, err := p.Heap.Objects.Runtime().TrustedModule(module); err == nil {
		if img, err := m.PEImage(); err == nil {
			if v, err := img.MVID(); err == nil {
				id = target.GUID(v).String()
			}
		}
	}
	known[module] = id
	return id
}

// stringChars is how much of a string a table has.
const stringChars = 256

// stringTable has the strings of the heap, by address.
func (p *Process) stringTable() *Table {
	return &Table{Name: "strings", Summary: "the strings of the heap, by address", heap: p.Heap, pieces: p.stringPieces, Columns: []Column{
		{Name: "address", Kind: Uint, rising: true, Summary: "where it starts"},
		{Name: "length", Kind: Uint, few: true, Summary: "characters (UTF-16)"},
		{Name: "text", Kind: Text, Null: true, Summary: "what it says, 256 characters of it at most; null if the dump lacks it"},
		{Name: "hash", Kind: Uint, Null: true, Summary: "FNV-1a, 64 bits, of the text in this table in UTF-8"},
	}}
}

func (p *Process) stringPieces(context.Context) (func(*export.Piece, *Batch), error) {
	g := p.Heap.Graph
	known := p.Heap.Objects.Runtime().WellKnown().String
	isText := make([]bool, len(g.Types()))
	for i, t := range g.Types() {
		isText[i] = t.Addr == known && known != 0
	}
	return func(piece *export.Piece, b *Batch) {
		texts, hash := g.Heap().Texts(), fnv.New64a()
		var raw []byte
		for n := piece.From; n < piece.To; n++ {
			i := g.TypeIndex(n)
			if !isText[i] {
				continue
			}
			size, base := g.Size(n), uint64(g.Types()[i].BaseSize)
			b.num(0, uint64(piece.Address(n)))
			b.num(1, (size-min(size, base))/2)
			var err error
			if raw, _, err = texts.Append(raw[:0], piece.Address(n), stringChars); err != nil {
				b.null(2)
				b.null(3)
			} else {
				c := &b.cols[2]
				c.text = append(c.text, raw...)
				b.num(2, uint64(len(c.text)))
				hash.Reset()
				_, _ = hash.Write(raw) // it never fails
				b.num(3, hash.Sum64())
			}
			b.n++
		}
	}, nil
}
