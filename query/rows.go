package query

import (
	"context"
	"iter"
	"reflect"
	"strings"

	"github.com/sosgo/sosgo/target"
)

// A Ref is a reference to an object in a column; 0 is null.
type Ref target.Addr

// A Scalar is the type of a column. A []byte is text that is valid until the next row.
type Scalar interface {
	int64 | uint64 | float64 | bool | string | []byte | target.Addr | Ref
}

// An Opt is a value of a column that may be null or unreadable. The zero Opt is null.
type Opt[T Scalar] struct {
	value T
	err   error
	known bool
}

// Some returns a known value.
func Some[T Scalar](v T) Opt[T] { return Opt[T]{value: v, known: true} }

// Unread returns an unreadable value with its reason.
func Unread[T Scalar](err error) Opt[T] { return Opt[T]{err: err} }

// SomeOr returns v, or an unreadable value if err is not nil.
func SomeOr[T Scalar](v T, err error) Opt[T] { return Opt[T]{value: v, err: err, known: err == nil} }

// SomeIf returns v if known is true, and null otherwise.
func SomeIf[T Scalar](v T, known bool) Opt[T] { return Opt[T]{value: v, known: known} }

// Get returns the value. known is false for null and for an unreadable value.
func (o *Opt[T]) Get() (v T, known bool) { return o.value, o.known }

func (o *Opt[T]) columnValue() Value {
	switch {
	case o.err != nil:
		return Failed(o.err)
	case !o.known:
		return null
	}
	return fieldValue(&o.value)
}

func (o *Opt[T]) columnKind() Kind { return fieldKind(&o.value) }

// A columnField is a field with a type other than a Scalar.
type columnField interface {
	columnValue() Value
	columnKind() Kind
}

func (v *Value) columnValue() Value { return *v }

func (v *Value) columnKind() Kind { return KindError }

// fieldValue returns the value of the field that p points to.
func fieldValue(p any) Value {
	switch p := p.(type) {
	case *int64:
		return Int(*p)
	case *uint64:
		return Uint(*p)
	case *float64:
		return Float(*p)
	case *bool:
		return Bool(*p)
	case *string:
		return Text(*p)
	case *[]byte:
		return Text(string(*p))
	case *target.Addr:
		return Address(*p)
	case *Ref:
		return Object(target.Addr(*p))
	case columnField:
		return p.columnValue()
	}
	return Failed(target.Unsupportedf("a column of type %T", p))
}

// fieldKind returns the kind of the values of the field that p points to.
func fieldKind(p any) Kind {
	switch p := p.(type) {
	case *int64:
		return KindInt
	case *uint64, *target.Addr:
		return KindUint
	case *float64:
		return KindFloat
	case *bool:
		return KindBool
	case *string, *[]byte:
		return KindText
	case *Ref:
		return KindObject
	case columnField:
		return p.columnKind()
	}
	return KindError
}

// Fields returns the columns of the struct that row points to, and a pointer to the field of each column.
//
// The tag row has the name of the column, then options: hidden, count and object (see Column and Source). The tag doc
// has the summary. A field is a Scalar, an Opt of one, or a Value for a column of several kinds.
func Fields(row any) (columns []Column, fields []any) {
	v := reflect.ValueOf(row)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return nil, nil
	}
	v = v.Elem()
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("row"), ",")
		c := Column{Name: name, Summary: f.Tag.Get("doc"), Tag: f.Tag}
		for option := range strings.SplitSeq(options, ",") {
			switch option {
			case "hidden":
				c.Hidden = true
			case "count":
				c.Count = true
			case "object":
				c.object = true
			}
		}
		p := v.Field(i).Addr().Interface()
		c.Kind = fieldKind(p)
		switch p.(type) {
		case *target.Addr, *Opt[target.Addr], *Ref, *Opt[Ref]:
			c.Hex = true
		}
		columns, fields = append(columns, c), append(fields, p)
	}
	return columns, fields
}

// NewSource returns s with the columns and the rows of a struct of type T; see Fields for its tags. The column with the
// option object is the source's Object.
func NewSource[T any](s Source, rows func(context.Context) iter.Seq2[T, error]) Source {
	s.Columns, _ = Fields(new(T))
	s.Object = -1
	for i := range s.Columns {
		if s.Columns[i].object {
			s.Object = i
		}
	}
	s.Rows = func(ctx context.Context) iter.Seq2[[]Value, error] { return values(rows(ctx)) }
	return s
}

// values converts rows to the values of their columns.
func values[T any](rows iter.Seq2[T, error]) iter.Seq2[[]Value, error] {
	return func(yield func([]Value, error) bool) {
		row := new(T)
		_, fields := Fields(row)
		out := make([]Value, len(fields))
		for r, err := range rows {
			if err != nil {
				if !yield(nil, err) {
					return
				}
				continue
			}
			*row = r
			for i, p := range fields {
				out[i] = fieldValue(p)
			}
			if !yield(out, nil) {
				return
			}
		}
	}
}
