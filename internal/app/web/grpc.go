package web

import (
	"context"
	"errors"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/flows"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// gRPC calls that Grpc.Net.Client sends and Grpc.AspNetCore.Server answers. The names come from the sources of 2.27 to
// 2.80 and are not tested on a dump.
type (
	grpcAnchor struct {
		_ objects.Shape `of:"Grpc.Net.Client.Internal.GrpcCall<,>|Grpc.AspNetCore.Server.Internal.HttpContextServerCallContext"`
	}
	// A grpcSent is a call that the process sends. Since 2.29 some of its fields are in a base class.
	grpcSent struct {
		_        objects.Shape    `of:"Grpc.Net.Client.Internal.GrpcCall<,>"`
		Method   objects.RefField `field:"<Method>"`
		Info     objects.RefField `field:"_grpcMethodInfo"`
		Done     objects.RefField `field:"_callTcs"`
		Deadline objects.IntField `field:"_deadline._dateData,optional"`
		Attempt  objects.IntField `field:"_attemptCount,optional"`
		Sent     objects.IntField `field:"<MessagesWritten>,optional"`
		Received objects.IntField `field:"<MessagesRead>,optional"`
		Response objects.RefField `field:"<HttpResponse>,optional"`
	}
	grpcMethod struct {
		_    objects.Shape    `of:"Grpc.Core.Method<,>"`
		Kind objects.IntField `field:"type"`
		Name objects.RefField `field:"fullName"`
	}
	grpcMethodInfo struct {
		_   objects.Shape    `of:"Grpc.Net.Client.Internal.GrpcMethodInfo"`
		URI objects.RefField `field:"<CallUri>"`
	}
	// A grpcOutcome is the task that completes with a call. Its result is the status.
	grpcOutcome struct {
		Task objects.RefField `field:"_task"`
	}
	grpcTask struct {
		_      objects.Shape    `of:"System.Threading.Tasks.Task<>"`
		Flags  objects.IntField `field:"m_stateFlags"`
		Status objects.IntField `field:"m_result.<StatusCode>,optional"`
		Detail objects.RefField `field:"m_result.<Detail>,optional"`
	}
	// A grpcServed is a call that the process answers.
	grpcServed struct {
		_        objects.Shape    `of:"Grpc.AspNetCore.Server.Internal.HttpContextServerCallContext"`
		Context  objects.RefField `field:"<HttpContext>"`
		Peer     objects.RefField `field:"_peer,optional"`
		Deadline objects.RefField `field:"DeadlineManager,optional"`
	}
	grpcDeadline struct {
		_    objects.Shape    `of:"Grpc.AspNetCore.Server.Internal.ServerCallDeadlineManager"`
		Time objects.IntField `field:"<Deadline>._dateData"`
	}
	// An extraFeatures is Kestrel's object for a request, with the features set in addition to its own.
	extraFeatures struct {
		_     objects.Shape    `of:"Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpProtocol"`
		Extra objects.RefField `field:"MaybeExtra"`
	}
)

// GRPC lists the gRPC calls that a process sends and answers, with the async code that holds each. It
// records what could not be read in the answer. The error is ctx's.
func (r *Reader) GRPC(ctx context.Context, h *heap.Heap, o heap.ScanOptions) (*answer.GRPCCalls, error) {
	out := &answer.GRPCCalls{Calls: []answer.GRPCCall{}}
	g := r.reading(&out.Gaps)
	at := map[target.Addr]int{}
	for call := range shapes.ReadObjects[*grpcAnchor](ctx, g, h, o) {
		if s, x := shapes.BindAs[*grpcSent](g, call); s != nil {
			at[call.Addr] = len(out.Calls)
			out.Calls = append(out.Calls, r.sent(g, call, s, x))
		} else if s, x := shapes.BindAs[*grpcServed](g, call); s != nil {
			at[call.Addr] = len(out.Calls)
			out.Calls = append(out.Calls, r.served(g, call, s, x))
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	err := r.inHand(ctx, g, h, o, at, func(i int, s *answer.AsyncWork) { out.Calls[i].Stack = s })
	return out, err
}

// inHand finds the async code that refers to objects. at maps the objects' addresses to their numbers, which found
// gets.
func (r *Reader) inHand(ctx context.Context, g shapes.Reading, h *heap.Heap, o heap.ScanOptions, at map[target.Addr]int, found func(int, *answer.AsyncWork)) error {
	if len(at) == 0 || r.tasks == nil {
		return nil
	}
	set, err := r.tasks.Collect(ctx, h, o)
	if err != nil {
		return err
	}
	reader := flows.New(g, r.items)
	stacks, err := reader.Stacks(ctx, set, len(at), func(box objects.Object) (held, awaited []int) {
		for a := range reader.Variables(box) {
			if n, ok := at[a]; ok {
				return []int{n}, nil
			}
		}
		return nil, nil
	})
	for i, s := range stacks {
		found(i, s)
	}
	return err
}

// sent describes a call that the process sends.
func (r *Reader) sent(g shapes.Reading, o objects.Object, s *grpcSent, x objects.Instance) answer.GRPCCall {
	none := answer.Missing[int64](objects.ErrNoField)
	out := answer.GRPCCall{Address: o.Addr, Attempt: g.IntAt(&s.Attempt, x), Sent: g.IntAt(&s.Sent, x), Received: g.IntAt(&s.Received, x), HTTPStatus: none}
	if m, at := shapes.BindAt[*grpcMethod](g, &s.Method, x); m != nil {
		out.Method, out.Kind = g.TextAt(&m.Name, at), g.EnumAt(&m.Kind, at)
	}
	if i, at := shapes.BindAt[*grpcMethodInfo](g, &s.Info, x); i != nil {
		if u, at := shapes.BindAt[*uri](g, &i.URI, at); u != nil {
			out.URI = g.TextAt(&u.Text, at)
		}
	}
	if t := g.TimeAt(&s.Deadline, x); t != nil && t.Year() < 9999 { // DateTime.MaxValue means no deadline
		out.Deadline = t
	}
	if p, at := shapes.BindAt[*responseMessage](g, &s.Response, x); p != nil {
		out.HTTPStatus = g.IntAt(&p.Status, at)
	}
	r.outcome(g, &out, &s.Done, x)
	return out
}

// outcome adds how a completed call ended.
func (r *Reader) outcome(g shapes.Reading, out *answer.GRPCCall, f *objects.RefField, x objects.Instance) {
	source, at, err := shapes.BindAtOr[*grpcOutcome](g, f, x, objects.ErrNoField)
	var t *grpcTask
	if err == nil {
		t, at, err = shapes.BindAtOr[*grpcTask](g, &source.Task, at, objects.ErrNoField)
	}
	if err != nil {
		out.Done = answer.Missing[bool](err)
		return
	}
	flags := g.IntAt(&t.Flags, at)
	state := tasks.Flags(flags.Value)
	out.Done = answer.Of(state.Completed(), flags.Err())
	if flags.Err() == nil && state.Status() == answer.StatusRanToCompletion {
		out.Status, out.Detail = g.EnumAt(&t.Status, at), g.TextAt(&t.Detail, at)
	}
}

// served describes a call that the process answers.
func (r *Reader) served(g shapes.Reading, o objects.Object, s *grpcServed, x objects.Instance) answer.GRPCCall {
	none := answer.Missing[int64](objects.ErrNoField)
	out := answer.GRPCCall{Address: o.Addr, Server: true, Peer: g.TextAt(&s.Peer, x), Attempt: none, Sent: none, Received: none, HTTPStatus: none}
	if d, at := shapes.BindAt[*grpcDeadline](g, &s.Deadline, x); d != nil {
		if t := g.TimeAt(&d.Time, at); t != nil && t.Year() < 9999 {
			out.Deadline = t
		}
	}
	of, err := s.Context.Object(x)
	if err != nil {
		g.Note(err)
		out.Done = answer.Missing[bool](err)
		return out
	}
	out.Context = of.Addr
	out.Done = r.left(g, of, o.Addr)
	if out.Done.Err() != nil || out.Done.Value {
		return out
	}
	if c, at := shapes.BindAs[*httpContext](g, of); c != nil {
		request := answer.Request{Context: of.Addr}
		q := r.newQuery()
		q.flows = flows.New(q.reading(), r.items)
		features := g.ObjectAt(&c.Features, at)
		q.features(&request, features)
		g.NoteAll(q.out.Noted())
		out.Method, out.Remote = request.Path, request.Remote
		out.Method.S = strings.TrimSpace(out.Method.S)
	}
	return out
}

// left reports whether a request has moved on from the gRPC call at an address. A running call is a feature of its
// request, but contexts and Kestrel's objects are reused.
func (r *Reader) left(g shapes.Reading, of objects.Object, call target.Addr) answer.Maybe[bool] {
	unbound := func(err error) answer.Maybe[bool] {
		if err == nil || errors.Is(err, objects.ErrOtherType) {
			err = target.Unsupportedf("its request's features are not Kestrel's")
		} else {
			g.Note(err)
		}
		return answer.Missing[bool](err)
	}
	c, at, err := objects.BindObject[*httpContext](r.b, of)
	if of.Addr == 0 || err != nil {
		return unbound(err)
	}
	features, err := c.Features.Object(at)
	if err != nil {
		g.Note(err)
		return answer.Missing[bool](err)
	}
	if features.Addr == 0 {
		return answer.Known(true)
	}
	p, at, err := objects.BindObject[*extraFeatures](r.b, features)
	if err != nil {
		return unbound(err)
	}
	extra, err := p.Extra.Object(at)
	if err != nil || extra.Addr == 0 {
		g.Note(err)
		return answer.Of(true, err)
	}
	list, err := r.items.Of(extra)
	if err != nil {
		g.Note(err)
		return answer.Missing[bool](err)
	}
	for i, err := range list.Items() {
		if err != nil {
			g.Note(err)
			return answer.Missing[bool](err)
		}
		pair, err := i.Value.Struct()
		var a target.Addr
		if err == nil {
			a, err = pair.Field("value").Addr()
		}
		if err != nil {
			g.Note(err)
			return answer.Missing[bool](err)
		}
		if a == call {
			return answer.Known(false)
		}
	}
	return answer.Known(true)
}
