package collections

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/target"
)

// Options choose elements of a collection. The zero value chooses all.
type Options struct {
	// Only, if not empty, is what the collection has to be: the start of the name of its definition, without which the answer is
	// a *KindError.
	Only string
	// Keyed wants a collection whose elements have keys.
	Keyed bool
	// NoKeys and NoValues leave these out.
	NoKeys, NoValues bool
	// Find chooses elements whose key or value says this, in upper or lower case.
	Find string
	// Offset is how many of the chosen elements are left out first, and Limit how many are wanted at most; 0 is all.
	Offset, Limit uint64
	// SOS also finds what SOS's commands say of elements, and passes those of a ConcurrentQueue in the order of SOS: that of the
	// slots of its segments, which begin anywhere.
	SOS bool
	// Jobs is how many goroutines format long lists; 0 stands for one a processor.
	Jobs int
}

// A KindError says that an object is another kind of collection than the one that was asked for, or none.
type KindError struct {
	Addr target.Addr
	Type answer.Text // the object's type
	Want string
}

func (e *KindError) Error() string {
	return fmt.Sprintf("%016x is no %s but a %s", uint64(e.Addr), e.Want, e.Type)
}

// Unwrap is target.ErrUnsupported.
func (e *KindError) Unwrap() error { return target.ErrUnsupported }

// Describe tells what the collection at a holds. Where there is no object the error is an *objects.InvalidError, where it is
// no collection ErrNotCollection. The elements are read while they are ranged over; the list ends with the context's error.
func (r *Reader) Describe(ctx context.Context, a target.Addr, options Options) (*answer.Collection, error) {
	o, err := r.b.Objects().Proven(a)
	if err != nil {
		return nil, err
	}
	res := &answer.Collection{Address: a, MethodTable: o.Type.MT.Addr, Found: answer.Maybe[uint64]{Err: errUnread}}
	res.Type = res.Gaps.Text(o.Type.ManagedName())
	if options.Only != "" {
		if name, err := r.b.Definition(o.Type); err == nil && !strings.HasPrefix(name, options.Only) {
			return nil, &KindError{a, res.Type, options.Only[strings.LastIndexByte(options.Only, '.')+1 : strings.LastIndexByte(options.Only, '`')]}
		}
	}
	mode := *r
	mode.slotOrder = options.SOS
	c, err := mode.Of(o)
	if err != nil {
		return nil, fmt.Errorf("object %016x of type %s: %w", uint64(a), res.Type, err)
	}
	if options.Keyed && !c.HasKeys {
		return nil, &KindError{a, res.Type, "dictionary"}
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
	l := newLister(r, c, options)
	l.ctx, l.res = ctx, res
	res.Items = answer.NewCollectionItems(l)
	return res, nil
}

// Summary is the start of a collection: at most so many elements; nil for an object that is none, and for arrays, which tell
// themselves what they are. What can't be read is returned beside what can.
func (r *Reader) Summary(o objects.Object, most int) (*answer.CollectionSummary, error) {
	if o.Type == nil || o.Type.MT.IsArray() {
		return nil, nil
	}
	c, err := r.Of(o)
	if errors.Is(err, ErrNotCollection) || err != nil && !errors.As(err, new(*shapes.UnknownLayoutError)) {
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
		if start, _ := answer.CutText(text, objects.LineChars); start != text {
			text, s.More = start, true
		}
		s.Text = &text
		return s, nil
	}
	l := newLister(r, c, Options{})
	tell := l.teller()
	var first error
	for i, err := range c.Items() {
		switch {
		case err != nil && first == nil:
			first = err
		case err != nil:
		case len(s.First) == most:
			s.More = true
		default:
			s.First = append(s.First, *tell.item(&i))
		}
		if err != nil || s.More {
			break
		}
	}
	return s, first
}

var errUnread = target.Unsupportedf("the elements were not read")

// says reports whether a value says find, which is in lower case: of a string all of it.
func says(v objects.Value, find string) bool {
	if v.Kind() == objects.KindReference && !v.IsNull() {
		if o, err := v.Object(); err == nil && o.IsString() {
			text, err := o.Text(objects.StringChars)
			return err == nil && strings.Contains(strings.ToLower(text), find)
		}
	}
	return strings.Contains(strings.ToLower(v.Plain(objects.LineChars)), find)
}

// referred is what SOS has to know of an element. What can't be read stays empty.
func referred(v objects.Value) (f answer.Referred) {
	switch v.Kind() {
	case objects.KindStruct:
		f.At = v.Location()
		if t, err := v.Type(); err == nil && t != nil {
			f.MethodTable = t.MT.Addr
		}
	case objects.KindReference:
		o, err := v.Object()
		if err != nil {
			return f
		}
		f.At, f.MethodTable, f.IsArray, f.IsString = o.Addr, o.Type.MT.Addr, o.Type.MT.IsArray(), o.IsString()
		switch {
		case f.IsString:
			f.String, _ = o.Text(objects.StringChars)
		case o.IsBoxed():
			f.At += dac.ObjectHeaderBytes
			if b := o.Boxed(); b.Kind() != objects.KindStruct && !o.Type.IsEnum() {
				f.Boxed = b.Answer()
			}
		}
	}
	return f
}
