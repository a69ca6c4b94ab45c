package hosting

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/base/ticks"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// Types of Microsoft.Extensions.Hosting, versions 3.1 to 11.
type (
	host struct {
		_           objects.Shape    `of:"Microsoft.Extensions.Hosting.Internal.Host"`
		Lifetime    objects.RefField `field:"_applicationLifetime"`
		Options     objects.RefField `field:"_options,optional"`
		Environment objects.RefField `field:"_hostEnvironment,optional"`
		Services    objects.RefField `field:"_hostedServices"`
		Starting    objects.IntField `field:"_hostStarting,optional"`
	}
	hostLifetime struct {
		_        objects.Shape    `of:"Microsoft.Extensions.Hosting.Internal.ApplicationLifetime"`
		Started  objects.RefField `field:"_startedSource"`
		Stopping objects.RefField `field:"_stoppingSource"`
		Stopped  objects.RefField `field:"_stoppedSource"`
	}
	hostOptions struct {
		_        objects.Shape    `of:"Microsoft.Extensions.Hosting.HostOptions"`
		Behavior objects.IntField `field:"<BackgroundServiceExceptionBehavior>,optional"`
		Shutdown objects.IntField `field:"<ShutdownTimeout>._ticks"`
	}
	hostEnvironment struct {
		_           objects.Shape    `of:"Microsoft.Extensions.Hosting.Internal.HostingEnvironment"`
		Application objects.RefField `field:"<ApplicationName>"`
		Environment objects.RefField `field:"<EnvironmentName>"`
	}
	// A backgroundService keeps the task of its ExecuteAsync. Up to .NET 5 the field has another name.
	backgroundService struct {
		_    objects.Shape    `of:"Microsoft.Extensions.Hosting.BackgroundService"`
		Task objects.RefField `field:"_executeTask|_executingTask"`
	}
	// A tokenSource counts its states from 1 if it has partitions, else from 0 (CancellationTokenSource.cs).
	tokenSource struct {
		_          objects.Shape    `of:"System.Threading.CancellationTokenSource"`
		State      objects.IntField `field:"_state"`
		Partitions objects.RefField `field:"_callbackPartitions,optional"`
	}
	// A servicesIterator walks over the services of a host while the host stops them.
	servicesIterator struct {
		_       objects.Shape    `of:"System.Linq.Enumerable+Iterator<>"`
		Current objects.RefField `field:"_current"`
	}
)

// hostMachines is the prefix of the names of a host's state machines.
const hostMachines = "Microsoft.Extensions.Hosting.Internal.Host+<"

// stopMachine is in the name of the state machine of Host.StopAsync.
const stopMachine = hostMachines + "StopAsync>"

