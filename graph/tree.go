package graph

import (
	"cmp"
	"context"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// TreeOptions selects the shown part of the dominator tree.
type TreeOptions struct {
	Least   uint64  // smallest retained size of a row in bytes
	Percent float64 // the same as a percentage of the live bytes, if Least is 0
	Depth   int     `opt:"depth" range:"1:" default:"12" excludes:"address" help:"of the tree: levels at most"` // 0 for maxTreeDepth
}

const (
	maxTreeDepth = 1 << 10
	maxTreeRows  = 1 << 16
	maxChain     = 1 << 8 // maximum rows of a chain of dominators
	maxHolders   = 4      // maximum disjoint paths to an object without an owner
	foldedTypes  = 1 << 4 // maximum rows of types owned by an object
)

// DominatorTree returns the owners of most live bytes: the dominator tree, with small objects folded by type.
func (x *Holders) DominatorTree(ctx context.Context, o TreeOptions) (*answer.Dominators, error) {
	return using(ctx, x.g, func(ctx context.Context) (*answer.Dominators, error) {
		d, err := x.g.Dominators(ctx)
		if err != nil {
			return nil, err
		}
		out := &answer.Dominators{Least: o.Least, Depth: o.Depth, Tree: []answer.DominatorRow{}}
		if out.Incomplete, err = x.Incomplete(&out.Gaps); err != nil {
			return nil, err
		}
		if out.Live, out.Garbage, out.Frozen, err = x.Parts(ctx); err != nil {
			return nil, err
		}
		if o.Least == 0 {
			out.Least = uint64(o.Percent / 100 * float64(out.Live.Size))
		}
		out.Least = max(out.Least, 1)
		if o.Depth <= 0 || o.Depth > maxTreeDepth {
			out.Depth = maxTreeDepth
		}
		t := treeWriter{x: x, d: d, out: out}
		if err := t.children(ctx, x.g.Root(), 0); err != nil {
			return nil, err
		}
		return out, nil
	})
}

type treeWriter struct {
	x   *Holders
	d   *Dominators
	out *answer.Dominators
}

// children writes the large children of n, each followed by its own children, and then the types of the others.
func (t *treeWriter) children(ctx context.Context, n Node, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	big, err := t.largeChildren(ctx, n)
	if err != nil {
		return err
	}
	if depth == t.out.Depth || len(t.out.Tree) >= maxTreeRows {
		if len(t.out.Tree) > 0 {
			t.out.Tree[len(t.out.Tree)-1].Deeper = len(big)
		}
		return nil
	}
	for _, c := range big {
		t.out.Tree = append(t.out.Tree, t.x.row(&t.out.Gaps, t.d, c, depth, t.out.Live.Size))
		if err := t.children(ctx, c, depth+1); err != nil {
			return err
		}
	}
	f := t.x.newTypeSums()
	if err := f.fold(ctx, t.d, n, func(c Node) bool { return t.d.Retained(c) >= t.out.Least }); err != nil {
		return err
	}
	t.out.Tree = append(t.out.Tree, f.foldedRows(&t.out.Gaps, depth, t.out.Live.Size, t.out.Least, 0)...)
	return nil
}

// largeChildren returns the children of n of at least the minimum size, the largest first.
func (t *treeWriter) largeChildren(ctx context.Context, n Node) ([]Node, error) {
	children, err := t.d.Children(ctx, n)
	if err != nil {
		return nil, err
	}
	var out []Node
	for _, c := range children {
		if t.d.Retained(c) >= t.out.Least {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b Node) int { return cmp.Or(cmp.Compare(t.d.Retained(b), t.d.Retained(a)), cmp.Compare(a, b)) })
	return out, nil
}

// fold adds the objects that n owns directly, with their retained sizes, except those that skip selects. It replaces a
// Source by the objects that it owns.
func (t *typeSums) fold(ctx context.Context, d *Dominators, n Node, skip func(Node) bool) error {
	children, err := d.Children(ctx, n)
	if err != nil {
		return err
	}
	for _, c := range children {
		switch {
		case skip(c):
		case t.x.g.IsObject(c):
			addPart(t.sum(c), answer.HeapPart{Objects: 1, Size: d.Retained(c)})
		default:
			if err := t.fold(ctx, d, c, skip); err != nil {
				return err
			}
		}
	}
	return nil
}

// foldedRows returns rows of types of at least least bytes, at most top, 0 for all, and a row of the rest if that is
// large enough.
func (t *typeSums) foldedRows(g *answer.Gaps, depth int, all, least uint64, top int) []answer.DominatorRow {
	var rows []answer.DominatorRow
	rest := answer.DominatorRow{Depth: depth}
	for _, i := range t.order() {
		s := t.sums[i]
		if s.Size < least || top > 0 && len(rows) == top {
			rest.Count += s.Objects
			rest.Retained += s.Size
			rest.Types++
			continue
		}
		rows = append(rows, answer.DominatorRow{Depth: depth, Folded: t.x.rt.NamedType(g, t.x.g.types[i].Addr),
			Count: s.Objects, Retained: s.Size, Share: percent(s.Size, all)})
	}
	if rest.Types > 0 && rest.Retained >= least {
		rest.Share = percent(rest.Retained, all)
		rows = append(rows, rest)
	}
	return rows
}

// row describes a node of the tree.
func (x *Holders) row(g *answer.Gaps, d *Dominators, n Node, depth int, all uint64) answer.DominatorRow {
	row := answer.DominatorRow{Depth: depth, Retained: d.Retained(n), Share: percent(d.Retained(n), all)}
	if x.g.IsObject(n) {
		o := x.object(g, n)
		row.Object, row.Count = &o, 1
		return row
	}
	row.Root = x.sourceName(g, n)
	return row
}

// sourceName returns the name of a Source as in gcroot.
func (x *Holders) sourceName(g *answer.Gaps, n Node) answer.Text {
	name := x.names.Text(g, n)
	if s := x.g.Source(n); name.Err == nil && s.Kind == SourceField {
		name.S = fieldName(s, name.S)
	}
	return name
}

// DominatorsOf returns the owners of an object, and what it owns: at most top objects, and the rest by type.
func (x *Holders) DominatorsOf(ctx context.Context, a target.Addr, top int) (*answer.Dominators, error) {
	return using(ctx, x.g, func(ctx context.Context) (*answer.Dominators, error) {
		n, err := x.Object(a)
		if err != nil {
			return nil, err
		}
		d, err := x.g.Dominators(ctx)
		if err != nil {
			return nil, err
		}
		live, err := x.g.Live(ctx)
		if err != nil {
			return nil, err
		}
		out := &answer.Dominators{}
		if out.Incomplete, err = x.Incomplete(&out.Gaps); err != nil {
			return nil, err
		}
		if out.Live, out.Garbage, out.Frozen, err = x.Parts(ctx); err != nil {
			return nil, err
		}
		all := out.Live.Size
		if !live.Live(n) {
			all = out.Garbage.Size + out.Frozen.Size
		}
		own := &answer.Owned{Object: x.object(&out.Gaps, n), Live: live.Live(n), Retained: d.Retained(n), Owns: []answer.DominatorRow{}}
		if !own.Live {
			own.Dead = unreached(&own.Object, out.Incomplete)
		}
		out.Object = own
		own.Chain = x.chain(&out.Gaps, d, n, all)
		if own.Live && !x.g.IsObject(d.Idom(n)) {
			if err := x.addHolders(ctx, &out.Gaps, own, n); err != nil {
				return nil, err
			}
		}
		return out, x.addOwned(ctx, out, d, n, top, all)
	})
}

// ChildOptions selects children of a node of the dominator tree.
type ChildOptions struct {
	Object target.Addr // 0 for the root: objects without an owner
	Top    int         `opt:"top" range:"0:" default:"10" help:"of an object, and of -children: objects at most, 0 for all of -children"`
	From   int         `opt:"from" range:"0:" requires:"children" help:"of -children: objects to leave out in front"`
}

// DominatorChildren lists the objects that an object owns directly, or the objects without an owner, the largest first.
func (x *Holders) DominatorChildren(ctx context.Context, o ChildOptions) (*answer.Dominators, error) {
	return using(ctx, x.g, func(ctx context.Context) (*answer.Dominators, error) {
		at := x.g.Root()
		if o.Object != 0 {
			var err error
			if at, err = x.Object(o.Object); err != nil {
				return nil, err
			}
		}
		d, err := x.g.Dominators(ctx)
		if err != nil {
			return nil, err
		}
		out := &answer.Dominators{From: max(o.From, 0)}
		if out.Incomplete, err = x.Incomplete(&out.Gaps); err != nil {
			return nil, err
		}
		if out.Live, out.Garbage, out.Frozen, err = x.Parts(ctx); err != nil {
			return nil, err
		}
		list, err := x.objectsBelow(ctx, d, at, nil)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(list, d.bySize)
		all := out.Live.Size
		if live, err := x.g.Live(ctx); err != nil {
			return nil, err
		} else if o.Object != 0 && !live.Live(at) {
			all = out.Garbage.Size + out.Frozen.Size
		}
		out.From = min(out.From, len(list))
		list = list[out.From:]
		if o.Top > 0 && len(list) > o.Top {
			out.More = len(list) - o.Top
			list = list[:o.Top]
		}
		out.Children = make([]answer.DominatorRow, 0, len(list))
		for _, n := range list {
			row := x.row(&out.Gaps, d, n, 0, all)
			below, err := d.Children(ctx, n)
			if err != nil {
				return nil, err
			}
			row.Owns = len(below)
			out.Children = append(out.Children, row)
		}
		return out, nil
	})
}

// objectsBelow appends the objects that a node owns directly. It replaces a Source by the objects that it owns.
func (x *Holders) objectsBelow(ctx context.Context, d *Dominators, n Node, list []Node) ([]Node, error) {
	children, err := d.Children(ctx, n)
	if err != nil {
		return nil, err
	}
	for _, c := range children {
		if x.g.IsObject(c) {
			list = append(list, c)
			continue
		}
		if list, err = x.objectsBelow(ctx, d, c, list); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// chain returns the dominators of n, from the root on. It omits the middle of a very long chain.
func (x *Holders) chain(g *answer.Gaps, d *Dominators, n Node, all uint64) []answer.DominatorRow {
	var list []Node
	for at := n; at != x.g.Root() && at != d.Garbage(); at = d.Idom(at) {
		list = append(list, at)
	}
	slices.Reverse(list)
	rows := make([]answer.DominatorRow, 0, min(len(list), maxChain+1))
	for i := 0; i < len(list); i++ {
		if i == maxChain/2 && len(list) > maxChain {
			skipped := len(list) - maxChain
			rows = append(rows, answer.DominatorRow{Depth: i, Count: uint64(skipped), Retained: d.Retained(list[i]), Share: percent(d.Retained(list[i]), all)})
			i += skipped
		}
		rows = append(rows, x.row(g, d, list[i], i, all))
	}
	return rows
}

// addHolders adds the paths that keep an object without an owner alive.
func (x *Holders) addHolders(ctx context.Context, g *answer.Gaps, own *answer.Owned, n Node) error {
	met := map[[2]Node]int{}
	err := x.disjointPaths(ctx, n, maxHolders, nil, func(p []Node) bool {
		own.Holders = append(own.Holders, x.rootPath(ctx, g, p, met))
		return true
	})
	own.Shared = len(own.Holders) > 1
	return err
}

func (x *Holders) addOwned(ctx context.Context, out *answer.Dominators, d *Dominators, n Node, top int, all uint64) error {
	list, others, _, err := d.Largest(ctx, n, top)
	if err != nil {
		return err
	}
	listed := make(map[Node]bool, len(list))
	for _, c := range list {
		listed[c] = true
		out.Object.Owns = append(out.Object.Owns, x.row(&out.Gaps, d, c, 0, all))
	}
	if others == 0 {
		return nil
	}
	t := x.newTypeSums()
	if err := t.fold(ctx, d, n, func(c Node) bool { return listed[c] }); err != nil {
		return err
	}
	out.Object.Others = t.foldedRows(&out.Gaps, 0, all, 0, foldedTypes)
	return nil
}
