package collections

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/target"
)

// ErrNotCollection says that an object is of no kind of collection that is known. It is a target.ErrUnsupported.
var ErrNotCollection = target.Unsupportedf("no collection that is known")

// An Item is an element of a collection.
type Item struct {
	Index uint64        // in the order of enumeration, from 0; an array's in the order of memory
	Key   objects.Value // of dictionaries, and the priority of an element of a priority queue
	Value objects.Value
}

// A Reader reads the collections of one runtime. It is safe for concurrent use.
type Reader struct {
	b     *shapes.Binder
	types *sync.Map // *objects.Type -> *opener
	kinds []kind    // the first that fits a type counts
	depth int       // of collections that are about others

	slotOrder bool // queues of several threads are passed as their arrays have them
}

// maxDepth is how many collections may be about one another: views of views.
const maxDepth = 16

// New returns a Reader for what a Binder binds.
func New(b *shapes.Binder) *Reader {
	return &Reader{b: b, types: &sync.Map{}, kinds: slices.Concat(generic(), nongeneric(), concurrent(), immutable(), frozen(), channels(), wrappers(), others())}
}

// An opener opens objects of one type, or says why that can't be done.
type opener struct {
	open func(r *Reader, x shapes.Instance) content
	kind *kind
	err  error
}

// A Collection is one collection. What it holds is read when it is listed.
type Collection struct {
	// HasKeys reports whether items have keys.
	HasKeys bool
	content content
}

// A content is what a kind of collection found in an instance.
type content struct {
	count int64 // elements that it says it has; unknown if it says nothing
	keys  bool
	each  each
	err   error // why it can't be listed, or not all of it
	text  func() (string, error)
}

// unknown is the count of a collection that keeps none.
const unknown = -1

// An each passes items to yield until that returns false, which it returns then.
type each func(yield yield) bool

type yield func(Item, error) bool

// failed is the content of which nothing can be read.
func failed(err error) content { return content{count: unknown, err: err} }

// Of is the collection that an object is: an array, a class of collections, or a value type in a box that is one. It is
// ErrNotCollection where the object is of no kind that is known, and a *shapes.UnknownLayoutError where its fields are not.
func (r *Reader) Of(o objects.Object) (*Collection, error) {
	if o.Type == nil || o.IsFree() {
		return nil, ErrNotCollection
	}
	if o.Type.MT.IsArray() {
		return collectionOf(r.arrayContent(o))
	}
	return r.In(o.Type, shapes.Of(o))
}

// In is the collection that an instance of a type is: also of a value type in place, as an ImmutableArray.
func (r *Reader) In(t *objects.Type, x shapes.Instance) (*Collection, error) {
	op := r.opener(t)
	if op.err != nil {
		return nil, op.err
	}
	return collectionOf(op.open(r, x))
}

// Is reports whether objects of a type are collections whose fields are known. Arrays are.
func (r *Reader) Is(t *objects.Type) bool {
	return t != nil && (t.MT.IsArray() || r.opener(t).err == nil)
}

func collectionOf(c content) (*Collection, error) {
	if c.each == nil && c.text == nil && c.err != nil {
		return nil, c.err
	}
	return &Collection{HasKeys: c.keys, content: c}, nil
}

// opener is how a type is opened.
func (r *Reader) opener(t *objects.Type) *opener {
	if v, ok := r.types.Load(t); ok {
		return v.(*opener)
	}
	v, _ := r.types.LoadOrStore(t, r.find(t))
	return v.(*opener)
}

func (r *Reader) find(t *objects.Type) *opener {
	var unread error
	for i := range r.kinds {
		open, err := r.kinds[i].bind(r, t)
		switch {
		case err == nil:
			return &opener{open: open, kind: &r.kinds[i]}
		case errors.Is(err, target.ErrNotInDump) || errors.Is(err, target.ErrCorrupt):
			unread = err
		case err != shapes.ErrOtherType:
			return &opener{err: err}
		}
	}
	if unread != nil {
		return &opener{err: unread}
	}
	return &opener{err: ErrNotCollection}
}

// A kind is a row of the tables: how one shape of collections is read.
type kind struct {
	bind  func(r *Reader, t *objects.Type) (func(r *Reader, x shapes.Instance) content, error)
	store func(r *Reader, t *objects.Type) (Store, error) // nil where it keeps no elements in arrays of its own
}

