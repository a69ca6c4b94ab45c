package settings

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// Of returns a Reader of the process's settings.
func Of(p *process.Process) (*Reader, error) {
	b, err := p.Shapes()
	if err != nil {
		return nil, err
	}
	items, err := p.Collections()
	if err != nil {
		return nil, err
	}
	return New(b, items), nil
}

// ProcessOptions selects what is shown of a process.
type ProcessOptions struct {
	Full bool `opt:"full" reveals:"true" help:"values that look like secrets, or whose names do, instead of <hidden>"`
}

// Process describes how the process was started and configured: command line, environment, properties and switches of
// AppContext, and the host's configuration with the provider of each key. Values that look like secrets are replaced
// unless o.Full is set and ctx masks nothing.
func Process(ctx context.Context, p *process.Process, o ProcessOptions) (*answer.Process, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Process, error) {
		info := p.Dump().File().Process()
		out := &answer.Process{PID: info.ID, Command: info.Command, Environment: []answer.NamedValue{}, Properties: []answer.NamedValue{}, Switches: []answer.NamedValue{},
			Configurations: []answer.Configuration{}, Absent: []answer.AbsentFact{}}
		processTimes(p.Dump(), out)
		environment, err := p.Dump().Environment()
		out.Lacks("environment", err)
		out.Environment = Environment(environment)
		if s, err := Of(p); err != nil {
			out.Lacks("command line, AppContext and configuration", err)
		} else if err := configured(ctx, c, s, out); err != nil {
			return nil, err
		}
		if !o.Full || secrets.MaskOf(ctx) != nil {
			Hide(out)
		}
		return out, nil
	})
}

// configured adds the configuration in managed objects. The error is ctx's.
func configured(ctx context.Context, c *process.Call, s *Reader, out *answer.Process) (err error) {
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
	h, err := c.ObjectHeap()
	if err != nil {
		out.Lacks("configuration of the host", err)
		return nil
	}
	list, err := s.Configurations(ctx, h, c.Scan("looking for configurations", heap.ScanOptions{}), &out.Gaps)
	if err == nil {
		out.Configurations = list
	}
	return err
}

// processTimes adds the times that the container records.
func processTimes(d *process.Dump, out *answer.Process) {
	info := d.File().Process()
	if t := info.DumpTime; !t.IsZero() {
		out.Taken = &t
	} else {
		out.Lacks("time of the dump", target.Unsupportedf("the container does not record it"))
	}
	if t := info.Created; !t.IsZero() {
		out.Started = &t
	} else {
		out.Lacks("start of the process", target.Unsupportedf("the container does not record it"))
	}
	if out.Uptime = answer.Missing[answer.Seconds](errNoTimes); out.Taken != nil && out.Started != nil && !out.Taken.Before(*out.Started) {
		out.Uptime = answer.Known(answer.Seconds(out.Taken.Sub(*out.Started).Seconds()))
	}
}

var errNoTimes = target.Unsupportedf("the container does not record when the process began, or when the dump was written")
