package sosgo

import (
	"context"
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/settings"
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
func (v *View) Assemblies(ctx context.Context, match func(name string) bool) (iter.Seq2[*answer.LoadedModule, error], error) {
	return ask(ctx, v, func(q *question) (iter.Seq2[*answer.LoadedModule, error], error) {
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

// ProcessOptions choose what is shown of a process. The zero value is the default.
type ProcessOptions struct {
	Full bool // shows values that look like secrets, or whose names do
}

// Process describes how the process was started and configured: command line, environment, properties and switches of AppContext, and the
// host's configuration with the provider of each key. Values that look like secrets are replaced unless they are asked for.
func (v *View) Process(ctx context.Context, o ...ProcessOptions) (*answer.Process, error) {
	return ask(ctx, v, func(q *question) (*answer.Process, error) {
		if q.dump == nil {
			return nil, errNoDump
		}
		process := q.dump.file.Process()
		out := &answer.Process{PID: process.ID, Command: process.Command, Environment: []answer.NamedValue{}, Properties: []answer.NamedValue{}, Switches: []answer.NamedValue{},
			Configurations: []answer.Configuration{}, Absent: []answer.AbsentFact{}}
		q.processTimes(out)
		environment, err := q.dump.environment()
		out.Lacks("environment", err)
		out.Environment = settings.Environment(environment)
		if s, err := q.SettingsReader(); err != nil {
			out.Lacks("command line, AppContext and configuration", err)
		} else if err := q.configured(s, out); err != nil {
			return nil, err
		}
		if !option(o).Full {
			settings.Hide(out)
		}
		return out, nil
	})
}

// configured adds what managed objects have. The error is the context's.
func (q *question) configured(s *settings.Reader, out *answer.Process) (err error) {
	out.Arguments, err = s.Arguments(&out.Gaps)
	out.Lacks("command line", err)
	if list, err := s.Properties(&out.Gaps); err != nil {
		out.Lacks("properties of AppContext", err)
	} else {
		out.Properties = list
	}
	if list, err := s.Switches(&out.Gaps); err != nil {
		out.Lacks("switches of AppContext", err)
	} else {
		out.Switches = list
	}
	h, err := q.objectHeap()
	if err != nil {
		out.Lacks("configuration of the host", err)
		return nil
	}
	list, err := s.Configurations(q.ctx, h, q.scanning("looking for configurations", heap.ScanOptions{}), &out.Gaps)
	if err == nil {
		out.Configurations = list
	}
	return err
}

// processTimes adds the times that the container records.
func (q *question) processTimes(out *answer.Process) {
	process := q.dump.file.Process()
	if t := process.DumpTime; !t.IsZero() {
		out.Taken = &t
	} else {
		out.Lacks("time of the dump", target.Unsupportedf("the container does not record it"))
	}
	if t := process.Created; !t.IsZero() {
		out.Started = &t
	} else {
		out.Lacks("start of the process", target.Unsupportedf("the container does not record it"))
	}
	if out.Uptime.Err = errNoTimes; out.Taken != nil && out.Started != nil && !out.Taken.Before(*out.Started) {
		out.Uptime = answer.Known(answer.Seconds(out.Taken.Sub(*out.Started).Seconds()))
	}
}

var errNoTimes = target.Unsupportedf("the container does not record when the process began, or when the dump was written")

// environment lists the environment variables of the process as NAME=VALUE.
func (d *Dump) environment() ([]string, error) {
	if list := d.orNone().file.Environment(); len(list) > 0 {
		return list, nil
	}
	return nil, fmt.Errorf("environment of the process: %w", target.ErrNotInDump)
}