// of is the row of a shape.
func of[T any](read func(r *Reader, s *T, x shapes.Instance) content) kind {
	return kind{bind: func(r *Reader, t *objects.Type) (func(r *Reader, x shapes.Instance) content, error) {
		s, err := shapes.Bind[T](r.b, t)
		if err != nil {
			return nil, err
		}
		return func(r *Reader, x shapes.Instance) content { return read(r, s, x) }, nil
	}}
}

// stored is the row of a shape that keeps its elements in arrays of its own.
func stored[T any](read func(r *Reader, s *T, x shapes.Instance) content, store func(s *T) Store) kind {
	k := of(read)
	k.store = func(r *Reader, t *objects.Type) (Store, error) {
		s, err := shapes.Bind[T](r.b, t)
		if err != nil {
			return Store{}, err
		}
		return store(s), nil
	}
	return k
}

// Count is how many elements the collection says it has. A collection that keeps no count is target.ErrUnsupported; one that
// keeps a negative one target.ErrCorrupt.
func (c *Collection) Count() (uint64, error) {
	switch {
	case c.content.count >= 0:
		return uint64(c.content.count), nil
	case c.content.err != nil:
		return 0, c.content.err
	}
	return 0, errNoCount
}

var errNoCount = target.Unsupportedf("the collection keeps no count")

// CountOf is how many elements the object is a collection of; ok is false for what is none, or keeps no count. A count that
// can't be read, or that the collection's arrays contradict, is an error. Arrays are left out.
func (r *Reader) CountOf(o objects.Object) (n uint64, ok bool, err error) {
	if o.Type == nil || o.Type.MT.IsArray() {
		return 0, false, nil
	}
	c, err := r.Of(o)
	if err == nil {
		err = c.content.err
	}
	if err == nil {
		n, err = c.Count()
	}
	if errors.Is(err, target.ErrUnsupported) { // none, of an unknown layout, or without a count
		return 0, false, nil
	}
	return n, err == nil, err
}

// IsText reports whether the collection has a Text: its elements are characters or bits.
func (c *Collection) IsText() bool { return c.content.text != nil }

// Text is what a collection of characters or bits says: a StringBuilder, a BitArray, memory of characters. It is false for
// others, whose Items tell all.
func (c *Collection) Text() (string, bool, error) {
	if c.content.text == nil {
		return "", false, nil
	}
	s, err := c.content.text()
	return s, true, err
}

// Items iterates over the elements. What can't be read is an error in their place, and the rest goes on. Where the count
// says otherwise than what was found, the last error tells.
func (c *Collection) Items() iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		if c.content.err != nil && !yield(Item{}, c.content.err) {
			return
		}
		if c.content.each == nil {
			return
		}
		n, whole := uint64(0), c.content.err == nil
		if !c.content.each(func(i Item, err error) bool {
			if err != nil {
				whole = false
				return yield(Item{}, err)
			}
			i.Index = n
			n++
			return yield(i, nil)
		}) {
			return
		}
		if whole && c.content.count >= 0 && n != uint64(c.content.count) {
			yield(Item{}, target.Corruptf("the collection says that it has %d elements, and %d were found: it is damaged, or a writer was inside", c.content.count, n))
		}
	}
}

// A reading reads fields and keeps the first error.
type reading struct{ err error }

func (f *reading) note(err error) {
	if f.err == nil {
		f.err = err
	}
}

func (f *reading) int(i *shapes.Int, x shapes.Instance) int64 {
	v, err := i.Int(x)
	f.note(err)
	return v
}

func (f *reading) object(o *shapes.Ref, x shapes.Instance) objects.Object {
	v, err := o.Object(x)
	f.note(err)
	return v
}

// wrap is the content of what another object is about: a view of it.
func (r *Reader) wrap(o objects.Object, err error) content {
	if err != nil {
		return failed(err)
	}
	if o.Addr == 0 {
		return content{each: nothing}
	}
	if r.depth == maxDepth {
		return failed(target.Corruptf("a collection is about itself"))
	}
	inner := *r
	inner.depth++
	c, err := inner.Of(o)
	if err != nil {
		return failed(fmt.Errorf("what it holds, %016x: %w", uint64(o.Addr), err))
	}
	return c.content
}

func nothing(yield) bool { return true }
