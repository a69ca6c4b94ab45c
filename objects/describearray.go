package objects

import (
	"context"
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/target"
)

// ArrayOptions selects elements of an array. The zero value selects all.
type ArrayOptions struct {
	// Start is the first index and Length the number of elements; nil selects from the start and to the end. Both
	// require an array of one dimension. A Length past the end of the array is cut.
	Start    *int64 `opt:"start" help:"first index, for an array of one dimension"`
	Length   *int64 `opt:"length" help:"number of elements, for an array of one dimension"`
	Details  bool   `opt:"details" help:"each element as dumpobj or dumpvc shows it"`
	NoFields bool   `opt:"nofields" help:"with -details: no fields of the elements"`
}

// ErrNotArray reports that an object is not an array.
var ErrNotArray = target.Argumentf("not an array")

// A RangeError reports that an array does not have the elements that ArrayOptions selects.
type RangeError struct {
	Array  *Array
	Option string // "Start" or "Length"
	Value  int64
}

// Unwrap returns target.ErrArgument.
func (e *RangeError) Unwrap() error { return target.ErrArgument }

func (e *RangeError) Error() string {
	if e.Array == nil {
		return "elements that an array does not have"
	}
	switch {
	case e.Array.Rank > 1:
		return "-start and -length are for arrays of one dimension"
	case e.Option == "Length":
		return fmt.Sprintf("length %d is negative", e.Value)
	}
	return fmt.Sprintf("start index %d is out of range: the array has %d elements from index %d",
		e.Value, e.Array.Len, e.Array.LowerBounds[0])
}

// DescribeArray describes the array at a. The elements are read while they are iterated. The error is an *InvalidError
// if there is no object at a, ErrNotArray if it is not an array, and a *RangeError if it does not have the selected
// elements.
func (r *Reader) DescribeArray(ctx context.Context, a target.Addr, options ArrayOptions) (*answer.Array, error) {
	o, err := r.Proven(a)
	if err != nil {
		return nil, err
	}
	if !o.Type.MT.IsArray() {
		return nil, fmt.Errorf("object %016x is %w: use dumpobj", uint64(a), ErrNotArray)
	}
	arr, err := o.Array()
	if err != nil {
		return nil, err
	}
	first, n, err := arr.choose(&options)
	if err != nil {
		return nil, err
	}
	hidden, err := arr.Hides(secrets.MaskOf(ctx))
	if hidden {
		err = answer.ErrHidden
	}
	if err != nil {
		return nil, err
	}
	res := &answer.Array{
		Address: a, MethodTable: o.Type.MT.Addr, Rank: arr.Rank, Lengths: arr.Lengths, LowerBounds: arr.LowerBounds,
		ElementMethodTable: o.Type.MT.PerInstInfo, Length: arr.Len, ElementWord: arr.elementWord(),
	}
	d := &describer{r: r, note: res.Note}
	res.Type = res.Text(o.Type.Name())
	res.ElementType = res.Text(r.Runtime().TypeName(o.Type.MT.PerInstInfo, dac.NameNative))
	res.Class = d.class(o.Type)
	res.Elements = arr.elements(ctx, &res.Gaps, first, n, &options)
	res.Size, err = o.Size()
	return res, err
}

// choose returns the position in memory of the first selected element, and the number of selected elements.
func (a *Array) choose(o *ArrayOptions) (first, n uint32, err error) {
	if o.Start == nil && o.Length == nil {
		return 0, a.Len, nil
	}
	if a.Rank > 1 {
		return 0, 0, &RangeError{Array: a}
	}
	start := int64(0)
	if o.Start != nil {
		start = *o.Start - int64(a.LowerBounds[0])
		if start < 0 || start > int64(a.Len) {
			return 0, 0, &RangeError{a, "Start", *o.Start}
		}
	}
	length := int64(a.Len) - start
	if o.Length != nil {
		if *o.Length < 0 {
			return 0, 0, &RangeError{a, "Length", *o.Length}
		}
		length = min(length, *o.Length)
	}
	return uint32(start), uint32(length), nil
}

