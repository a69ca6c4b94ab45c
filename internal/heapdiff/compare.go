package heapdiff

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/target"
)

// Options selects rows. The zero value selects everything that changed.
type Options struct {
	Top     int    `opt:"top" range:"0:" default:"25" help:"types at most, and four times as many nodes of paths, 0 for all"`
	Min     uint64 `opt:"min" kind:"size" help:"least change of a row"`
	Growing bool   `opt:"growing" help:"only what grew from each of three or more dumps to the next"`
}

// PathShare is the smallest share of all growth for a listed node of the paths: one in PathShare.
const PathShare = 100

// Compare compares summaries, the oldest first. The answer has their missing parts.
func Compare(list []*Summary, o Options) *answer.HeapDiff {
	if len(list) == 0 || slices.Contains(list, nil) {
		a := &answer.HeapDiff{Generations: []answer.Growth{}, Types: []answer.Growth{}}
		a.Fail(target.Argumentf("compare heaps: a summary is missing"))
		return a
	}
	a := &answer.HeapDiff{Generations: []answer.Growth{}, Types: []answer.Growth{}}
	totals := make([]Count, len(list))
	for i, s := range list {
		a.NoteAll(s.Noted())
		totals[i] = s.Total
		a.Dumps = append(a.Dumps, answer.DiffedDump{File: s.Name, Objects: s.Total.Objects, Size: s.Total.Size, Free: s.Free, Committed: s.Committed, Unread: s.Unread,
			Program: s.Program, Unrelated: s.unrelatedReason(list[0])})
	}
	a.Objects = change(totals)
	for g := range heap.GenerationUnknown {
		c := change(countEach(list, func(s *Summary) Count { return s.Generations[g] }))
		if slices.Max(c.Counts) > 0 {
			a.Generations = append(a.Generations, answer.Growth{Name: answer.Text{S: g.String()}, Change: c})
		}
	}
	compareTypes(a, list, o)
	comparePaths(a, list, o)
	return a
}

// fewCommon is the share of common types, one in fewCommon, below which programs without known names count as
// unrelated. Unrelated programs of one runtime still share the types of the class library.
const fewCommon = 10

// unrelatedReason returns why the dumps seem to be of different programs, or "". Versions of a program have the same
// name.
func (s *Summary) unrelatedReason(first *Summary) string {
	if s.Program != "" && first.Program != "" {
		if s.Program == first.Program {
			return ""
		}
		return fmt.Sprintf("its main assembly is %s, and that of dump 1 is %s", s.Program, first.Program)
	}
	common := 0
	for k := range s.Types {
		if _, ok := first.Types[k]; ok {
			common++
		}
	}
	if least := min(len(s.Types), len(first.Types)); common < (least+fewCommon-1)/fewCommon {
		return fmt.Sprintf("only %d of its %d types are in dump 1, which has %d", common, len(s.Types), len(first.Types))
	}
	return ""
}

func countEach(list []*Summary, of func(*Summary) Count) []Count {
	counts := make([]Count, len(list))
	for i, s := range list {
		counts[i] = of(s)
	}
	return counts
}

func change(list []Count) answer.Change {
	c := answer.Change{Growing: len(list) > 2}
	for i, n := range list {
		c.Counts, c.Sizes = append(c.Counts, n.Objects), append(c.Sizes, n.Size)
		c.Growing = c.Growing && (i == 0 || n.Size > list[i-1].Size)
	}
	first, last := list[0], list[len(list)-1]
	c.CountChange, c.SizeChange = int64(last.Objects-first.Objects), int64(last.Size-first.Size)
	return c
}

// selects reports whether the options select a row.
func (o *Options) selects(c *answer.Change) bool {
	if o.Growing && !c.Growing {
		return false
	}
	most := max(c.SizeChange, -c.SizeChange)
	return (c.SizeChange != 0 || c.CountChange != 0 || !allEqual(c.Sizes)) && uint64(most) >= o.Min
}

func allEqual(list []uint64) bool {
	return !slices.ContainsFunc(list, func(n uint64) bool { return n != list[0] })
}

