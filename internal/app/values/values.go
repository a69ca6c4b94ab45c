// Package values answers queries about objects, collections, static fields and types of a process. It only opens the
// readers in packages objects, objects/collections and query, and joins their answers about one object. Start with
// Describe.
package values

import (
	"cmp"
	"context"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// DescribeOptions selects parts of an object's description.
type DescribeOptions struct {
	objects.DescribeOptions
	// Show has expressions about the object; the caller then shows the fields.
	Show  string `opt:"show" kind:"expression" value:"EXPR" help:"the values of expressions about it, instead of its fields: Customer.Name, size"`
	Plain bool   // leave out the elements of a collection and the state of a task

	// Env returns the environment for Show, with its thread and variables. If nil, Show is evaluated without either.
	Env func() (*query.Env, error)
}

// firstElements is how many elements of a collection Describe lists.
const firstElements = 5

// Describe describes an object: its type, size and fields, the first elements of a collection, and the state of a task.
// If there is no object at the address, the error is an *objects.InvalidError.
func Describe(ctx context.Context, p *process.Process, object target.Addr, o DescribeOptions) (*answer.Object, error) {
	return process.WithObjects(ctx, p, func(ctx context.Context, c *process.Call, r *objects.Reader) (*answer.Object, error) {
		out, err := r.Describe(ctx, object, o.DescribeOptions)
		if err != nil {
			return nil, err
		}
		switch {
		case o.Show != "":
			return show(ctx, c, out, o)
		case !o.NoFields && !o.Plain:
			summarize(ctx, c, r, out)
		}
		return out, nil
	})
}

// summarize adds the first elements of a collection, and the state of a task, to an object's description. It leaves
// other and unreadable objects unchanged: the fields carry the reasons.
func summarize(ctx context.Context, c *process.Call, r *objects.Reader, out *answer.Object) {
	l, err := c.Collections()
	if err != nil {
		return
	}
	object, err := r.TrustedObject(out.Address)
	if err != nil {
		return
	}
	out.Collection, err = l.Summary(ctx, object, firstElements)
	out.Note(err)
	t, err := tasks.Of(c.Process)
	if err != nil {
		return
	}
	if state, err := t.DescribeState(out.Address); err == nil {
		out.NoteAll(state.Noted())
		out.Task = state
	}
}

// show evaluates expressions about an object.
func show(ctx context.Context, c *process.Call, out *answer.Object, o DescribeOptions) (*answer.Object, error) {
	if o.Env == nil {
		o.Env = func() (*query.Env, error) { return query.NewEnv(c.Process) }
	}
	env, err := o.Env()
	if err != nil {
		return nil, err
	}
	env.Scan = c.Scan("asking the heap", env.Scan)
	r, err := c.Objects()
	if err != nil {
		return nil, err
	}
	of, err := r.Proven(out.Address)
	if err != nil {
		return nil, err
	}
	e, err := query.EvaluateOf(ctx, env, of, o.Show)
	if e == nil {
		return nil, err
	}
	out.NoteAll(e.Noted())
	out.Shown = e.Values
	return out, err
}

// Items lists the elements of a collection. Another object is an error.
func Items(ctx context.Context, p *process.Process, collection target.Addr, o objects.CollectionOptions) (*answer.Collection, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Collection, error) {
		r, err := c.Collections()
		if err != nil {
			return nil, err
		}
		if o.Jobs == 0 {
			o.Jobs = c.Jobs()
		}
		return r.Describe(ctx, collection, o)
	})
}

// Array lists the elements of an array. The error for another object is objects.ErrNotArray.
func Array(ctx context.Context, p *process.Process, array target.Addr, o objects.ArrayOptions) (*answer.Array, error) {
	return process.WithObjects(ctx, p, func(ctx context.Context, c *process.Call, r *objects.Reader) (*answer.Array, error) {
		return r.DescribeArray(ctx, array, o)
	})
}

// ReadString reads a string. Its text is read during iteration.
func ReadString(ctx context.Context, p *process.Process, object target.Addr) (*answer.String, error) {
	return process.WithObjects(ctx, p, func(ctx context.Context, c *process.Call, r *objects.Reader) (*answer.String, error) {
		return r.DescribeString(object)
	})
}

// Statics lists static fields with their values.
func Statics(ctx context.Context, p *process.Process, o objects.StaticsOptions) (iter.Seq2[answer.StaticField, error], error) {
	return process.WithObjects(ctx, p, func(ctx context.Context, c *process.Call, r *objects.Reader) (iter.Seq2[answer.StaticField, error], error) {
		list, _ := c.Threads() // r.Statics reads the threads too and notes missing parts
		return named(r.Statics(ctx, o), list), nil
	})
}

