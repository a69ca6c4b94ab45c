package objects

import (
	"github.com/sosgo/sosgo/target"
)

// fsharpKinds returns the collections of FSharp.Core. Lists, maps and sets keep no count. See prim-types.fs, map.fs,
// set.fs and mailbox.fs in src/FSharp.Core of dotnet/fsharp.
func fsharpKinds() []kind {
	return []kind{
		kindOf((*Collections).fsharpList),
		kindOf((*Collections).fsharpMap),
		kindOf((*Collections).fsharpSet),
		wrapperKind(func(s *mailboxProcessor) *RefField { return &s.Mailbox }),
		kindOf((*Collections).mailbox),
	}
}

// An fsharpList is a cell of a list. The last cell has neither element nor tail.
type fsharpList struct {
	_    Shape      `of:"Microsoft.FSharp.Collections.FSharpList<>"`
	Head ValueField `field:"head"`
	Tail RefField   `field:"tail"`
}

func (c *fsharpList) next() *RefField { return &c.Tail }

func (c *fsharpList) item(x Instance) (CollectionItem, bool, error) {
	tail, err := c.Tail.Addr(x)
	if err != nil || tail == 0 {
		return CollectionItem{}, false, err
	}
	return checkItem(CollectionItem{Value: c.Head.Value(x)})
}

func (r *Collections) fsharpList(_ *fsharpList, f *reading) content {
	return content{count: unknown, each: chain[*fsharpList](r, f.x.Object(), 0)}
}

// The compiler adds a line number to the name of a field that is also a parameter of the constructor.
type fsharpMap struct {
	_    Shape    `of:"Microsoft.FSharp.Collections.FSharpMap<,>"`
	Tree RefField `field:"tree@|tree"`
}

// A mapNode is a MapTree or, with children, a MapTreeNode. Before FSharp.Core 5 these are MapOne and MapNode.
type mapNode struct {
	Key   ValueField `field:"k|item1"`
	Value ValueField `field:"v|item2"`
	Left  RefField   `field:"left|item3,optional"`
	Right RefField   `field:"right|item4,optional"`
}

func (n *mapNode) children() (left, right *RefField) { return &n.Left, &n.Right }

func (n *mapNode) item(x Instance) (CollectionItem, bool, error) {
	return checkItem(CollectionItem{Key: n.Key.Value(x), Value: n.Value.Value(x)})
}

func (r *Collections) fsharpMap(s *fsharpMap, f *reading) content {
	return content{count: unknown, keys: true, each: tree[*mapNode](r, f.addr(&s.Tree))}
}

type fsharpSet struct {
	_    Shape    `of:"Microsoft.FSharp.Collections.FSharpSet<>"`
	Tree RefField `field:"tree@|tree"`
}

// A setNode is a SetTree or, with children, a SetTreeNode. Before FSharp.Core 5 these are SetOne and SetNode.
type setNode struct {
	Item  ValueField `field:"k|item|item1"`
	Left  RefField   `field:"left|item2,optional"`
	Right RefField   `field:"right|item3,optional"`
}

func (n *setNode) children() (left, right *RefField) { return &n.Left, &n.Right }

func (n *setNode) item(x Instance) (CollectionItem, bool, error) {
	return checkItem(CollectionItem{Value: n.Item.Value(x)})
}

func (r *Collections) fsharpSet(s *fsharpSet, f *reading) content {
	return content{count: unknown, each: tree[*setNode](r, f.addr(&s.Tree))}
}

type mailboxProcessor struct {
	_       Shape    `of:"Microsoft.FSharp.Control.FSharpMailboxProcessor<>"`
	Mailbox RefField `field:"mailbox"`
}

// A mailbox has the messages that were posted and not received: first the messages that a Scan skipped, then the new
// ones.
type mailbox struct {
	_        Shape    `of:"Microsoft.FSharp.Control.Mailbox<>"`
	Passed   RefField `field:"inboxStore"` // null until the first scan
	Arrivals RefField `field:"arrivals"`
}

func (r *Collections) mailbox(s *mailbox, f *reading) content {
	out := content{each: yieldNothing}
	for _, ref := range []*RefField{&s.Passed, &s.Arrivals} {
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