func compareTypes(a *answer.HeapDiff, list []*Summary, o Options) {
	keys := map[TypeKey]bool{}
	for _, s := range list {
		for k := range s.Types {
			keys[k] = true
		}
	}
	for k := range keys {
		c := change(countEach(list, func(s *Summary) Count { return s.Types[k] }))
		if o.selects(&c) {
			a.Types = append(a.Types, answer.Growth{Name: answer.Text{S: k.Name}, Assembly: k.Assembly, Change: c})
		}
	}
	for _, s := range list {
		if s.NoName == nil {
			continue
		}
		if c := change(countEach(list, func(s *Summary) Count { return s.Nameless })); o.selects(&c) {
			a.Types = append(a.Types, answer.Growth{Name: answer.Text{Err: s.NoName}, Change: c})
		}
		break
	}
	slices.SortStableFunc(a.Types, func(x, y answer.Growth) int {
		return cmp.Or(cmp.Compare(y.SizeChange, x.SizeChange), cmp.Compare(y.CountChange, x.CountChange), cmp.Compare(x.Name.S, y.Name.S), cmp.Compare(x.Assembly, y.Assembly))
	})
	if o.Top > 0 && len(a.Types) > o.Top {
		a.MoreTypes = len(a.Types) - o.Top
		a.Types = a.Types[:o.Top]
	}
}

// A mergedNode is a node of the merged paths of all dumps.
type mergedNode struct {
	name     string
	all      []Count // including all nodes below it
	children []uint32
	source   bool
}

func comparePaths(a *answer.HeapDiff, list []*Summary, o Options) {
	if slices.ContainsFunc(list, func(s *Summary) bool { return s.Paths == nil }) {
		return
	}
	nodes := mergePaths(list)
	least := max(a.Objects.SizeChange/PathShare, int64(o.Min), 1)
	var walk func(n uint32, depth int)
	walk = func(n uint32, depth int) {
		children := nodes[n].children
		changes := map[uint32]answer.Change{}
		for _, c := range children {
			changes[c] = change(nodes[c].all)
		}
		slices.SortFunc(children, func(x, y uint32) int {
			return cmp.Or(cmp.Compare(changes[y].SizeChange, changes[x].SizeChange), cmp.Compare(nodes[x].name, nodes[y].name))
		})
		for _, c := range children {
			row := changes[c]
			if row.SizeChange < least || o.Growing && !row.Growing {
				continue
			}
			if o.Top > 0 && len(a.Paths) >= 4*o.Top {
				a.MorePaths++
			} else {
				a.Paths = append(a.Paths, answer.PathGrowth{Depth: depth, Name: nodes[c].name, Change: row})
			}
			walk(c, depth+1)
		}
	}
	walk(0, 0)
	f := growthFinder{nodes: nodes, all: change(nodes[0].all).SizeChange, growing: o.Growing}
	if f.all > 0 {
		f.find(0, nil, answer.Change{})
		slices.SortStableFunc(f.found, func(x, y answer.GrowthSuspect) int { return cmp.Compare(y.SizeChange, x.SizeChange) })
		a.Suspects = f.found
	}
}

// mergePaths merges the paths of all dumps. The first node is the root.
func mergePaths(list []*Summary) []mergedNode {
	nodes := []mergedNode{{all: make([]Count, len(list)), source: true}}
	at := map[pathKey]uint32{}
	for d, s := range list {
		places := make([]uint32, len(s.Paths.nodes))
		for i := range s.Paths.nodes {
			if i == 0 {
				continue
			}
			n := &s.Paths.nodes[i]
			key := pathKey{places[n.parent], n.name}
			p, ok := at[key]
			if !ok {
				p = uint32(len(nodes))
				nodes = append(nodes, mergedNode{name: n.name, all: make([]Count, len(list)), source: n.source})
				nodes[key.parent].children = append(nodes[key.parent].children, p)
				at[key] = p
			}
			places[i] = p
		}
		below := make([]Count, len(s.Paths.nodes))
		for i := len(below) - 1; i > 0; i-- {
			n := &s.Paths.nodes[i]
			below[i].add(n.own)
			below[n.parent].add(below[i])
			nodes[places[i]].all[d].add(below[i])
			if n.parent == 0 {
				nodes[0].all[d].add(below[i])
			}
		}
	}
	for i := range nodes { // by name, because the order of discovery does not matter
		slices.SortFunc(nodes[i].children, func(x, y uint32) int { return cmp.Compare(nodes[x].name, nodes[y].name) })
	}
	return nodes
}
