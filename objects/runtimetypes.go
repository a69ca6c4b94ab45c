package objects

import (
	"context"
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/target"
)

// RuntimeTypes lists the System.RuntimeType objects on the heap with the types that they represent. It yields the
// missing parts of a row as errors before the row.
func (r *Reader) RuntimeTypes(ctx context.Context, h *heap.Heap) (iter.Seq2[answer.RuntimeType, error], error) {
	wanted, err := r.coreType("System.RuntimeType")
	if err != nil {
		return nil, err
	}
	domain, domainErr := r.Runtime().AppDomain()
	return func(yield func(answer.RuntimeType, error) bool) {
		if domainErr != nil && !yield(answer.RuntimeType{}, domainErr) {
			return
		}
		for o, err := range h.Objects() {
			switch {
			case ctx.Err() != nil:
				yield(answer.RuntimeType{}, ctx.Err())
				return
			case err == nil && (o.Type == nil || o.Type.Addr != wanted):
				continue
			}
			var row answer.RuntimeType
			if err == nil {
				row, err = r.runtimeType(o.Addr)
				row.Domain = domain.Addr
			}
			if err != nil && !yield(answer.RuntimeType{}, err) || row.Address != 0 && !yield(row, nil) {
				return
			}
		}
	}, nil
}

// runtimeType returns the row of a System.RuntimeType object. It returns a row with an Address and an error if only the
// name is unknown.
func (r *Reader) runtimeType(a target.Addr) (answer.RuntimeType, error) {
	o, err := r.TrustedObject(a)
	if err != nil {
		return answer.RuntimeType{}, err
	}
	handle, err := o.Field("m_handle").Addr()
	if err != nil {
		return answer.RuntimeType{}, err
	}
	row := answer.RuntimeType{Address: a, Handle: handle}
	row.Name.S, row.Name.Err = r.Runtime().TypeName(handle, dac.NameManaged)
	return row, row.Name.Err
}

// coreType returns the MethodTable of a type of CoreLib.
func (r *Reader) coreType(name string) (target.Addr, error) {
	lib, err := r.Runtime().CoreLib()
	if err != nil {
		return 0, err
	}
	md, err := lib.Metadata()
	if err != nil {
		return 0, err
	}
	t, ok := md.FindTypeDef(name)
	if !ok {
		return 0, target.Unsupportedf("System.Private.CoreLib has no type %s", name)
	}
	mt, err := lib.LoadedType(t)
	if err == nil && mt == 0 {
		err = fmt.Errorf("%s is not loaded: %w", name, target.ErrNotInDump)
	}
	return mt, err
}

// RuntimeType returns the TypeHandle that a System.RuntimeType object represents. ok is false for other objects.
func (o Object) RuntimeType() (th target.Addr, ok bool, err error) {
	if o.Type == nil {
		return 0, false, errNoObject
	}
	name, err := o.Type.Name()
	if err != nil || name != "System.RuntimeType" {
		return 0, false, nil // reported by the caller that asks for the name
	}
	th, err = o.Field("m_handle").Addr()
	return th, true, err
}
