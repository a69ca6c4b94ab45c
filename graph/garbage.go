package graph

import (
	"context"
	"sort"
	"sync"
)

// A lostReference is a reference that leads to a place in the heap where no object starts.
type lostReference struct {
	at    int // in targets
	from  Node
	fault Fault
}

// lostReferences has the first lost references, without those to what could not be read.
type lostReferences struct {
	mu   sync.Mutex
	list []lostReference
}

func (l *lostReferences) add(at int, fault Fault) {
	if fault == FaultAbsent {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) < maxErrors {
		l.list = append(l.list, lostReference{at: at, fault: fault})
	}
}

// find sets the objects of the references, given where the rows of objects begin.
func (l *lostReferences) find(offsets []uint32) {
	for i := range l.list {
		at := l.list[i].at
		l.list[i].from = Node(sort.Search(len(offsets), func(n int) bool { return int(offsets[n]) > at }) - 1)
	}
}

// judge counts the lost references of garbage. It counts none if what is alive is not known, because of what is missing or could not be computed.
func (g *Graph) judge(ctx context.Context, l *lostReferences) error {
	s := &g.stats
	if len(l.list) == 0 || len(s.Roots)+len(s.Lost)+s.Corrupt > 0 || s.RootFaults != [faults]uint64{} || s.MissingSlots+s.BlindObjects+s.Faults[FaultAbsent] > 0 {
		return nil
	}
	live, err := g.Live(ctx)
	if err != nil {
		return ctx.Err()
	}
	for _, r := range l.list {
		if !live.Live(r.from) {
			s.Garbage[r.fault]++
		}
	}
	return nil
}

// damaged returns the numbers of references that lead to no object although a collector would follow them.
func (s *Stats) damaged() [faults]uint64 {
	out := s.Faults
	for f, n := range s.Garbage {
		out[f] -= min(n, out[f])
	}
	return out
}
