package crash

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// maxExceptions bounds the exceptions of one tree.
const maxExceptions = limits.DescribedExceptions

// innerExceptions returns the causes of x: its inner exception, and the exceptions in a list field, as in
// AggregateException and ReflectionTypeLoadException.
func innerExceptions(rt *dac.Runtime, x *answer.Exception) ([]target.Addr, error) {
	in := innerFinder{rt: rt, seen: map[target.Addr]bool{0: true}}
	err := in.fields(objects.New(rt), x.Address)
	if err != nil {
		err = fmt.Errorf("inner exceptions of %016x: %w", uint64(x.Address), err)
	}
	in.add(x.Inner) // for an aggregate, the first of the list
	return in.found, err
}

type innerFinder struct {
	rt    *dac.Runtime
	seen  map[target.Addr]bool
	found []target.Addr
}

func (in *innerFinder) add(a target.Addr) {
	if !in.seen[a] && len(in.found) < maxExceptions {
		in.seen[a] = true
		in.found = append(in.found, a)
	}
}

// fields searches the fields of the object at a for lists of exceptions.
func (in *innerFinder) fields(r *objects.Reader, a target.Addr) error {
	o, err := r.TrustedObject(a)
	if err != nil {
		return err
	}
	var first error
	for f, v := range o.Fields() {
		if f.Static || v.IsNull() {
			continue
		}
		list, err := v.Object()
		if err == nil {
			err = in.list(list)
		} else if !strings.Contains(f.Name, "xceptions") {
			err = nil // the missing part is not a list of exceptions
		}
		if err != nil && first == nil {
			first = err
		}
	}
	return first
}

// readOnlyList is the type of the list in .NET Core 3.1; readOnlyField is its field.
const (
	readOnlyList  = "System.Collections.ObjectModel.ReadOnlyCollection`1"
	readOnlyField = "list"
)

// list adds the elements of an array of exceptions, or of a read-only collection over one.
func (in *innerFinder) list(o objects.Object) error {
	name, err := o.Type.Name()
	if err == nil && strings.HasPrefix(name, readOnlyList) {
		if o, err = o.Field(readOnlyField).Object(); err != nil {
			return err
		}
	}
	array, err := o.Array()
	if err != nil {
		return nil // a field of another type
	}
	for i, v := range array.Values() {
		if i >= maxExceptions {
			return target.Unsupportedf("only %d of %d are listed", maxExceptions, array.Len)
		}
		if v.IsNull() {
			continue
		}
		e, err := v.Object()
		if err != nil {
			return in.unreadable(name, err)
		}
		if is, err := in.rt.IsException(e.Type.MT); err != nil || !is {
			return err
		}
		in.add(e.Addr)
	}
	return nil
}

// unreadable returns the error of an element if the array's type name shows that it holds exceptions.
func (in *innerFinder) unreadable(array string, err error) error {
	if strings.HasSuffix(array, "Exception[]") {
		return err
	}
	return nil
}
