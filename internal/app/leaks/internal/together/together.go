// Package together computes the common retained size of objects. Package graph computes it for one object. Start with
// Retained.
package together

import "github.com/sosgo/sosgo/graph"

// Retained returns the common retained size of nodes in bytes. What one of them retains through another counts once. In
// lists, as of timers and registrations, each node retains all following ones.
func Retained(g *graph.Graph, doms *graph.Dominators, nodes []graph.Node) (size uint64) {
	in, counted := g.NewSet(), g.NewSet()
	for _, n := range nodes {
		in.Add(n)
	}
	u := upward{g: g, doms: doms, in: in, below: g.NewSet(), free: g.NewSet()}
	for _, n := range nodes {
		if counted.Add(n) && !u.dominated(n) {
			size += doms.Retained(n)
		}
	}
	return size
}

// upward finds nodes of a set among the dominators of others.
type upward struct {
	g           *graph.Graph
	doms        *graph.Dominators
	in          *graph.Set // the set
	below, free *graph.Set // visited nodes that a node of the set dominates, or that none does
	passed      []graph.Node
}

// dominated reports whether a node of the set, other than n, dominates n.
func (u *upward) dominated(n graph.Node) bool {
	found := false
	u.passed = u.passed[:0]
	for at := n; ; {
		up := u.doms.Idom(at)
		if up == at || up >= graph.Node(u.g.Nodes()) || u.free.Has(up) {
			break
		}
		if found = u.in.Has(up) || u.below.Has(up); found {
			break
		}
		u.passed = append(u.passed, up)
		at = up
	}
	mark := u.free
	if found {
		mark = u.below
	}
	for _, p := range u.passed {
		mark.Add(p)
	}
	return found
}
