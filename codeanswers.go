package sosgo

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/contexts"
	"github.com/sosgo/sosgo/app/crash"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/objects/disasm"
	"github.com/sosgo/sosgo/stackwalk/threads"
	"github.com/sosgo/sosgo/target"
)

// Options of answers about code and about the stacks of single threads. The zero value of each is the default.
type (
	// CodeOptions choose what stands beside the instructions of a method.
	CodeOptions = disasm.MethodOptions
	// TypeOptions choose what the description of a type lists.
	TypeOptions = objects.TypeOptions
	// ModuleOptions choose what the description of a module lists.
	ModuleOptions = dac.ModuleOptions
	// StackObjectOptions choose objects of a stack.
	StackObjectOptions = threads.ObjectOptions
	// ReturnOptions choose return addresses of a stack.
	ReturnOptions = threads.ReturnOptions
	// SyncBlockOptions choose sync blocks.
	SyncBlockOptions = threads.SyncBlockOptions
)

// managed computes an answer from the runtime's structures.
func managed[T any](ctx context.Context, v *View, compute func(q *question, rt *dac.Runtime) (T, error)) (T, error) {
	return ask(ctx, v, func(q *question) (none T, err error) {
		rt, err := q.Runtime()
		if err != nil {
			return none, err
		}
		return compute(q, rt)
	})
}

// read computes an answer with the reader of objects.
func read[T any](ctx context.Context, v *View, compute func(q *question, r *objects.Reader) (T, error)) (T, error) {
	return ask(ctx, v, func(q *question) (none T, err error) {
		r, err := q.Objects()
		if err != nil {
			return none, err
		}
		return compute(q, r)
	})
}

// methodsOf computes an answer with the Lister of methods and their code.
func methodsOf[T any](ctx context.Context, v *View, compute func(q *question, l *disasm.Lister) (T, error)) (T, error) {
	return read(ctx, v, func(q *question, r *objects.Reader) (T, error) { return compute(q, disasm.NewLister(r.Runtime(), r)) })
}

// Disassembly lists the instructions of the method at an address: its MethodDesc, or an address in its code.
func (v *View) Disassembly(ctx context.Context, address target.Addr, o ...CodeOptions) (*answer.Disassembly, error) {
	return methodsOf(ctx, v, func(q *question, l *disasm.Lister) (*answer.Disassembly, error) {
		return l.Method(q.ctx, address, option(o))
	})
}

// IL lists the intermediate language of a method, by its MethodDesc or the object of a dynamic method. Where there is no
// method, the error is a *disasm.NoMethodError.
func (v *View) IL(ctx context.Context, method target.Addr) (*answer.IL, error) {
	return methodsOf(ctx, v, func(_ *question, l *disasm.Lister) (*answer.IL, error) { return l.IL(method) })
}

// ILAt lists the intermediate language at an address, without the method's metadata.
func (v *View) ILAt(ctx context.Context, address target.Addr) (*answer.IL, error) {
	return methodsOf(ctx, v, func(_ *question, l *disasm.Lister) (*answer.IL, error) { return l.ILAt(address) })
}

// FindName looks for the type, method or field with a name in the loaded modules with a name; "*" is all modules.
func (v *View) FindName(ctx context.Context, module, name string) (*answer.NameSearch, error) {
	return managed(ctx, v, func(_ *question, rt *dac.Runtime) (*answer.NameSearch, error) {
		return code.Of(rt).FindName(module, name)
	})
}

// FindToken looks for the type, method or field with a metadata token in the loaded modules with a name.
func (v *View) FindToken(ctx context.Context, module string, token metadata.Token) (*answer.NameSearch, error) {
	return managed(ctx, v, func(_ *question, rt *dac.Runtime) (*answer.NameSearch, error) {
		return code.Of(rt).FindToken(module, token)
	})
}

// DelegateCalls lists what a delegate calls: targets and methods, in their order. Where the object is no delegate, the error
// is an *objects.NotDelegateError.
func (v *View) DelegateCalls(ctx context.Context, delegate target.Addr) (iter.Seq2[answer.DelegateCall, error], error) {
	return read(ctx, v, func(_ *question, r *objects.Reader) (iter.Seq2[answer.DelegateCall, error], error) {
		return r.DelegateCalls(delegate)
	})
}

// LoadContext describes the AssemblyLoadContext that an object is, or that loaded its type.
func (v *View) LoadContext(ctx context.Context, object target.Addr) (*answer.LoadContext, error) {
	return read(ctx, v, func(q *question, r *objects.Reader) (*answer.LoadContext, error) {
		return r.DescribeLoadContext(q.ctx, object)
	})
}

// RuntimeTypes lists the System.RuntimeType objects of the heap with the types that they stand for.
func (v *View) RuntimeTypes(ctx context.Context) (iter.Seq2[answer.RuntimeType, error], error) {
	return read(ctx, v, func(q *question, r *objects.Reader) (iter.Seq2[answer.RuntimeType, error], error) {
		h, err := q.heap()
		if err == nil {
			err = h.Unread()
		}
		if err != nil {
			return nil, err
		}
		return r.RuntimeTypes(q.ctx, h)
	})
}

