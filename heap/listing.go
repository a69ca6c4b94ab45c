package heap

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// ListOptions selects the objects of an answer. The zero value selects all.
type ListOptions struct {
	Filter      *Filter
	OnlyObjects bool // omits the statistics after a list
	ByCount     bool // sorts statistics by number of objects instead of size
	Scan        ScanOptions
}

// List lists objects in address order and counts them by type, the types with the most bytes last. Missing rows are the
// parts that Open left out (Warnings), and places where the walk had to skip memory. The list fails if no object is
// readable.
func (h *Heap) List(ctx context.Context, o ListOptions) *answer.Listing {
	l := &answer.Listing{}
	l.Objects = h.list(ctx, &l.Gaps, o.Filter, o.Scan, func(s *Stats) error {
		if !o.OnlyObjects {
			l.Statistics = h.statistics(&l.Gaps, s, o.ByCount)
		}
		return nil
	})
	return l
}

// Count counts objects by type, as List does.
func (h *Heap) Count(ctx context.Context, o ListOptions) (*answer.Listing, error) {
	s, err := h.Stats(ctx, o.Filter, o.Scan)
	if err != nil {
		return nil, err
	}
	l := &answer.Listing{}
	if err := noteCorrupt(&l.Gaps, &s); err != nil {
		return nil, err
	}
	l.Statistics = h.statistics(&l.Gaps, &s, o.ByCount)
	return l, nil
}

// ListStrings lists strings in address order, and counts them by content, those with most bytes last.
func (h *Heap) ListStrings(ctx context.Context, o ListOptions) *answer.Listing {
	l := &answer.Listing{}
	h.AddStrings(ctx, l, o)
	return l
}

// CountStrings counts strings by content, as ListStrings does.
func (h *Heap) CountStrings(ctx context.Context, o ListOptions) *answer.Listing {
	l := &answer.Listing{}
	h.AddStringCounts(ctx, l, o)
	return l
}

// AddStrings adds to l what ListStrings lists.
func (h *Heap) AddStrings(ctx context.Context, l *answer.Listing, o ListOptions) {
	scan := &scanList{h: h, ctx: ctx, gaps: &l.Gaps, f: h.stringFilter(o.Filter), o: o.Scan, end: func(*Stats) error { return nil }}
	l.Objects = answer.NewObjects(&l.Gaps, scan)
	if !o.OnlyObjects {
		scan.contents = h.addStringCounts(ctx, l, o)
	}
}

// AddStringCounts adds to l what CountStrings counts.
func (h *Heap) AddStringCounts(ctx context.Context, l *answer.Listing, o ListOptions) {
	h.addStringCounts(ctx, l, o)
}

func (h *Heap) addStringCounts(ctx context.Context, l *answer.Listing, o ListOptions) *stringContents {
	contents := &stringContents{h: h, ctx: ctx, gaps: &l.Gaps, f: o.Filter, o: o.Scan}
	l.Strings = answer.NewStringCounts(&l.Gaps, contents)
	return contents
}

// ListLocks lists the objects with thin locks in their headers.
func (h *Heap) ListLocks(ctx context.Context, o ListOptions) (*answer.Listing, error) {
	locked, stats, err := h.ThinLocks(ctx, o.Filter, o.Scan)
	if err != nil {
		return nil, err
	}
	l := &answer.Listing{Locks: []answer.ThinLock{}}
	if err := noteCorrupt(&l.Gaps, &stats); err != nil {
		return nil, err
	}
	threads, err := h.Runtime().Threads()
	l.Note(err)
	byID := map[uint32]*dac.Thread{}
	for i := range threads {
		byID[threads[i].ManagedID] = &threads[i]
	}
	for i := range locked {
		lock := locked[i].Lock
		row := answer.ThinLock{Object: locked[i].Object.Addr, ManagedID: lock.Owner, Recursion: lock.Recursion}
		if t := byID[lock.Owner]; t != nil {
			row.Thread, row.OSID = t.Addr, t.OSID
		}
		l.Locks = append(l.Locks, row)
	}
	return l, nil
}

// ListGeneration lists the objects of one generation in address order and counts them.
func (h *Heap) ListGeneration(ctx context.Context, g Generation, o ListOptions) *answer.GenerationObjects {
	l := &answer.GenerationObjects{Count: answer.Missing[uint64](answer.ErrUnread)}
	l.Objects = h.list(ctx, &l.Gaps, o.Filter.within(g), o.Scan, func(s *Stats) error {
		err := h.checkGeneration(g)
		if err == nil {
			l.Count = answer.Known(s.Count)
		}
		return err
	})
	return l
}

// CountGeneration counts the objects of one generation by type, the types with most bytes last.
func (h *Heap) CountGeneration(ctx context.Context, g Generation, o ListOptions) (*answer.GenerationObjects, error) {
	if err := h.checkGeneration(g); err != nil {
		return nil, err
	}
	o.Filter = o.Filter.within(g)
	l, err := h.Count(ctx, o)
	if err != nil {
		return nil, err
	}
	return &answer.GenerationObjects{Gaps: l.Gaps, Types: l.Statistics.Types, Count: answer.Known(l.Statistics.Count)}, nil
}

// within returns f restricted to one generation.
func (f *Filter) within(g Generation) *Filter {
	in := *f.orAll()
	in.Generations = []Generation{g}
	return &in
}

// list lists the objects that f selects. It calls end with their counts. If end returns an error, the list fails.
func (h *Heap) list(ctx context.Context, g *answer.Gaps, f *Filter, o ScanOptions, end func(*Stats) error) *answer.Objects {
	return answer.NewObjects(g, &scanList{h: h, ctx: ctx, gaps: g, f: f, o: o, end: end})
}

// noteCorrupt notes the unreadable places of a scan. It returns an error if the scan read nothing.
func noteCorrupt(g *answer.Gaps, s *Stats) error {
	if err := s.unread(); err != nil {
		return err
	}
	g.NoteAll(s.lost())
	return nil
}

// lost returns the places that the scan could not read.
func (s *Stats) lost() (out []error) {
	for _, e := range s.Corruptions {
		out = append(out, e)
	}
	if more := s.Corrupt - len(s.Corruptions); more > 0 {
		out = append(out, target.CorruptHeapf("%d further places of the heap can't be read", more))
	}
	return out
}

// Note notes in g the unreadable places of the scan. It returns an error if the scan read nothing.
func (s *Stats) Note(g *answer.Gaps) error { return noteCorrupt(g, s) }

func (h *Heap) statistics(g *answer.Gaps, s *Stats, byCount bool) *answer.Statistics {
	s.ascending(byCount)
	a := &answer.Statistics{Types: make([]answer.TypeCount, len(s.Types)), Count: s.Count, Size: s.Size}
	for i := range s.Types {
		t := &s.Types[i]
		a.Types[i] = answer.TypeCount{MethodTable: t.Type.Addr, Count: t.Count, Size: t.Size, Type: h.typeName(g, t.Type)}
	}
	for i := range s.Fragments {
		f := &s.Fragments[i]
		a.Fragments = append(a.Fragments, answer.Fragment{Address: f.Free.Addr, Size: f.Free.Size, Next: f.Next.Addr,
			NextMethodTable: f.Next.Type.Addr, NextType: h.typeName(g, f.Next.Type)})
	}
	return a
}
