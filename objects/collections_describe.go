package objects

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/target"
)

// CollectionOptions selects elements of a collection. The zero value selects all.
type CollectionOptions struct {
	// Only, if not empty, is a prefix of the collection's definition name. Describe returns a *KindError for
	// others.
	Only string
	// MethodTable, if not 0, is the value type at the address, such as an ImmutableArray in a field.
	MethodTable target.Addr
	Keyed       bool   // requires a collection of elements with keys
	NoValues    bool   `opt:"keys" excludes:"values" help:"only the keys"`
	NoKeys      bool   `opt:"values" help:"only the values"`
	Find        string `opt:"find" help:"only elements whose key or value contains TEXT, in upper or lower case"`
	Offset      uint64 `opt:"offset" help:"elements to skip"` // of those selected by Find
	Limit       uint64 `opt:"limit" help:"elements at most, 0 for all"`
	// SlotOrder lists a ConcurrentQueue in the order of its slots. That order may start in the middle of the queue.
	SlotOrder bool
	Referred  bool // describe what each key and value is or refers to; see answer.CollectionItem
	Jobs      int  // goroutines that format long lists, 0 for one per processor
}

// A NotCollectionError reports that an object is not the required kind of collection.
type NotCollectionError struct {
	Addr target.Addr
	Type answer.Text // the object's type
	Want string
}

func (e *NotCollectionError) Error() string {
	return fmt.Sprintf("%016x is not a %s but a %s", uint64(e.Addr), e.Want, e.Type)
}

// Unwrap returns target.ErrUnsupported.
func (e *NotCollectionError) Unwrap() error { return target.ErrUnsupported }

// Describe returns the content of the collection at a. The elements are read while they are iterated; the list ends
// with the error of ctx. Describe fails with an *objects.InvalidError if there is no object at a, and with
// ErrNotCollection if the object is not a collection.
func (r *Collections) Describe(ctx context.Context, a target.Addr, options CollectionOptions) (*answer.Collection, error) {
	o, err := Object{Addr: a}, error(nil)
	if options.MethodTable != 0 {
		o.Type, err = r.b.Objects().Type(options.MethodTable)
	} else {
		o, err = r.b.Objects().Proven(a)
	}
	if err != nil {
		return nil, err
	}
	res := &answer.Collection{Address: a, MethodTable: o.Type.MT.Addr, Found: answer.Missing[uint64](answer.ErrUnread)}
	res.Type = res.Gaps.Text(o.Type.ManagedName())
	if options.Only != "" {
		if name, err := r.b.Definition(o.Type); err == nil && !strings.HasPrefix(name, options.Only) {
			return nil, &NotCollectionError{a, res.Type, options.Only[strings.LastIndexByte(options.Only, '.')+1 : strings.LastIndexByte(options.Only, '`')]}
		}
	}
	mode := *r
	mode.slotOrder = options.SlotOrder
	var c *Collection
	if options.MethodTable != 0 {
		c, err = mode.In(o.Type, InstanceIn(Struct{Addr: a, Type: o.Type}))
	} else {
		c, err = mode.Of(o)
	}
	if err != nil {
		return nil, fmt.Errorf("object %016x of type %s: %w", uint64(a), res.Type, err)
	}
	if options.Keyed && !c.HasKeys {
		return nil, &NotCollectionError{a, res.Type, "dictionary"}
	}
	res.HasKeys = c.HasKeys
	res.Count = answer.Of(c.Count())
	if text, ok, err := c.Text(); ok {
		res.Note(err)
		if err == nil || text != "" {
			res.Text = &text
		}
		return res, nil
	}
	if c.Hides(secrets.MaskOf(ctx)) {
		return nil, answer.ErrHidden
	}
	l := newLister(r, c, options)
	l.ctx, l.res = ctx, res
	res.Items = answer.NewCollectionItems(&res.Gaps, l)
	return res, nil
}

// Summary returns the first elements of a collection, at most most. It is nil for arrays and for other objects: the
// line of an array's value has its type and length. If a part is unreadable, Summary returns the rest and an error.
func (r *Collections) Summary(ctx context.Context, o Object, most int) (*answer.CollectionSummary, error) {
	if o.Type == nil || o.Type.MT.IsArray() {
		return nil, nil
	}
	c, err := r.Of(o)
	if errors.Is(err, ErrNotCollection) || err != nil && !errors.As(err, new(*UnknownLayoutError)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := &answer.CollectionSummary{Count: answer.Of(c.Count())}
	if text, ok, err := c.Text(); ok {
		if err != nil {
			return s, err
		}
		if start, _ := answer.CutText(text, LineChars); start != text {
			text, s.More = secrets.Cut(ctx, start, false), true
		}
		s.Text = &text
		return s, nil
	}
	if c.Hides(secrets.MaskOf(ctx)) {
		return s, answer.ErrHidden
	}
	l := newLister(r, c, CollectionOptions{})
	l.ctx = ctx
	rows, secret := l.rower(), l.secret()
	var first error
	for i, err := range c.Items() {
		switch {
		case err != nil && first == nil:
			first = err
		case err != nil:
		case len(s.First) == most:
			s.More = true
		default:
			s.First = append(s.First, *rows.item(&i, secret(&i)))
		}
		if err != nil || s.More {
			break
		}
	}
	return s, first
}

// contains reports whether the text of v contains find, which must be in lower case. Strings are searched whole.
func contains(ctx context.Context, v Value, find string) bool {
	if v.Kind() == KindReference && !v.IsNull() {
		if o, err := v.Object(); err == nil && o.IsString() {
			text, err := o.Text(StringChars)
			return err == nil && strings.Contains(strings.ToLower(secrets.Masked(ctx, text)), find)
		}
	}
	return strings.Contains(strings.ToLower(secrets.Masked(ctx, v.Plain(LineChars))), find)
}

// referred returns what SOS prints for an element. Unreadable parts stay empty.
func referred(v Value) (f answer.Referred) {
	switch v.Kind() {
	case KindStruct:
		f.At = v.Location()
		if t, err := v.Type(); err == nil && t != nil {
			f.MethodTable = t.MT.Addr
		}
	case KindReference:
		o, err := v.Object()
		if err != nil {
			return f
		}
		f.At, f.MethodTable, f.IsArray, f.IsString = o.Addr, o.Type.MT.Addr, o.Type.MT.IsArray(), o.IsString()
		switch {
		case f.IsString:
			f.String, _ = o.Start(StringChars)
		case o.IsBoxed():
			f.At += dac.ObjectHeaderBytes
			if b := o.Boxed(); b.Kind() != KindStruct && !o.Type.IsEnum() {
				f.Boxed = b.answer()
			}
		}
	}
	return f
}