// Type describes a type by its MethodTable.
func (v *View) Type(ctx context.Context, methodTable target.Addr, o ...TypeOptions) (*answer.Type, error) {
	return read(ctx, v, func(_ *question, r *objects.Reader) (*answer.Type, error) {
		return r.DescribeType(methodTable, option(o))
	})
}

// Method describes a method by its MethodDesc.
func (v *View) Method(ctx context.Context, method target.Addr) (*answer.Method, error) {
	return managed(ctx, v, func(_ *question, rt *dac.Runtime) (*answer.Method, error) { return code.Of(rt).DescribeMethod(method) })
}

// Source describes a source file by its path in the PDB of a method's module, with its text if the PDB embeds it.
func (v *View) Source(ctx context.Context, method target.Addr, file string) (*answer.SourceFile, error) {
	return managed(ctx, v, func(_ *question, rt *dac.Runtime) (*answer.SourceFile, error) {
		m, err := code.Of(rt).MethodDesc(method)
		if err != nil {
			return nil, err
		}
		module, err := m.Module()
		if err != nil {
			return nil, err
		}
		return module.Source(file)
	})
}

// SourceFiles lists the source files that the PDBs of the loaded modules name, without their texts. A module without a PDB is an error
// between them.
func (v *View) SourceFiles(ctx context.Context) (iter.Seq2[*answer.SourceFile, error], error) {
	return managed(ctx, v, func(q *question, rt *dac.Runtime) (iter.Seq2[*answer.SourceFile, error], error) {
		modules, err := rt.Modules()
		if err != nil {
			return nil, err
		}
		return func(yield func(*answer.SourceFile, error) bool) {
			for _, m := range modules {
				for f, err := range m.SourceFiles() {
					if !yield(f, cmp.Or(q.ctx.Err(), err)) || q.ctx.Err() != nil {
						return
					}
				}
			}
		}, nil
	})
}

// GCInfo describes what the garbage collector knows about the code of a method, by its MethodDesc or an address in its code.
func (v *View) GCInfo(ctx context.Context, method target.Addr) (*answer.GCInfo, error) {
	return managed(ctx, v, func(_ *question, rt *dac.Runtime) (*answer.GCInfo, error) { return code.Of(rt).DescribeGCInfo(method) })
}

// Handlers lists the exception handlers of a method, by its MethodDesc or an address in its code.
func (v *View) Handlers(ctx context.Context, method target.Addr) (*answer.Handlers, error) {
	return managed(ctx, v, func(_ *question, rt *dac.Runtime) (*answer.Handlers, error) {
		return code.Of(rt).DescribeHandlers(method)
	})
}

// Domains describes application domains, or without addresses all of them.
func (v *View) Domains(ctx context.Context, domains ...target.Addr) (iter.Seq2[*answer.Domain, error], error) {
	return managed(ctx, v, func(_ *question, rt *dac.Runtime) (iter.Seq2[*answer.Domain, error], error) {
		return rt.DescribeDomains(domains...)
	})
}

// Assembly describes an assembly.
func (v *View) Assembly(ctx context.Context, assembly target.Addr) (*answer.Assembly, error) {
	return managed(ctx, v, func(_ *question, rt *dac.Runtime) (*answer.Assembly, error) { return rt.DescribeAssembly(assembly) })
}

// Module describes a module of the runtime.
func (v *View) Module(ctx context.Context, module target.Addr, o ...ModuleOptions) (*answer.ModuleDetails, error) {
	return managed(ctx, v, func(_ *question, rt *dac.Runtime) (*answer.ModuleDetails, error) {
		return rt.DescribeModule(module, option(o))
	})
}

// AppDomain describes the application domain of an object.
func (v *View) AppDomain(ctx context.Context, object target.Addr) (*answer.AppDomain, error) {
	return read(ctx, v, func(_ *question, r *objects.Reader) (*answer.AppDomain, error) {
		if _, err := r.Proven(object); err != nil {
			return nil, err
		}
		return r.Runtime().AppDomainOf(object)
	})
}

// Struct describes a value of a value type that is not boxed.
func (v *View) Struct(ctx context.Context, methodTable, at target.Addr) (*answer.Struct, error) {
	return read(ctx, v, func(_ *question, r *objects.Reader) (*answer.Struct, error) { return r.DescribeStruct(methodTable, at) })
}

// References lists the references of an object, with where in it they are.
func (v *View) References(ctx context.Context, object target.Addr) (iter.Seq2[answer.Reference, error], error) {
	return read(ctx, v, func(q *question, r *objects.Reader) (iter.Seq2[answer.Reference, error], error) {
		return r.References(q.ctx, object)
	})
}