// named completes the threads of thread statics from list.
func named(fields iter.Seq2[answer.StaticField, error], list []stackwalk.Thread) iter.Seq2[answer.StaticField, error] {
	return func(yield func(answer.StaticField, error) bool) {
		owners := map[uint32]*answer.Thread{} // by managed id
		for f, err := range fields {
			if f.Thread != nil {
				id := f.Thread.ManagedID
				if t := stackwalk.ThreadByManagedID(list, id); owners[id] == nil && t != nil {
					var gaps answer.Gaps
					d := t.Describe(&gaps)
					owners[id] = &d
					for _, gap := range gaps.Noted() {
						if !yield(answer.StaticField{}, gap) {
							return
						}
					}
				}
				f.Thread = cmp.Or(owners[id], f.Thread)
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

// Types lists the loaded types of the runtime, with the numbers of their objects.
func Types(ctx context.Context, p *process.Process, o heap.LoadedTypesOptions) (iter.Seq2[answer.LoadedType, error], error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (iter.Seq2[answer.LoadedType, error], error) {
		rt, err := c.Runtime()
		if err != nil {
			return nil, err
		}
		h, err := c.Heap() // without a heap the types have no numbers
		o.Scan = c.Scan("counting objects", o.Scan)
		list := heap.LoadedTypes(ctx, rt, h, o)
		if err == nil {
			return list, nil
		}
		return func(yield func(answer.LoadedType, error) bool) {
			if yield(answer.LoadedType{}, err) {
				list(yield)
			}
		}, nil
	})
}

// DelegateCalls lists the calls of a delegate in order: targets and methods. The error for another object is an
// *objects.NotDelegateError.
func DelegateCalls(ctx context.Context, p *process.Process, delegate target.Addr) (iter.Seq2[answer.DelegateCall, error], error) {
	return process.WithObjects(ctx, p, func(ctx context.Context, c *process.Call, r *objects.Reader) (iter.Seq2[answer.DelegateCall, error], error) {
		return r.DelegateCalls(delegate)
	})
}

// LoadContext describes an AssemblyLoadContext, or the one that loaded the object's type.
func LoadContext(ctx context.Context, p *process.Process, object target.Addr) (*answer.LoadContext, error) {
	return process.WithObjects(ctx, p, func(ctx context.Context, c *process.Call, r *objects.Reader) (*answer.LoadContext, error) {
		return r.DescribeLoadContext(ctx, object)
	})
}

// RuntimeTypes lists the System.RuntimeType objects of the heap with their types.
func RuntimeTypes(ctx context.Context, p *process.Process) (iter.Seq2[answer.RuntimeType, error], error) {
	return process.WithObjects(ctx, p, func(ctx context.Context, c *process.Call, r *objects.Reader) (iter.Seq2[answer.RuntimeType, error], error) {
		h, err := c.NotedHeap()
		if err == nil {
			err = h.Unread()
		}
		if err != nil {
			return nil, err
		}
		return r.RuntimeTypes(ctx, h)
	})
}

// Type describes a type by its MethodTable.
func Type(ctx context.Context, p *process.Process, methodTable target.Addr, o objects.TypeOptions) (*answer.Type, error) {
	return process.WithObjects(ctx, p, func(ctx context.Context, c *process.Call, r *objects.Reader) (*answer.Type, error) {
		return r.DescribeType(methodTable, o)
	})
}

// AppDomain describes the application domain of an object.
func AppDomain(ctx context.Context, p *process.Process, object target.Addr) (*answer.AppDomain, error) {
	return process.WithObjects(ctx, p, func(ctx context.Context, c *process.Call, r *objects.Reader) (*answer.AppDomain, error) {
		if _, err := r.Proven(object); err != nil {
			return nil, err
		}
		return r.Runtime().AppDomainOf(object)
	})
}

// Struct describes an unboxed value of a value type.
func Struct(ctx context.Context, p *process.Process, methodTable, at target.Addr) (*answer.Struct, error) {
	return process.WithObjects(ctx, p, func(ctx context.Context, c *process.Call, r *objects.Reader) (*answer.Struct, error) {
		return r.DescribeStruct(methodTable, at)
	})
}

// References lists the references of an object with their positions in it.
func References(ctx context.Context, p *process.Process, object target.Addr) (iter.Seq2[answer.Reference, error], error) {
	return process.WithObjects(ctx, p, func(ctx context.Context, c *process.Call, r *objects.Reader) (iter.Seq2[answer.Reference, error], error) {
		return r.References(ctx, object)
	})
}
