package tables

import (
	"context"
	"hash/fnv"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/export/pieces"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/target"
)

type objectRow struct {
	Address    target.Addr            `row:"address" parquet:"delta" doc:"where it starts"`
	Type       uint64                 `row:"type" parquet:"dictionary" doc:"types.id"`
	Size       uint64                 `row:"size" parquet:"dictionary" doc:"bytes"`
	Generation query.Opt[string]      `row:"generation" parquet:"dictionary" doc:"0, 1, 2, large, pinned or frozen; null if unknown"`
	Live       bool                   `row:"live" doc:"whether something keeps it alive"`
	Retained   uint64                 `row:"retained" parquet:"dictionary" doc:"bytes that would be freed with it, its own included"`
	Owner      query.Opt[target.Addr] `row:"owner" parquet:"delta" doc:"the object that alone keeps it alive (immediate dominator); null if there is none, or it is a root"`
	References uint64                 `row:"references" parquet:"dictionary" doc:"number of references that it has to objects"`
	Referrers  uint64                 `row:"referrers" parquet:"dictionary" doc:"number of references to it, roots included"`
}

// objectTable returns the table of all objects, by address.
func (p *Input) objectTable() *Table {
	return pieceTable("objects", "all objects of the heap, by address", p.Heap, p.objectPieces)
}

func (p *Input) objectPieces(ctx context.Context) (func(*pieces.Piece, *objectRow, func()), error) {
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
	var names [256]string // names of generations
	for i := range names {
		names[i] = heap.Generation(i).String()
	}
	return func(piece *pieces.Piece, row *objectRow, add func()) {
		for n := piece.From; n < piece.To; n++ {
			gen, owner := piece.Generation(n), d.Idom(n)
			*row = objectRow{
				Address: piece.Address(n), Type: uint64(g.TypeIndex(n)), Size: g.Size(n),
				Generation: query.SomeIf(names[gen], gen != heap.GenerationUnknown), Live: live.Live(n), Retained: d.Retained(n),
				References: uint64(len(g.Referents(n))), Referrers: uint64(len(referrers.Of(n))),
			}
			if g.IsObject(owner) {
				row.Owner = query.Some(piece.Near(owner))
			}
			add()
		}
	}, nil
}

type typeRow struct {
	ID            uint64            `row:"id" doc:"number of the type in this dump"`
	Name          query.Opt[string] `row:"name" doc:"full name"`
	Assembly      query.Opt[string] `row:"assembly" doc:"simple name of the assembly: with the name the key across dumps"`
	Module        query.Opt[string] `row:"module" doc:"path of the module's file"`
	MVID          query.Opt[string] `row:"mvid" doc:"MVID of the module, the same in each dump of one build"`
	MethodTable   target.Addr       `row:"method_table" doc:"its MethodTable"`
	BaseSize      uint64            `row:"base_size" doc:"bytes of an object without its elements"`
	ComponentSize uint64            `row:"component_size" doc:"bytes of an element or character, 0 for none"`
	Count         uint64            `row:"count" doc:"objects"`
	Size          uint64            `row:"size" doc:"their bytes"`
	LiveCount     uint64            `row:"live_count" doc:"objects that something keeps alive"`
	LiveSize      uint64            `row:"live_size" doc:"their bytes"`
	Retained      uint64            `row:"retained" doc:"bytes that would be freed with the live ones"`
}

func (p *Input) typeTable() *Table {
	return rowTable("types", "the types of all objects", p.typeRows)
}

func (p *Input) typeRows(ctx context.Context, w *writer, add func(typeRow) error) error {
	g := p.Heap.Graph
	d, err := g.Dominators(ctx)
	if err != nil {
		return err
	}
	retained, err := d.ByType(ctx, graph.PartLive)
	if err != nil {
		return err
	}
	sums, err := p.typeSums(ctx)
	if err != nil {
		return err
	}
	mvids := map[target.Addr]string{}
	for i, t := range p.Heap.Types(w.gaps) {
		all, live := &sums[i].all, &sums[i].live
		err := add(typeRow{
			ID: uint64(i), Name: query.SomeIf(t.Name, t.Err == nil), Assembly: textOrNull(t.Assembly), Module: textOrNull(t.Path),
			MVID: textOrNull(p.mvid(mvids, t.Module)), MethodTable: t.Addr, BaseSize: uint64(t.BaseSize), ComponentSize: uint64(t.ComponentSize),
			Count: all.Objects, Size: all.Size, LiveCount: live.Objects, LiveSize: live.Size, Retained: retained[i],
		})
		if err != nil {
			return err
		}
	}
	return nil
}

type typeSum struct{ all, live answer.HeapPart }

// typeSums counts the objects of each type.
func (p *Input) typeSums(ctx context.Context) ([]typeSum, error) {
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

// mvid returns the MVID of a module, or "" if unreadable.
func (p *Input) mvid(known map[target.Addr]string, module target.Addr) string {
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

// stringChars is the largest number of characters of a string in a table.
const stringChars = 256

type stringRow struct {
	Address target.Addr       `row:"address" parquet:"delta" doc:"where it starts"`
	Length  uint64            `row:"length" parquet:"dictionary" doc:"characters (UTF-16)"`
	Text    query.Opt[[]byte] `row:"text" doc:"its first 256 characters; null if they are not in the dump"`
	Hash    query.Opt[uint64] `row:"hash" doc:"FNV-1a, 64 bits, of the text in this table in UTF-8"`
}

// stringTable returns the table of the heap's strings, by address.
func (p *Input) stringTable() *Table {
	return pieceTable("strings", "the strings of the heap, by address", p.Heap, p.stringPieces)
}

func (p *Input) stringPieces(context.Context) (func(*pieces.Piece, *stringRow, func()), error) {
	g := p.Heap.Graph
	known := p.Heap.Objects.Runtime().WellKnown().String
	isText := make([]bool, len(g.Types()))
	for i, t := range g.Types() {
		isText[i] = t.Addr == known && known != 0
	}
	return func(piece *pieces.Piece, row *stringRow, add func()) {
		texts, hash := g.Heap().Texts(), fnv.New64a()
		var raw []byte
		for n := piece.From; n < piece.To; n++ {
			i := g.TypeIndex(n)
			if !isText[i] {
				continue
			}
			size, base := g.Size(n), uint64(g.Types()[i].BaseSize)
			*row = stringRow{Address: piece.Address(n), Length: (size - min(size, base)) / 2}
			var err error
			var whole bool
			if raw, whole, err = texts.Append(raw[:0], piece.Address(n), stringChars); err == nil {
				switch { // a hash of the text itself would confirm guesses
				case p.Heap.Mask == nil:
				case whole:
					raw = append(raw[:0], p.Heap.Mask(string(raw))...)
				default:
					raw = append(raw[:0], secrets.CutEnd(string(raw), p.Heap.Mask)...)
				}
				hash.Reset()
				_, _ = hash.Write(raw) // never fails
				row.Text, row.Hash = query.Some(raw), query.Some(hash.Sum64())
			}
			add()
		}
	}, nil
}
