package collections

import (
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/target"
)

// fsharpKinds returns the collections of FSharp.Core. Lists, maps and sets keep no count. See prim-types.fs, map.fs,
// set.fs and mailbox.fs in src/FSharp.Core of dotnet/fsharp.
func fsharpKinds() []kind {
	return []kind{
		kindOf((*Reader).fsharpList),
		kindOf((*Reader).fsharpMap),
		kindOf((*Reader).fsharpSet),
		wrapperKind(func(s *mailboxProcessor) *shapes.Ref { return &s.Mailbox }),
		kindOf((*Reader).mailbox),
	}
}

// An fsharpList is a cell of a list. The last cell has neither element nor tail.
type fsharpList struct {
	_    shapes.Type  `of:"Microsoft.FSharp.Collections.FSharpList<>"`
	Head shapes.Value `field:"head"`
	Tail shapes.Ref   `field:"tail"`
}

func (c *fsharpList) next() *shapes.Ref { return &c.Tail }

func (c *fsharpList) item(x shapes.Instance) (Item, bool, error) {
	tail, err := c.Tail.Addr(x)
	if err != nil || tail == 0 {
		return Item{}, false, err
	}
	return checkItem(Item{Value: c.Head.Value(x)})
}

func (r *Reader) fsharpList(_ *fsharpList, f *reading) content {
	return content{count: unknown, each: chain[*fsharpList](r, f.x.Object(), 0)}
}

// The compiler adds a line number to the name of a field that is also a parameter of the constructor.
type fsharpMap struct {
	_    shapes.Type `of:"Microsoft.FSharp.Collections.FSharpMap<,>"`
	Tree shapes.Ref  `field:"tree@|tree"`
}

// A mapNode is a MapTree or, with children, a MapTreeNode. Before FSharp.Core 5 these are MapOne and MapNode.
type mapNode struct {
	Key   shapes.Value `field:"k|item1"`
	Value shapes.Value `field:"v|item2"`
	Left  shapes.Ref   `field:"left|item3,optional"`
	Right shapes.Ref   `field:"right|item4,optional"`
}

func (n *mapNode) children() (left, right *shapes.Ref) { return &n.Left, &n.Right }

func (n *mapNode) item(x shapes.Instance) (Item, bool, error) {
	return checkItem(Item{Key: n.Key.Value(x), Value: n.Value.Value(x)})
}

func (r *Reader) fsharpMap(s *fsharpMap, f *reading) content {
	return content{count: unknown, keys: true, each: tree[*mapNode](r, f.addr(&s.Tree))}
}

type fsharpSet struct {
	_    shapes.Type `of:"Microsoft.FSharp.Collections.FSharpSet<>"`
	Tree shapes.Ref  `field:"tree@|tree"`
}

// A setNode is a SetTree or, with children, a SetTreeNode. Before FSharp.Core 5 these are SetOne and SetNode.
type setNode struct {
	Item  shapes.Value `field:"k|item|item1"`
	Left  shapes.Ref   `field:"left|item2,optional"`
	Right shapes.Ref   `field:"right|item3,optional"`
}

func (n *setNode) children() (left, right *shapes.Ref) { return &n.Left, &n.Right }

func (n *setNode) item(x shapes.Instance) (Item, bool, error) {
	return checkItem(Item{Value: n.Item.Value(x)})
}

func (r *Reader) fsharpSet(s *fsharpSet, f *reading) content {
	return content{count: unknown, each: tree[*setNode](r, f.addr(&s.Tree))}
}

type mailboxProcessor struct {
	_       shapes.Type `of:"Microsoft.FSharp.Control.FSharpMailboxProcessor<>"`
	Mailbox shapes.Ref  `field:"mailbox"`
}

// A mailbox has the messages that were posted and not received: first the messages that a Scan skipped, then the new
// ones.
type mailbox struct {
	_        shapes.Type `of:"Microsoft.FSharp.Control.Mailbox<>"`
	Passed   shapes.Ref  `field:"inboxStore"` // null until the first scan
	Arrivals shapes.Ref  `field:"arrivals"`
}

func (r *Reader) mailbox(s *mailbox, f *reading) content {
	out := content{each: yieldNothing}
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
		out.each = func(yield yielder) bool { return first(yield) && rest(yield) }
	}
	return out
}