// elements reads n elements from position first on. It yields the missing parts of an element as errors before the
// element.
func (a *Array) elements(ctx context.Context, g *answer.Gaps, first, n uint32, o *ArrayOptions) iter.Seq2[answer.Element, error] {
	return answer.NewRows(g, func(yield func(answer.Element, error) bool) error {
		var lacks []error
		d := &describer{r: a.Type.r, mask: secrets.MaskOf(ctx)}
		missing := 0
		n, beyond := a.inSegment(first, n)
		for i := first; i < first+n; i++ {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			lacks = lacks[:0]
			d.note = func(err error) { lacks = append(lacks, err) }
			e, gaps := d.element(ctx, a, i, o)
			for _, err := range append(lacks, gaps.Noted()...) {
				if !yield(answer.Element{}, err) {
					return nil
				}
			}
			if !yield(e, nil) {
				return nil
			}
			if missing++; target.Available(a.Type.r.Runtime().Memory(), e.Address, 1) {
				missing = 0
			}
			if missing == limits.MissingElements {
				next := min(a.nextStored(i), first+n)
				if next > i+1 && !yield(answer.Element{}, a.gapError(i+1, next)) {
					return nil
				}
				missing, i = 0, next-1
			}
		}
		if beyond != nil {
			yield(answer.Element{}, beyond)
		}
		return nil
	})
}

// inSegment returns how many of n elements from first on lie in the array's segment. If it is fewer than n, the array's
// length is corrupt, and it returns an error.
func (a *Array) inSegment(first, n uint32) (uint32, error) {
	if a.Type == nil {
		return 0, errNoObject
	}
	h := a.Type.r.walkable()
	if h == nil {
		return n, nil
	}
	s := h.Segment(a.Addr)
	if s == nil || a.addr(uint64(first)+uint64(n)) <= s.Objects.End {
		return n, nil
	}
	fit := uint32(0)
	if start := a.addr(uint64(first)); start < s.Objects.End {
		fit = uint32(min(uint64(n), uint64(s.Objects.End-start)/max(1, uint64(a.Type.MT.ComponentSize))))
	}
	return fit, target.CorruptHeapf("array %016x claims %d elements, and its segment ends after %d", uint64(a.Addr), a.Len, first+fit)
}

// nextStored returns the position of the first element after i that is at least partly in the dump, or Len.
func (a *Array) nextStored(i uint32) uint32 {
	at := a.addr(uint64(i) + 1)
	next, ok := target.NextStored(a.Type.r.Runtime().Memory(), at)
	if size := uint64(at - a.addr(uint64(i))); ok && next >= at && size > 0 {
		return uint32(min(uint64(i)+1+uint64(next-at)/size, uint64(a.Len)))
	}
	return a.Len
}

// gapError returns the error for elements from first up to end that are not in the dump.
func (a *Array) gapError(first, end uint32) error {
	at := a.addr(uint64(first))
	err := &target.MemoryError{Addr: at, Size: int(min(uint64(a.addr(uint64(end))-at), 1<<31-1)), Err: target.ErrNotInDump}
	return fmt.Errorf("%d elements from %d on: %w", end-first, first, err)
}

// element reads one element. The Gaps are the missing parts of its description.
func (d *describer) element(ctx context.Context, a *Array, i uint32, o *ArrayOptions) (e answer.Element, g answer.Gaps) {
	v := a.At(i)
	e = answer.Element{Index: a.Index(i, make([]int32, a.Rank)), Address: v.Location(), Stored: d.stored(v)}
	if d.mask != nil && i > 0 && a.Announces(i-1, v) {
		e.Stored = hidden(&v)
		return e, g
	}
	if !o.Details || v.Err() != nil || v.IsNull() && v.Kind() == KindReference {
		return e, g
	}
	options := DescribeOptions{NoFields: o.NoFields}
	if v.Kind() == KindReference {
		obj, err := v.Object()
		if err != nil {
			g.Note(err)
			e.ObjectErr = err
			return e, g
		}
		e.Object = d.object(ctx, obj, options)
		return e, e.Object.Gaps
	}
	if t, err := v.Type(); err == nil && t != nil { // nil for a pointer
		e.Struct = d.structure(Struct{Addr: v.Location(), Type: t}, options)
		return e, e.Struct.Gaps
	}
	return e, g
}
