package objects

import (
	"errors"
	"math/big"
	"reflect"
	"time"

	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// As returns a value as a Go value of type T. T is one of
//
//   - bool, an integer or floating-point type, or a type based on one, for primitive values and enums;
//   - string, for a string, or for the characters of an array or a Span;
//   - time.Time, time.Duration, target.GUID or *big.Rat, for what Time, Duration, GUID and Decimal read;
//   - target.Addr, for a reference or a pointer;
//   - Object, Array, Struct, Slice or Value, for what the methods of Value return;
//   - a slice of one of these, for what Value.Slice reads;
//   - a pointer to one of these: it is nil for null, and for a Nullable without a value.
//
// Boxes and Nullables are opened. The error is target.ErrNull for null where T is not a pointer, target.ErrArgument if
// the value is of another kind or does not fit in T, and otherwise the error of the value. As returns what it has read
// of a slice with the error.
func As[T any](v Value) (T, error) {
	var out T
	err := v.into(reflect.ValueOf(&out).Elem())
	return out, err
}

// into stores v in out.
func (v Value) into(out reflect.Value) error {
	if v.err != nil {
		return v.err
	}
	if ok, err := v.intoHandle(out.Addr().Interface()); ok {
		return err
	}
	if out.Kind() == reflect.Pointer && out.Type() != ratType {
		return v.intoPointer(out)
	}
	v, err := v.opened()
	if err != nil {
		return err
	}
	if ok, err := v.intoLibrary(out.Addr().Interface()); ok {
		return err
	}
	if out.Kind() == reflect.Slice {
		return v.intoSlice(out)
	}
	return v.intoPrimitive(out)
}

var ratType = reflect.TypeFor[*big.Rat]()

// opened returns the value in a box or a Nullable, and other values as they are.
func (v Value) opened() (Value, error) {
	if v.kind() == KindReference {
		o, err := v.Object()
		if err != nil || !o.IsBoxed() {
			return v, err
		}
		v = o.Boxed()
	}
	inner, has, err := v.Nullable()
	switch {
	case errors.Is(err, target.ErrArgument):
		return v, nil
	case err == nil && !has:
		err = errNull
	}
	return inner, err
}

// intoHandle stores v in out if that is a handle, and reports whether it is.
func (v Value) intoHandle(out any) (ok bool, err error) {
	switch p := out.(type) {
	case *Value:
		*p = v
	case *target.Addr:
		*p, err = v.Addr()
	case *Object:
		*p, err = v.Object()
	case *Array:
		var o Object
		if o, err = v.Object(); err == nil {
			*p, err = o.Array()
		}
	case *Struct:
		*p, err = v.Struct()
	case *Slice:
		*p, err = v.Slice()
	default:
		return false, nil
	}
	return true, err
}

// intoLibrary stores v in out if that is the Go type of a library's type, and reports whether it is.
func (v Value) intoLibrary(out any) (ok bool, err error) {
	switch p := out.(type) {
	case *time.Time:
		*p, err = v.Time()
	case *time.Duration:
		*p, err = v.Duration()
	case *target.GUID:
		*p, err = v.GUID()
	case **big.Rat:
		*p, err = v.Decimal()
	default:
		return false, nil
	}
	return true, err
}

func (v Value) intoPointer(out reflect.Value) error {
	if v.IsNull() {
		return nil
	}
	p := reflect.New(out.Type().Elem())
	if err := v.into(p.Elem()); err != nil {
		return err
	}
	out.Set(p)
	return nil
}

func (v Value) intoSlice(out reflect.Value) error {
	s, err := v.Slice()
	if err != nil {
		return err
	}
	for _, e := range s.All() {
		item := reflect.New(out.Type().Elem()).Elem()
		if err := e.into(item); err != nil {
			return err
		}
		out.Set(reflect.Append(out, item))
	}
	return nil
}

// intoPrimitive stores v in out, which is a bool, a number or a string.
func (v Value) intoPrimitive(out reflect.Value) error {
	if v.kind() == KindChar { // a code unit is a number, too
		v.elem = metadata.ElementU2
	}
	var fits bool
	switch {
	case out.Kind() == reflect.Bool:
		b, err := v.Bool()
		out.SetBool(b)
		return err
	case out.Kind() == reflect.String:
		s, err := v.chars()
		out.SetString(s)
		return err
	case out.CanInt():
		n, err := v.Int()
		if err != nil {
			return err
		}
		out.SetInt(n)
		fits = !out.OverflowInt(n)
	case out.CanUint():
		n, err := v.Uint()
		if err != nil {
			return err
		}
		out.SetUint(n)
		fits = !out.OverflowUint(n)
	case out.CanFloat():
		f, err := v.Float()
		if err != nil {
			return err
		}
		out.SetFloat(f)
		fits = !out.OverflowFloat(f)
	default:
		return target.Argumentf("a value can't be read as a %v", out.Type())
	}
	if !fits {
		out.SetZero()
		return target.Argumentf("%s does not fit in a %v", v.Plain(0), out.Type())
	}
	return nil
}

// chars returns the text of a string or of characters.
func (v Value) chars() (string, error) {
	if v.kind() == KindReference {
		o, err := v.Object()
		if err != nil {
			return "", err
		}
		if !o.Type.MT.IsArray() {
			return o.heldText(-1, v.Type)
		}
	}
	s, err := v.Slice()
	if err != nil {
		return "", err
	}
	return s.Text(-1)
}
