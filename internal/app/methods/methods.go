// Package methods answers queries about methods and their code: instructions, IL, sources, GC information. It only
// opens the readers in packages dac/code and internal/disasm for a process. Start with Method and Disassembly.
package methods

import (
	"cmp"
	"context"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/disasm"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// methodsOf computes an answer with the Lister of methods and their code.
func methodsOf[T any](ctx context.Context, p *process.Process, compute func(ctx context.Context, c *process.Call, l *disasm.Lister) (T, error)) (T, error) {
	return process.WithObjects(ctx, p, func(ctx context.Context, c *process.Call, r *objects.Reader) (T, error) {
		return compute(ctx, c, disasm.NewLister(r.Runtime(), r))
	})
}

// Disassembly lists the instructions of the method at an address: its MethodDesc, or an address in its code.
func Disassembly(ctx context.Context, p *process.Process, address target.Addr, o disasm.MethodOptions) (*answer.Disassembly, error) {
	return methodsOf(ctx, p, func(ctx context.Context, _ *process.Call, l *disasm.Lister) (*answer.Disassembly, error) {
		return l.Method(ctx, address, o)
	})
}

// IL lists the IL of a method, by its MethodDesc or the object of a dynamic method. If there is no method, the error is
// a *disasm.NoMethodError.
func IL(ctx context.Context, p *process.Process, method target.Addr) (*answer.IL, error) {
	return methodsOf(ctx, p, func(_ context.Context, c *process.Call, l *disasm.Lister) (*answer.IL, error) { return l.IL(method) })
}

// ILAt lists the IL at an address, without the method's metadata.
func ILAt(ctx context.Context, p *process.Process, address target.Addr) (*answer.IL, error) {
	return methodsOf(ctx, p, func(ctx context.Context, c *process.Call, l *disasm.Lister) (*answer.IL, error) {
		return l.ILAt(address)
	})
}

// FindName searches the loaded modules with a name for a type, method or field. "*" matches all modules.
func FindName(ctx context.Context, p *process.Process, module, name string) (*answer.NameSearch, error) {
	return process.WithRuntime(ctx, p, func(ctx context.Context, c *process.Call, rt *dac.Runtime) (*answer.NameSearch, error) {
		return dac.CodeOf(rt).FindName(module, name)
	})
}

// FindToken searches the loaded modules with a name for the type, method or field with a metadata token.
func FindToken(ctx context.Context, p *process.Process, module string, token metadata.Token) (*answer.NameSearch, error) {
	return process.WithRuntime(ctx, p, func(ctx context.Context, c *process.Call, rt *dac.Runtime) (*answer.NameSearch, error) {
		return dac.CodeOf(rt).FindToken(module, token)
	})
}

// Method describes a method by its MethodDesc.
func Method(ctx context.Context, p *process.Process, method target.Addr) (*answer.Method, error) {
	return process.WithRuntime(ctx, p, func(ctx context.Context, c *process.Call, rt *dac.Runtime) (*answer.Method, error) {
		return dac.CodeOf(rt).DescribeMethod(method)
	})
}

// Source describes a source file by its path in the PDB of a method's module, with its text if the PDB embeds it.
func Source(ctx context.Context, p *process.Process, method target.Addr, file string) (*answer.SourceFile, error) {
	return process.WithRuntime(ctx, p, func(ctx context.Context, c *process.Call, rt *dac.Runtime) (*answer.SourceFile, error) {
		m, err := dac.CodeOf(rt).MethodDesc(method)
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

// SourceFiles lists the source files named by the PDBs of the loaded modules, without their texts. A module without a
// PDB yields an error.
func SourceFiles(ctx context.Context, p *process.Process) (iter.Seq2[*answer.SourceFile, error], error) {
	return process.WithRuntime(ctx, p, func(ctx context.Context, _ *process.Call, rt *dac.Runtime) (iter.Seq2[*answer.SourceFile, error], error) {
		modules, err := rt.Modules()
		if err != nil {
			return nil, err
		}
		return func(yield func(*answer.SourceFile, error) bool) {
			for _, m := range modules {
				for f, err := range m.SourceFiles() {
					if !yield(f, cmp.Or(ctx.Err(), err)) || ctx.Err() != nil {
						return
					}
				}
			}
		}, nil
	})
}

// GCInfo describes the GC information of a method, by its MethodDesc or an address in its code.
func GCInfo(ctx context.Context, p *process.Process, method target.Addr) (*answer.GCInfo, error) {
	return process.WithRuntime(ctx, p, func(ctx context.Context, c *process.Call, rt *dac.Runtime) (*answer.GCInfo, error) {
		return dac.CodeOf(rt).DescribeGCInfo(method)
	})
}

// Handlers lists the exception handlers of a method, by its MethodDesc or an address in its code.
func Handlers(ctx context.Context, p *process.Process, method target.Addr) (*answer.Handlers, error) {
	return process.WithRuntime(ctx, p, func(ctx context.Context, c *process.Call, rt *dac.Runtime) (*answer.Handlers, error) {
		return dac.CodeOf(rt).DescribeHandlers(method)
	})
}

// Tiers counts the code compiled in the process by tier, and lists the methods that a profiler replaced.
func Tiers(ctx context.Context, p *process.Process) (*answer.Tiers, error) {
	return process.WithRuntime(ctx, p, func(ctx context.Context, _ *process.Call, rt *dac.Runtime) (*answer.Tiers, error) {
		return dac.CodeOf(rt).DescribeTiers(ctx)
	})
}
