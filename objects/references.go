package objects

import (
	"cmp"
	"context"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/target"
)

// References lists the objects that the object at a refers to, as the GC sees them. The LoaderAllocator of a
// collectible type comes last.
func (r *Reader) References(ctx context.Context, a target.Addr) (iter.Seq2[answer.Reference, error], error) {
	o, err := r.Proven(a)
	if err != nil {
		return nil, err
	}
	return o.references(ctx), nil
}

func (o Object) references(ctx context.Context) iter.Seq2[answer.Reference, error] {
	return func(yield func(answer.Reference, error) bool) {
		obj, err := o.Heap()
		if err != nil {
			yield(answer.Reference{}, err)
			return
		}
		edges := heap.NewEdges(o.Type.r.Runtime(), heap.EdgeOptions{LoaderAllocators: true})
		for ref, err := range edges.Of(&obj) {
			if ctx.Err() != nil {
				yield(answer.Reference{}, ctx.Err())
				return
			}
			row := answer.Reference{}
			if err == nil {
				row = o.reference(ref)
				err = cmp.Or(row.Type.Err, row.Field.Err) // the error is in the row and in the list
			}
			if err != nil && !yield(answer.Reference{}, err) {
				return
			}
			if row.Object != 0 && !yield(row, nil) {
				return
			}
		}
	}
}

func (o Object) reference(ref heap.Reference) answer.Reference {
	row := answer.Reference{Object: ref.Target}
	row.Type.S, row.Type.Err = o.Type.r.typeNameAt(ref.Target)
	if ref.Slot == 0 {
		row.Field.S, row.Implied = "(LoaderAllocator)", true
		return row
	}
	row.Offset = uint64(ref.Slot - o.data())
	row.Field.S, row.Field.Err = o.Type.FieldPath(row.Offset)
	return row
}

func (r *Reader) typeNameAt(a target.Addr) (string, error) {
	o, err := r.TrustedObject(a)
	if err != nil {
		return "", err
	}
	return o.Type.ManagedName()
}

// FieldPath returns the name of the field at an offset in an instance of t, with dots through structs in place. It is
// empty if there is no field. It fails if a needed field is unreadable.
func (t *Type) FieldPath(offset uint64) (string, error) {
	path := ""
	for {
		f, err := t.fieldAt(offset)
		if err != nil {
			return "", err
		}
		if f == nil {
			return path, nil
		}
		if path != "" {
			path += "."
		}
		path += f.Name
		next, err := f.embedded()
		if err != nil {
			return "", err
		}
		if next == nil {
			return path, nil
		}
		t, offset = next, offset-uint64(f.Offset)
	}
}

// fieldAt returns the instance field of t that covers an offset, or nil. It is the last field that starts at or before
// the offset. If some fields are unreadable, only a field that starts exactly there is certain.
func (t *Type) fieldAt(offset uint64) (*Field, error) {
	if t.MT.IsArray() {
		return nil, nil
	}
	fields, err := t.allFields()
	var best *Field
	for _, f := range fields {
		if !f.Static && uint64(f.Offset) <= offset && (best == nil || f.Offset >= best.Offset) {
			best = f
		}
	}
	switch {
	case err != nil && (best == nil || uint64(best.Offset) != offset):
		return nil, err
	case best != nil && best.Name == "":
		return nil, best.err
	}
	return best, nil
}

// embedded returns the type of the struct that the field holds in place. It returns nil for other fields, for a struct
// that contains itself, as primitive types do, and for a type that is not loaded.
func (f *Field) embedded() (*Type, error) {
	if !f.inPlace() {
		return nil, nil
	}
	th, err := f.TypeHandle()
	if err != nil || th == 0 || th&2 != 0 || th == f.Declaring.MT.Addr {
		return nil, err
	}
	t, err := f.Declaring.r.TrustedType(th)
	if err != nil || !t.MT.IsValueType() {
		return nil, err
	}
	return t, nil
}
