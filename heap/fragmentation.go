package heap

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// Fragmentation counts the free space between the objects of each generation that has some, and the pinned
// objects that are directly followed by a free block.
func (h *Heap) Fragmentation(ctx context.Context, o ScanOptions) (*answer.Fragmentation, error) {
	census, err := h.Census(ctx, o)
	if err == nil {
		err = census.Unread()
	}
	if err != nil {
		return nil, err
	}
	out := &answer.Fragmentation{Generations: []answer.FreeSpace{}}
	for _, c := range census.corrupt[:min(len(census.corrupt), MaxCorruptions)] {
		out.Note(c)
	}
	out.NoteAll(h.warnings)
	pins, err := h.pinsBeforeFree(ctx, &out.Gaps)
	if err != nil {
		return nil, err
	}
	for g := range census.Free {
		f := &census.Free[g]
		if f.Blocks == 0 {
			continue
		}
		out.Generations = append(out.Generations, answer.FreeSpace{Generation: Generation(g).String(), Objects: f.Objects, Free: f.Free,
			Share: 100 * float64(f.Free) / float64(f.Free+f.Objects), Blocks: f.Blocks, Largest: f.Largest, Pins: pins[Generation(g)]})
	}
	return out, nil
}

// pinsBeforeFree counts pinned objects that are followed by a free block, by generation and type, the most
// bytes first.
func (h *Heap) pinsBeforeFree(ctx context.Context, g *answer.Gaps) (map[Generation][]answer.FreePin, error) {
	type key struct {
		generation Generation
		handle     HandleType
		table      target.Addr
	}
	pins, seen := map[key]*answer.FreePin{}, map[target.Addr]bool{}
	for e, err := range h.Handles() {
		if cerr := ctx.Err(); cerr != nil {
			return nil, cerr
		}
		if err != nil {
			g.Note(fmt.Errorf("pinned objects beside free blocks: %w", err))
			continue
		}
		if e.Type != HandlePinned && e.Type != HandleAsyncPinned {
			continue
		}
		s := h.Segment(e.Object)
		if s == nil {
			continue // frozen, or in a lost segment that was noted
		}
		o, err := h.ObjectAt(e.Object)
		if err != nil {
			g.Note(fmt.Errorf("object of handle %016x: %w", uint64(e.Addr), err))
			continue
		}
		if next, err := h.ObjectAt(o.Next()); err != nil || !next.Free || !s.Objects.Contains(next.Addr) {
			continue
		}
		k := key{s.Generation(o.Addr), e.Type, o.Type.Addr}
		p := pins[k]
		if p == nil {
			p = &answer.FreePin{Handle: e.Type.String(), Example: o.Addr, Type: g.Text(h.Runtime().TypeName(k.table, dac.NameManaged))}
			pins[k] = p
		}
		if p.Handles++; !seen[o.Addr] {
			seen[o.Addr] = true
			p.Objects, p.Size = p.Objects+1, p.Size+o.Size
		}
	}
	out := map[Generation][]answer.FreePin{}
	for k, p := range pins {
		out[k.generation] = append(out[k.generation], *p)
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(a, b answer.FreePin) int {
			return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(a.Handle, b.Handle), cmp.Compare(a.Type.S, b.Type.S))
		})
	}
	return out, nil
}