// StackObjects lists the objects that a thread's registers and stack may refer to. With o.Precise it lists those that the
// garbage collector takes for live.
func (v *View) StackObjects(ctx context.Context, t *Thread, o ...StackObjectOptions) (*answer.StackObjects, error) {
	return ask(ctx, v, func(q *question) (*answer.StackObjects, error) {
		if t == nil {
			return nil, errNoThread
		}
		scanner, err := q.Scanner()
		if err != nil {
			return nil, err
		}
		return threads.StackObjects(q.ctx, scanner, t, option(o))
	})
}

// AllStackObjects does what StackObjects does for all threads, one after the other.
func (v *View) AllStackObjects(ctx context.Context, o ...StackObjectOptions) (*answer.StackObjects, error) {
	return ask(ctx, v, func(q *question) (*answer.StackObjects, error) {
		scanner, err := q.Scanner()
		if err != nil {
			return nil, err
		}
		list, err := q.threads()
		if err != nil {
			return nil, err
		}
		return threads.AllStackObjects(q.ctx, scanner, list, option(o)), nil
	})
}

// ReturnAddresses lists the words of a thread's stack that are return addresses. Unlike a stack walk it needs no unwind data;
// some of the addresses may be left over from earlier calls.
func (v *View) ReturnAddresses(ctx context.Context, t *Thread, o ...ReturnOptions) (*answer.Returns, error) {
	return ask(ctx, v, func(q *question) (*answer.Returns, error) {
		if t == nil {
			return nil, errNoThread
		}
		walker, err := q.Walker()
		if err != nil {
			return nil, err
		}
		return threads.Returns(q.ctx, walker, t, q.naming(option(o))), nil
	})
}

// naming completes options: native code is named by the dump's symbols.
func (q *question) naming(o ReturnOptions) ReturnOptions {
	if o.Symbols == nil {
		o.Symbols = q.dump.Symbols()
	}
	return o
}

// SyncBlocks lists the sync blocks of the runtime with the threads that own them.
func (v *View) SyncBlocks(ctx context.Context, o ...SyncBlockOptions) (*answer.SyncBlocks, error) {
	return managed(ctx, v, func(q *question, rt *dac.Runtime) (*answer.SyncBlocks, error) {
		if err := rt.Check(dac.FeatureSyncBlocks); err != nil {
			return nil, err
		}
		list, err := q.threads()
		if err != nil {
			return nil, err
		}
		return threads.SyncBlocks(q.ctx, rt, list, option(o)), nil
	})
}

// Analyze describes a thread as debuggers want it for their analysis: its stack and its exceptions.
func (v *View) Analyze(ctx context.Context, t *Thread, o ...threads.StackOptions) (*answer.ThreadAnalysis, error) {
	return ask(ctx, v, func(q *question) (*answer.ThreadAnalysis, error) {
		if t == nil {
			return nil, errNoThread
		}
		walker, err := q.Walker()
		if err != nil {
			return nil, err
		}
		so := option(o)
		if so.Symbols == nil {
			so.Symbols = q.dump.Symbols()
		}
		return crash.Analyze(q.ctx, walker, t, so), nil
	})
}

// Exception describes an exception that a thread throws or an object of the heap is, with its stack; with nested also those
// that were thrown while others were handled. Where the object is no exception, the error is a dac.ErrNotException.
func (v *View) Exception(ctx context.Context, t *Thread, exception target.Addr, nested bool) (*answer.ThrownException, error) {
	return managed(ctx, v, func(_ *question, rt *dac.Runtime) (*answer.ThrownException, error) {
		if t == nil {
			return nil, errNoThread
		}
		return t.DescribeException(rt, exception, nested)
	})
}

var (
	// ErrNotInHeap is the error for an address that is not among the objects of a segment, in a heap that can be read.
	ErrNotInHeap = errors.New("is not in the objects of a segment")

	errNoThread = errors.New("no thread was given")
)

// Tiers counts the code that was compiled in the process by its tier, and lists what a profiler replaced.
func (v *View) Tiers(ctx context.Context) (*answer.Tiers, error) {
	return managed(ctx, v, func(q *question, rt *dac.Runtime) (*answer.Tiers, error) { return code.Of(rt).DescribeTiers(q.ctx) })
}

// LoadContexts lists the AssemblyLoadContexts with their assemblies, and what keeps those that were asked to unload.
func (v *View) LoadContexts(ctx context.Context) (*answer.LoadContexts, error) {
	return ask(ctx, v, func(q *question) (*answer.LoadContexts, error) {
		rt, err := q.Runtime()
		if err != nil {
			return nil, err
		}
		if err := rt.Check(dac.FeatureModules); err != nil {
			return nil, err
		}
		b, err := q.Shapes()
		if err != nil {
			return nil, err
		}
		p := contexts.Process{Runtime: rt, Shapes: b, Scan: q.scanning("looking for load contexts", heap.ScanOptions{}), Walk: q.Walk, Holders: q.holders}
		p.Heap, err = q.objectHeap()
		q.note(err)
		p.Threads, err = q.Threads()
		q.note(err)
		return contexts.List(q.ctx, p)
	})
}
