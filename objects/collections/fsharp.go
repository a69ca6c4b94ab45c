package collections

import (
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/target"
)

// fsharp has the collections of FSharp.Core. Lists, maps and sets keep no count. See src/FSharp.Core in dotnet/fsharp: prim-types.fs, map.fs,
// set.fs and mailbox.fs.
func fsharp() []kind {
	return []kind{
		of((*Reader).fsharpList),
		of((*Reader).fsharpMap),
		of((*Reader).fsharpSet),
		of((*Reader).mailboxProcessor),
		of((*Reader).mailbox),
	}
}

// fsharpList is a cell of a list. The last one has no element and no tail.
type fsharpList struct {
	_    shapes.Type  `of:"Microsoft.FSharp.Collections.FSharpList<>"`
	Head shapes.Value `field:"head"`
	Tail shapes.Ref   `field:"tail"`
}

func (r *Reader) fsharpList(_ *fsharpList, f *reading) content {
	return content{count: unknown, each: func(yield yield) bool {
		return chain(&nodes[*fsharpList]{r: r}, f.x.Object(), 0, yield, func(s *fsharpList) *shapes.Ref { return &s.Tail }, func(s *fsharpList, x shapes.Instance) (Item, bool, error) {
			tail, err := s.Tail.Addr(x)
			if err != nil || tail == 0 {
				return Item{}, false, err
			}
			return good(Item{Value: s.Head.Value(x)})
		})
	}}
}

// The compiler adds a line to the names of fields that are parameters of the constructor, too.
type fsharpMap struct {
	_    shapes.Type `of:"Microsoft.FSharp.Collections.FSharpMap<,>"`
	Tree shapes.Ref  `field:"tree@|tree"`
}

// mapNode is a MapTree, and if it has children a MapTreeNode; before FSharp.Core 5 MapOne and MapNode.
type mapNode struct {
	Key   shapes.Value `field:"k|item1"`
	Value shapes.Value `field:"v|item2"`
	Left  shapes.Ref   `field:"left|item3,optional"`
	Right shapes.Ref   `field:"right|item4,optional"`
}

func (r *Reader) fsharpMap(s *fsharpMap, f *reading) content {
	root := f.addr(&s.Tree)
	return content{count: unknown, keys: true, each: func(yield yield) bool {
		return tree(&nodes[*mapNode]{r: r}, root, yield, binary[*mapNode]{
			left: func(s *mapNode) *shapes.Ref { return &s.Left }, right: func(s *mapNode) *shapes.Ref { return &s.Right },
			pass: func(s *mapNode, x shapes.Instance) bool {
				return one(yield, Item{Key: s.Key.Value(x), Value: s.Value.Value(x)})
			},
		})
	}}
}

type fsharpSet struct {
	_    shapes.Type `of:"Microsoft.FSharp.Collections.FSharpSet<>"`
	Tree shapes.Ref  `field:"tree@|tree"`
}

// setNode is a SetTree, and if it has children a SetTreeNode; before FSharp.Core 5 SetOne and SetNode.
type setNode struct {
	Item  shapes.Value `field:"k|item|item1"`
	Left  shapes.Ref   `field:"left|item2,optional"`
	Right shapes.Ref   `field:"right|item3,optional"`
}

func (r *Reader) fsharpSet(s *fsharpSet, f *reading) content {
	root := f.addr(&s.Tree)
	return content{count: unknown, each: func(yield yield) bool {
		return tree(&nodes[*setNode]{r: r}, root, yield, binary[*setNode]{
			left: func(s *setNode) *shapes.Ref { return &s.Left }, right: func(s *setNode) *shapes.Ref { return &s.Right },
			pass: func(s *setNode, x shapes.Instance) bool { return one(yield, Item{Value: s.Item.Value(x)}) },
		})
	}}
}

type mailboxProcessor struct {
	_       shapes.Type `of:"Microsoft.FSharp.Control.FSharpMailboxProcessor<>"`
	Mailbox shapes.Ref  `field:"mailbox"`
}

func (r *Reader) mailboxProcessor(s *mailboxProcessor, f *reading) content {
	return r.wrap(f.object(&s.Mailbox))
}

// A mailbox has the messages that were posted and not received: those that a Scan has passed over, and then the new ones.
type mailbox struct {
	_        shapes.Type `of:"Microsoft.FSharp.Control.Mailbox<>"`
	Passed   shapes.Ref  `field:"inboxStore"` // null until something scans
	Arrivals shapes.Ref  `field:"arrivals"`
}

func (r *Reader) mailbox(s *mailbox, f *reading) content {
	out := content{each: nothing}
	for _, ref := range []*shapes.Ref{&s.Passed, &s.Arrivals} {
		o := f.object(ref)
		if o.Addr == 0 || f.err != nil {
			continue
		}
		c := r.wrap(o)
		if c.err != nil {
			return c
		}
		if c.count < 0 {
			return failed(target.Unsupportedf("the mailbox keeps its messages in a collection without a count"))
		}
		first, rest := out.each, c.each
		out.count += c.count
		out.each = func(yield yield) bool { return first(yield) && rest(yield) }
	}
	return out
}
