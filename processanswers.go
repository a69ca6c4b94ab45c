package sosgo

import (
	"context"
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// ImageOptions choose images of the process.
type ImageOptions = image.ListOptions

// Images lists the images that the process had mapped. Their details are read while they are ranged over.
func (v *View) Images(ctx context.Context, o ...ImageOptions) (*answer.Images, error) {
	return ask(ctx, v, func(q *question) (*answer.Images, error) {
		o := option(o)
		if o.Exports == nil {
			o.Exports = dac.ExportedSymbols()
		}
		out, err := image.List(q.ctx, q.dump.file, q.dump.read, o)
		if r := q.dump.file.Report(); r != nil && err == nil {
			out.Note(r.ModulesNote())
		}
		return out, err
	})
}

// Assemblies lists the managed modules whose file names match, or all for nil.
func (v *View) Assemblies(ctx context.Context, match func(name string) bool) (iter.Seq2[answer.LoadedModule, error], error) {
	return ask(ctx, v, func(q *question) (iter.Seq2[answer.LoadedModule, error], error) {
		rt, err := q.Runtime()
		if err != nil {
			return nil, err
		}
		return rt.DescribeAssemblies(q.ctx, match)
	})
}

// DescribeRuntimes describes the runtimes of the process. The view's runtime is marked.
func (v *View) DescribeRuntimes(ctx context.Context) ([]answer.Runtime, error) {
	return ask(ctx, v, func(q *question) ([]answer.Runtime, error) {
		if q.err != nil {
			return nil, q.err
		}
		var all []answer.Runtime
		for _, inst := range q.dump.Runtimes() {
			r := inst.Describe()
			r.Chosen = inst == q.inst
			all = append(all, r)
		}
		return all, nil
	})
}

// EEVersion describes the version of the runtime and the kind of its GC. Why the GC is not described is recorded.
func (v *View) EEVersion(ctx context.Context) (*answer.EEVersion, error) {
	return ask(ctx, v, func(q *question) (*answer.EEVersion, error) {
		if q.err != nil {
			return nil, q.err
		}
		h, err := q.heap()
		return heap.Version(q.inst, h, err), nil
	})
}

// environment lists the environment variables of the process as NAME=VALUE.
func (d *Dump) environment() ([]string, error) {
	if list := d.orNone().file.Environment(); len(list) > 0 {
		return list, nil
	}
	return nil, fmt.Errorf("environment of the process: %w", target.ErrNotInDump)
}