// hosts lists the generic hosts with the states of their services, and concludes which services failed and what a
// stopping host waits for. threads returns what the threads know about starts. hosts records what could not be read.
// The error is ctx's.
func (r *Reader) hosts(ctx context.Context, h *heap.Heap, t *tasks.Reader, o heap.ScanOptions, threads func(*answer.Gaps) start) (*answer.Hosts, error) {
	out := &answer.Hosts{Hosts: []answer.Host{}, Verdicts: []answer.Verdict{}}
	in := shapes.Reading{Gaps: &out.Gaps, Binder: r.b}
	var stopping, starting bool
	for object, f := range shapes.ReadObjects[*host](ctx, in, h, o) {
		out.Hosts = append(out.Hosts, r.host(in, t, object, f.Shape, f.At()))
		state := out.Hosts[len(out.Hosts)-1].State.S
		stopping, starting = stopping || state == answer.HostStopping, starting || state == answer.HostStarting
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if stopping || starting {
		set, err := t.Collect(ctx, h, o)
		if err != nil {
			return nil, err
		}
		in.Note(set.Note(in.Gaps))
		if err := r.starting(ctx, in, h, set, out.Hosts, func() start { return threads(in.Gaps) }); err != nil {
			return nil, err
		}
		if err := r.failed(ctx, in, h, t, o, out.Hosts); err != nil {
			return nil, err
		}
		for s, err := range set.Stacks(ctx, tasks.StackOptions{Type: stopMachine}) {
			if err != nil {
				return nil, err
			}
			r.standing(in, h, out.Hosts, s, stopMachine)
		}
	}
	for i := range out.Hosts {
		out.Verdicts = append(out.Verdicts, verdicts(&out.Hosts[i], out.Hosts)...)
	}
	return out, ctx.Err()
}

// host describes one host.
func (r *Reader) host(in shapes.Reading, t *tasks.Reader, o objects.Object, s *host, x objects.Instance) answer.Host {
	out := answer.Host{Address: o.Addr, Services: []answer.HostedService{}}
	if e, ex := shapes.BindAt[*hostEnvironment](in, &s.Environment, x); e != nil {
		out.Application, out.Environment = in.TextAt(&e.Application, ex), in.TextAt(&e.Environment, ex)
	}
	if p, px := shapes.BindAt[*hostOptions](in, &s.Options, x); p != nil {
		out.OnException = in.EnumAt(&p.Behavior, px)
		n := in.IntAt(&p.Shutdown, px)
		out.ShutdownTimeout = answer.Text{S: ticks.Span(n.Value), Err: n.Err()}
	}
	state, err := r.hostState(s, x)
	in.Note(err)
	out.State = answer.Text{S: state, Err: err}
	for service, err := range r.items.Objects(&s.Services, x) {
		if err != nil {
			in.Note(fmt.Errorf("services of host %016x: %w", uint64(o.Addr), err))
			continue
		}
		out.Services = append(out.Services, r.service(in, t, service))
	}
	return out
}

// hostState returns the state of a host.
func (r *Reader) hostState(s *host, x objects.Instance) (string, error) {
	lifetime, err := s.Lifetime.Object(x)
	if err != nil {
		return "", err
	}
	l, lx, err := objects.BindObject[*hostLifetime](r.b, lifetime)
	if err != nil {
		return "", err
	}
	for _, token := range []struct {
		source *objects.RefField
		state  string
	}{{&l.Stopped, answer.HostStopped}, {&l.Stopping, answer.HostStopping}, {&l.Started, answer.HostRunning}} {
		if is, err := r.canceled(token.source, lx); is || err != nil {
			return token.state, err
		}
	}
	starting := false
	if s.Starting.Has() {
		starting, err = s.Starting.Bool(x)
	} else {
		var services target.Addr
		services, err = s.Services.Addr(x)
		starting = services != 0
	}
	if starting {
		return answer.HostStarting, err
	}
	return answer.HostNotStarted, err
}

// canceled reports whether the CancellationTokenSource in a field is canceled.
func (r *Reader) canceled(f *objects.RefField, x objects.Instance) (bool, error) {
	o, err := f.Object(x)
	if err != nil || o.Addr == 0 {
		return false, err
	}
	s, sx, err := objects.BindObject[*tokenSource](r.b, o)
	if err != nil {
		return false, err
	}
	n, err := s.State.Int(sx)
	if s.Partitions.Has() {
		n--
	}
	return n > 0, err
}

// service describes a hosted service.
func (r *Reader) service(in shapes.Reading, t *tasks.Reader, o objects.Object) answer.HostedService {
	out := answer.HostedService{Address: o.Addr, Type: in.TypeText(o)}
	s, x, is, err := shapes.TryBind[*backgroundService](r.b, o)
	if !is && err == nil {
		return out
	}
	out.Background = is
	if err == nil {
		out.Task, err = s.Task.Addr(x)
	}
	switch {
	case err != nil:
		out.State = in.Text("", err)
		return out
	case out.Task == 0:
		out.State.S = answer.ServiceNotStarted
		return out
	}
	state, err := t.DescribeState(out.Task)
	if err != nil {
		out.State = in.Text("", err)
		return out
	}
	out.State.S = serviceState(tasks.Flags(state.Flags))
	out.Exceptions = state.Exceptions
	if out.State.S == answer.ServiceFailed {
		in.NoteAll(state.Noted())
	}
	return out
}

// serviceState returns the state of a service from the flags of its task.
func serviceState(f tasks.Flags) string {
	switch {
	case !f.Completed():
		return answer.ServiceRunning
	case f&tasks.FlagFaulted != 0:
		return answer.ServiceFailed
	case f&tasks.FlagCanceled != 0:
		return answer.ServiceCanceled
	}
	return answer.ServiceCompleted
}

// standing finds the service that a host starts or stops in a stack, by awaiting its StartAsync or StopAsync: machine is the host's own
// method. It is the one that the outermost method refers to, or the current one of an iterator in a method of the host.
func (r *Reader) standing(in shapes.Reading, h *heap.Heap, hosts []answer.Host, s *answer.AsyncStack, machine string) {
	path := pathTo(s.Frames, machine)
	var found *answer.HostedService
	of := target.Addr(0) // the host
	for _, f := range slices.Backward(path) {
		own := strings.Contains(f.Type.S, hostMachines)
		box, err := h.ObjectAt(f.Object)
		if err != nil {
			in.Note(err)
			continue
		}
		for ref, err := range h.Edges(heap.EdgeOptions{}).Of(&box) {
			if err != nil {
				in.Note(err)
				continue
			}
			a := ref.Target
			if slices.ContainsFunc(hosts, func(h answer.Host) bool { return h.Address == a }) {
				of = a
			}
			if found == nil {
				found = serviceAt(hosts, of, a)
			}
			if found == nil && own && a != of {
				found = serviceAt(hosts, of, r.current(in, a))
			}
		}
	}
	if found == nil {
		return
	}
	work := &found.Stopping
	if machine == startMachine {
		work = &found.Starting
	}
	if *work == nil {
		in.Note(s.Reason.Err)
		*work = &answer.AsyncWork{Reason: s.Reason, Why: s.Why, Frames: path}
	}
}

// pathTo returns the frames of a stack from the innermost to the state machine of a host's method, or nil if that is not suspended there.
func pathTo(frames []answer.AsyncFrame, machine string) []answer.AsyncFrame {
	is := func(f answer.AsyncFrame) bool {
		return !f.Name.IsZero() && strings.Contains(f.Type.S, machine) && f.State != nil && *f.State >= 0
	}
	at := slices.IndexFunc(frames, is)
	if at < 0 {
		return nil
	}
	path := []answer.AsyncFrame{frames[at]}
	for depth := frames[at].Depth - 1; at > 0 && depth >= 0; at-- {
		if f := frames[at-1]; f.Depth == depth && !f.Name.IsZero() {
			path = append(path, f)
			depth--
		}
	}
	slices.Reverse(path)
	return path
}

// serviceAt returns the service at address a in the host of, or in any host if of is 0. It returns nil if there is no
// such service.
func serviceAt(hosts []answer.Host, of, a target.Addr) *answer.HostedService {
	for i := range hosts {
		if of != 0 && hosts[i].Address != of {
			continue
		}
		for n := range hosts[i].Services {
			if s := &hosts[i].Services[n]; s.Address == a {
				return s
			}
		}
	}
	return nil
}

// current returns the current element of a Linq iterator, or 0 for another object.
func (r *Reader) current(in shapes.Reading, a target.Addr) target.Addr {
	o, err := r.b.Objects().TrustedObject(a)
	if err != nil {
		in.Note(err)
		return 0
	}
	s, x := shapes.BindAs[*servicesIterator](in, o)
	if s == nil {
		return 0
	}
	return in.PointerAt(&s.Current, x).Value
}
