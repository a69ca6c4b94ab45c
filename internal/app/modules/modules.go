// Package modules answers queries about what a process had loaded: images, runtimes, domains, assemblies and modules.
// It only opens the readers in packages image and dac for a process. Start with Assemblies and Images.
package modules

import (
	"context"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/dump/crashreport"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// Domains describes the given application domains, or all for no arguments.
func Domains(ctx context.Context, p *process.Process, domains ...target.Addr) (iter.Seq2[*answer.Domain, error], error) {
	return process.WithRuntime(ctx, p, func(_ context.Context, _ *process.Call, rt *dac.Runtime) (iter.Seq2[*answer.Domain, error], error) {
		return rt.DescribeDomains(domains...)
	})
}

// Assembly describes an assembly.
func Assembly(ctx context.Context, p *process.Process, assembly target.Addr) (*answer.Assembly, error) {
	return process.WithRuntime(ctx, p, func(_ context.Context, _ *process.Call, rt *dac.Runtime) (*answer.Assembly, error) {
		return rt.DescribeAssembly(assembly)
	})
}

// Module describes a module of the runtime.
func Module(ctx context.Context, p *process.Process, module target.Addr, o dac.ModuleOptions) (*answer.ModuleDetails, error) {
	return process.WithRuntime(ctx, p, func(_ context.Context, _ *process.Call, rt *dac.Runtime) (*answer.ModuleDetails, error) {
		return rt.DescribeModule(module, o)
	})
}

// Images lists the images mapped by the process. Their details are read during iteration.
func Images(ctx context.Context, p *process.Process, o image.ListOptions) (*answer.Images, error) {
	return process.Answer(ctx, p, func(ctx context.Context, _ *process.Call) (*answer.Images, error) {
		if o.Exports == nil {
			o.Exports = dac.ExportedSymbols()
		}
		out, err := image.List(ctx, p.Dump().File(), p.Dump().Memory(), o)
		if err != nil {
			return nil, err
		}
		if r := crashreport.Of(p.Dump().File().Target); r != nil {
			out.Note(r.ModulesNote())
		}
		out.NoteAll(p.Dump().File().Warnings()) // such as damaged headers of modules
		return out, nil
	})
}

// Assemblies lists the managed modules with matching file names, or all if match is nil.
func Assemblies(ctx context.Context, p *process.Process, match func(name string) bool) (iter.Seq2[*answer.LoadedModule, error], error) {
	return process.WithRuntime(ctx, p, func(ctx context.Context, _ *process.Call, rt *dac.Runtime) (iter.Seq2[*answer.LoadedModule, error], error) {
		return rt.DescribeAssemblies(ctx, match)
	})
}

// DescribeRuntimes describes the runtimes of the process. The process's own runtime is marked.
func DescribeRuntimes(ctx context.Context, p *process.Process) ([]answer.Runtime, error) {
	return process.Answer(ctx, p, func(_ context.Context, c *process.Call) ([]answer.Runtime, error) {
		chosen, err := c.Instance()
		if err != nil {
			return nil, err
		}
		var all []answer.Runtime
		for _, inst := range p.Dump().Runtimes() {
			r := inst.Describe()
			r.Chosen = inst == chosen
			all = append(all, r)
		}
		return all, nil
	})
}

// EEVersion describes the version of the runtime and the kind of its GC. If the GC is not described, the reason is
// recorded.
func EEVersion(ctx context.Context, p *process.Process) (*answer.EEVersion, error) {
	return process.Answer(ctx, p, func(_ context.Context, c *process.Call) (*answer.EEVersion, error) {
		chosen, err := c.Instance()
		if err != nil {
			return nil, err
		}
		h, err := c.NotedHeap()
		return heap.Version(chosen, h, err), nil
	})
}
