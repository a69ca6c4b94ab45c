package leaks

import (
	"context"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/leaks/internal/says"
	"github.com/sosgo/sosgo/objects"
)

// The collections that keep the hash codes of their keys. Before .NET 5 a HashSet had other entries.
type (
	hashTable struct {
		_       objects.Shape    `of:"System.Collections.Generic.Dictionary<,>|System.Collections.Generic.HashSet<>"`
		Entries objects.RefField `field:"_entries,optional"`
		Used    objects.IntField `field:"_count"`
	}
	hashEntry struct {
		Code objects.IntField `field:"hashCode|HashCode"`
		Next objects.IntField `field:"next|Next"`
	}
	hashNode struct {
		_    objects.Shape    `of:"System.Collections.Concurrent.ConcurrentDictionary<,>+Node"`
		Code objects.IntField `field:"_hashcode"`
	}
)

// A chain counts keys by their hash code.
type chain struct {
	by        map[int64]uint64
	all, most uint64
}

func (c *chain) add(code int64) {
	c.by[code]++
	c.all++
	c.most = max(c.most, c.by[code])
}

// chain states how many keys of a suspect's collection have one hash code, if they are many. They are in one bucket, and a search compares
// them one by one. If not all keys were read, the number is the least.
func (f *finder) chain(ctx context.Context, out *answer.Suspect, s *suspect) error {
	n := s.owner
	if n == graph.NoNode {
		n = s.point
	}
	if n == graph.NoNode || !f.isCollection(n) {
		return nil
	}
	c := chain{by: map[int64]uint64{}}
	if !f.codesOfEntries(n, &c) && strings.HasPrefix(f.typeName(n), "System.Collections.Concurrent.ConcurrentDictionary<") {
		if err := f.codesOfNodes(ctx, append([]graph.Node{n}, s.pieces...), &c); err != nil {
			return err
		}
	}
	if c.most < uint64(f.o.Count) {
		return nil
	}
	o, err := f.object(n)
	if err != nil {
		return nil // the suspect's description has the error
	}
	key := answer.Text{}
	if args, err := o.Type.Arguments(); err == nil && len(args) > 0 {
		key = f.r.Runtime().NamedType(&f.a.Gaps, args[0])
	}
	all := c.all
	if s.elements.Err() == nil {
		all = max(all, s.elements.Value)
	}
	out.Chain, out.Colliding = says.OneHashCode(c.most, c.all, all, key.S), c.most
	return nil
}

// codesOfEntries counts the hash codes in a table's entries. It reports false if n has no such entries.
func (f *finder) codesOfEntries(n graph.Node, c *chain) bool {
	t, x, err := bind[*hashTable](f, n)
	if err != nil || !t.Entries.Has() {
		return false
	}
	array, err := t.Entries.Object(x)
	if err != nil || array.Addr == 0 {
		return false
	}
	used, err := t.Used.Int(x)
	if err != nil || used < 0 {
		return false
	}
	e, a, err := objects.BindElements[*hashEntry](f.b, array)
	if err != nil {
		return false
	}
	for i := range uint32(min(used, int64(a.Len), maxRead)) {
		at := a.Instance(i)
		next, err := e.Next.Int(at)
		if err != nil {
			break
		}
		if code, err := e.Code.Int(at); err == nil && next >= -1 { // others are free
			c.add(code)
		}
	}
	return true
}

// codesOfNodes counts the hash codes of a collection's nodes.
func (f *finder) codesOfNodes(ctx context.Context, queue []graph.Node, c *chain) (err error) {
	var children []graph.Node
	for i := 0; i < min(len(queue), maxRead); i++ {
		if i%lookStep == lookStep-1 && ctx.Err() != nil {
			return ctx.Err()
		}
		if node, x, err := bind[*hashNode](f, queue[i]); err == nil {
			if code, err := node.Code.Int(x); err == nil {
				c.add(code)
			}
		}
		if children, err = f.doms.AppendChildren(ctx, children[:0], queue[i]); err != nil {
			return err
		}
		for _, n := range children {
			if f.partBelow(queue[i], n) {
				queue = append(queue, n)
			}
		}
	}
	return nil
}
