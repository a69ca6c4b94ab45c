package web

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/flows"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// RequestOptions selects requests and their details. The zero value selects all requests.
type RequestOptions struct {
	RequestFilter
	Headers bool `opt:"headers" help:"with the headers of the requests"`
	Scopes  bool `opt:"scopes" help:"with log scopes: what they add to each log line"`
	Brief   bool // only the requests' own objects: no threads, async stacks, scopes or ages

	Scan heap.ScanOptions
}

// A RequestFilter selects requests, and whether their secrets are shown.
type RequestFilter struct {
	URL     string `opt:"url" help:"only requests whose URL contains this, in upper or lower case"`
	Header  string `opt:"header" help:"only requests with this header, or with 'Name: value' of this"`
	User    string `opt:"user" help:"only requests of users whose name contains this"`
	Thread  uint32 `opt:"thread" value:"ID" range:"1:" help:"only the request that the thread with this managed or OS id handles"`
	Secrets bool   `opt:"secrets" reveals:"true" help:"show secrets instead of masking them"`
}

// A query builds one answer.
type query struct {
	*Reader
	p   *process.Process
	h   *heap.Heap
	o   RequestOptions
	out *answer.Requests

	protocols []objects.Object     // Kestrel's protocol objects
	hosts     map[target.Addr]host // by the address of the HttpContext
	index     map[target.Addr]int  // by object: the index of its request
	date      time.Time            // Kestrel's last Date header
	beat      heartbeat
	starts    map[int]int64 // by the index of a request: when it came in, by the clock of the heartbeat
	flows     *flows.Reader
	known     map[target.Addr]flow // by ExecutionContext
}

// A host is the hosting layer's record of a request.
type host struct {
	context  target.Addr // the HostingApplication+Context
	activity objects.Object
	start    int64 // by the clock of Stopwatch; 0 if it was not measured
}

// newQuery returns a query of nothing yet.
func (r *Reader) newQuery() *query {
	return &query{Reader: r, out: &answer.Requests{Requests: []answer.Request{}}, hosts: map[target.Addr]host{}, index: map[target.Addr]int{},
		known: map[target.Addr]flow{}, starts: map[int]int64{}}
}

// Requests lists the requests that the process's web servers work on. It records what could not be read. The error is
// ctx's.
func (r *Reader) Requests(ctx context.Context, p *process.Process, h *heap.Heap, o RequestOptions) (*answer.Requests, error) {
	q := r.newQuery()
	q.p, q.h, q.o = p, h, o
	q.flows = flows.New(q.reading(), r.items)
	contexts, err := q.collect(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range contexts {
		if err := keepRequest(ctx); err != nil {
			return nil, err
		}
		q.request(c)
	}
	if err := q.unfinished(ctx); err != nil {
		return nil, err
	}
	if !o.Brief {
		q.times()
		q.byThreads(ctx)
		if err := q.byStacks(ctx); err != nil {
			return nil, err
		}
	}
	q.choose(ctx)
	return q.out, nil
}

// collect finds the contexts of requests and the objects that describe them.
func (q *query) collect(ctx context.Context) ([]objects.Object, error) {
	var contexts []objects.Object
	g := q.reading()
	for o := range shapes.ReadObjects[*anchor](ctx, g, q.h, q.o.Scan) {
		if ok, _ := objects.IsShape[*httpContext](q.b, o.Type); ok {
			contexts = append(contexts, o)
		} else if ok, _ := objects.IsShape[*protocol](q.b, o.Type); ok {
			q.protocols = append(q.protocols, o)
		} else if h, x := shapes.BindAs[*hostContext](g, o); h != nil {
			q.host(o.Addr, h, x)
		} else if d, x := shapes.BindAs[*dateValues](g, o); d != nil {
			q.dateHeader(d, x)
		} else if t, x := shapes.BindAs[*timeoutControl](g, o); t != nil {
			q.beat.note(g, t, x)
		}
	}
	for _, err := range q.out.Noted() {
		if errors.Is(err, target.ErrLimit) {
			return nil, err // the others were not looked for
		}
	}
	return contexts, ctx.Err()
}

// reading returns a Reading that records gaps in the answer.
func (q *query) reading() shapes.Reading { return q.Reader.reading(&q.out.Gaps) }

// host adds the hosting layer's record of a request.
func (q *query) host(a target.Addr, h *hostContext, x objects.Instance) {
	g := q.reading()
	of, err := h.Context.Addr(x)
	if err != nil {
		g.Note(err)
		return
	}
	if of == 0 {
		return
	}
	known := host{context: a}
	if h.Activity.Has() {
		o, err := h.Activity.Object(x)
		g.Note(err)
		known.activity = o
	}
	if h.Start.Has() {
		known.start = g.IntAt(&h.Start, x).Value
	}
	q.hosts[of] = known
}

// dateHeader records the time of a Date header. The latest time counts.
func (q *query) dateHeader(d *dateValues, x objects.Instance) {
	s := q.reading().TextAt(&d.Text, x)
	if t, err := time.Parse(time.RFC1123, s.S); s.Err == nil && err == nil && t.After(q.date) {
		q.date = t.UTC()
	}
}

// request adds the request of a context, if it has one.
func (q *query) request(o objects.Object) {
	g := q.reading()
	s, x := shapes.BindAs[*httpContext](g, o)
	if s == nil {
		return
	}
	features, err := s.Features.Object(x)
	if err != nil {
		g.Note(err)
		return
	}
	if features.Addr == 0 {
		return // between two requests
	}
	out := answer.Request{Context: o.Addr, Status: answer.Missing[int64](objects.ErrNoField)}
	q.features(&out, features)
	known := q.hosts[o.Addr]
	if out.Trace == nil {
		q.activityOf(&out, known.activity)
	}
	q.starts[len(q.out.Requests)] = known.start
	q.add(out, o.Addr, known.context, features.Addr)
}

// add adds a request and the addresses of the objects that belong to it.
func (q *query) add(r answer.Request, belong ...target.Addr) {
	n := len(q.out.Requests)
	q.out.Requests = append(q.out.Requests, r)
	belong = append(belong, r.Object)
	if r.Trace != nil {
		belong = append(belong, r.Trace.Address)
	}
	for _, a := range belong {
		if _, ok := q.index[a]; a != 0 && !ok {
			q.index[a] = n
		}
	}
}

// keepRequest counts one more request against the dump's limit of memory.
func keepRequest(ctx context.Context) error {
	const texts = 512
	return offheap.Keep(ctx, "the list of all requests", offheap.SizeOf[answer.Request]()+texts)
}

// unfinished adds the requests that Kestrel is still reading. They have no context yet. The error is a target.ErrLimit.
func (q *query) unfinished(ctx context.Context) error {
	for _, o := range q.protocols {
		if _, ok := q.index[o.Addr]; ok {
			continue
		}
		if err := keepRequest(ctx); err != nil {
			return err
		}
		s, x := shapes.BindAs[*protocol](q.reading(), o)
		if s == nil {
			continue
		}
		status := q.reading().EnumAt(&s.Status, x)
		if status.Err != nil {
			q.out.Note(status.Err)
			continue
		}
		if status.S != "ParsingRequestLine" && status.S != "ParsingHeaders" {
			continue // not a request, or already answered
		}
		out := answer.Request{Status: answer.Missing[int64](objects.ErrNoField)}
		q.kestrel(&out, o, s, x)
		q.add(out)
	}
	return nil
}

// features adds the request data in a feature collection.
func (q *query) features(out *answer.Request, o objects.Object) {
	g := q.reading()
	for range limits.RequestFeatures {
		if s, x := shapes.BindAs[*protocol](g, o); s != nil {
			q.kestrel(out, o, s, x)
			return
		}
		if s, x := shapes.BindAs[*iisContext](g, o); s != nil {
			q.iis(out, o, s, x)
			return
		}
		if s, x := shapes.BindAs[*sysFeatures](g, o); s != nil {
			q.httpSys(out, s, x)
			return
		}
		s, x := shapes.BindAs[*featureCollection](g, o)
		if s == nil {
			if out.Server == "" {
				out.Server = "unknown"
				name, err := o.Type.Name()
				g.Note(err)
				g.Note(target.Unsupportedf("the features of request %#x are of the unknown type %s", uint64(out.Context), name))
			}
			return
		}
		q.collection(out, s, x)
		next, err := s.Defaults.Object(x)
		if err != nil {
			g.Note(err)
			return
		}
		if next.Addr == 0 {
			return
		}
		o = next
	}
}

// collection adds the features of a FeatureCollection. A value found earlier wins, as in the program.
func (q *query) collection(out *answer.Request, s *featureCollection, x objects.Instance) {
	g := q.reading()
	if out.Server == "" {
		out.Server = "features"
	}
	for item, err := range q.items.ItemsAt(&s.Features, x) {
		if err != nil {
			g.Note(err)
			continue
		}
		if o, err := item.Value.Object(); err == nil {
			q.feature(out, o)
		} else if !item.Value.IsNull() {
			g.Note(err)
		}
	}
}

// feature adds the request data in one feature.
func (q *query) feature(out *answer.Request, o objects.Object) {
	g := q.reading()
	if f, x := shapes.BindAs[*requestFeature](g, o); f != nil {
		out.Object = o.Addr
		out.Protocol, out.Scheme, out.Method = g.TextAt(&f.Protocol, x), g.TextAt(&f.Scheme, x), g.TextAt(&f.Method, x)
		out.PathBase, out.Path, out.Query = g.TextAt(&f.PathBase, x), g.TextAt(&f.Path, x), g.TextAt(&f.Query, x)
		q.headers(out, &f.Headers, x)
	} else if f, x := shapes.BindAs[*responseFeature](g, o); f != nil {
		out.Status = g.IntAt(&f.StatusCode, x)
	} else if f, x := shapes.BindAs[*endpointFeature](g, o); f != nil {
		q.endpoint(out, &f.Endpoint, x)
	} else if f, x := shapes.BindAs[*userFeature](g, o); f != nil {
		q.user(out, &f.User, x)
	} else if f, x := shapes.BindAs[*sessionFeature](g, o); f != nil {
		out.Session = g.PointerAt(&f.Session, x).Value
	} else {
		q.activityOf(out, o)
	}
}

// states describes the values of Kestrel's RequestProcessingStatus.
var states = map[string]string{
	"RequestPending":     "waits for a request",
	"ParsingRequestLine": "reads the request line",
	"ParsingHeaders":     "reads the headers",
	"AppStarted":         "in the application",
	"HeadersCommitted":   "in the application, response headers are ready",
	"HeadersFlushed":     "in the application, the response has started",
	"ResponseCompleted":  "the response is complete",
}

// kestrel adds the request data in Kestrel's object.
func (q *query) kestrel(out *answer.Request, o objects.Object, s *protocol, x objects.Instance) {
	g := q.reading()
	out.Object, out.Server = o.Addr, "Kestrel"
	out.Protocol = kestrelVersion(g.EnumAt(&s.Version, x))
	if out.Method = g.TextAt(&s.MethodText, x); out.Method.IsZero() {
		out.Method = g.EnumAt(&s.Method, x)
		out.Method.S = strings.ToUpper(out.Method.S)
	}
	out.Scheme, out.PathBase, out.Path, out.Query = g.TextAt(&s.Scheme, x), g.TextAt(&s.PathBase, x), g.TextAt(&s.Path, x), g.TextAt(&s.Query, x)
	status := g.EnumAt(&s.Status, x)
	if status.Err != nil {
		g.Note(status.Err)
	} else if out.State = states[status.S]; out.State == "" {
		out.State = status.S
	}
	out.Begun = status.S == "HeadersCommitted" || status.S == "HeadersFlushed" || status.S == "ResponseCompleted"
	out.Status = g.IntAt(&s.StatusCode, x)
	out.Aborted = g.BoolAt(&s.Aborted, x).Value
	out.Upgraded = g.BoolAt(&s.Upgraded, x).Value || g.BoolAt(&s.Extended, x).Value
	out.ID, out.Conn = g.TextAt(&s.RequestID, x), g.TextAt(&s.Connection, x)
	out.Remote, out.Local = q.address(g, &s.RemoteIP, &s.RemotePort, x), q.address(g, &s.LocalIP, &s.LocalPort, x)
	q.headers(out, &s.Headers, x)
	q.endpoint(out, &s.Endpoint, x)
	if f, at := shapes.BindAt[*endpointFeature](g, &s.EndpointSlot, x); f != nil {
		q.endpoint(out, &f.Endpoint, at)
	}
	q.slots(out, &s.Activity, &s.User, &s.Session, x)
	if s.Error.Has() {
		thrown := g.ObjectAt(&s.Error, x)
		out.Exception, out.Causes = thrown.Addr, flows.Causes(g, thrown)
	}
}

// kestrelVersion converts an HTTP version from its name in Kestrel's enum.
func kestrelVersion(t answer.Text) answer.Text {
	if v, ok := map[string]string{"Http10": "HTTP/1.0", "Http11": "HTTP/1.1", "Http2": "HTTP/2", "Http3": "HTTP/3"}[t.S]; ok {
		t.S = v
	}
	return t
}

// slots adds the activity, the user and the session that a server keeps as features.
func (q *query) slots(out *answer.Request, trace, user, session *objects.RefField, x objects.Instance) {
	g := q.reading()
	if f, at := shapes.BindAt[*sessionFeature](g, session, x); f != nil {
		out.Session = g.PointerAt(&f.Session, at).Value
	}
	if trace.Has() {
		if o, err := trace.Object(x); err != nil {
			g.Note(err)
		} else {
			q.activityOf(out, o)
		}
	}
	if f, at := shapes.BindAt[*userFeature](g, user, x); f != nil {
		q.user(out, &f.User, at)
	}
}

// iis adds the request data of the module in an IIS worker process.
func (q *query) iis(out *answer.Request, o objects.Object, s *iisContext, x objects.Instance) {
	g := q.reading()
	out.Object, out.Server = o.Addr, "IIS"
	out.Method, out.Scheme = g.TextAt(&s.Method, x), g.TextAt(&s.Scheme, x)
	out.PathBase, out.Path, out.Query = g.TextAt(&s.PathBase, x), g.TextAt(&s.Path, x), g.TextAt(&s.Query, x)
	out.Status = g.IntAt(&s.StatusCode, x)
	begun := g.BoolAt(&s.Started, x)
	if out.Begun, out.Upgraded = begun.Value, g.BoolAt(&s.Upgraded, x).Value; begun.Err() == nil {
		out.State = "in the application"
	}
	out.ID, out.Conn = g.TextAt(&s.RequestID, x), g.TextAt(&s.Connection, x)
	out.Remote, out.Local = q.address(g, &s.RemoteIP, &s.RemotePort, x), q.address(g, &s.LocalIP, &s.LocalPort, x)
	q.headers(out, &s.Headers, x)
	if s.User.Has() {
		q.user(out, &s.User, x)
	}
	q.slots(out, &s.Activity, &s.UserSlot, &s.Session, x)
}

// httpSys adds the request data of the HTTP.sys server.
func (q *query) httpSys(out *answer.Request, s *sysFeatures, x objects.Instance) {
	g := q.reading()
	out.Server = "HTTP.sys"
	o, err := s.Context.Object(x)
	if err != nil {
		g.Note(err)
		return
	}
	if f, at := shapes.BindAs[*sysFeatureContext](g, o); f != nil {
		if o, err = f.Context.Object(at); err != nil {
			g.Note(err)
			return
		}
	}
	c, at := shapes.BindAs[*sysContext](g, o)
	if c == nil {
		return
	}
	out.Object = o.Addr
	if r, at := shapes.BindAt[*sysRequest](g, &c.Request, at); r != nil {
		out.Method, out.PathBase, out.Path = g.TextAt(&r.Method, at), g.TextAt(&r.PathBase, at), g.TextAt(&r.Path, at)
		if target := g.TextAt(&r.Target, at); target.Err == nil {
			if _, query, ok := strings.Cut(target.S, "?"); ok {
				out.Query.S = "?" + query
			}
		}
	}
}

// endpoint adds the endpoint that handles a request.
func (q *query) endpoint(out *answer.Request, f *objects.RefField, x objects.Instance) {
	g := q.reading()
	s, at := shapes.BindAt[*endpoint](g, f, x)
	if s == nil {
		return
	}
	out.Endpoint = g.TextAt(&s.Name, at)
	if route, at := shapes.BindAt[*routeEndpoint](g, f, x); route != nil {
		if p, at := shapes.BindAt[*routePattern](g, &route.Pattern, at); p != nil {
			out.Route = g.TextAt(&p.Text, at)
		}
	}
}

// activityOf adds the activity of a request. o is the activity, or the feature that holds it.
func (q *query) activityOf(out *answer.Request, o objects.Object) {
	g := q.reading()
	if f, x := shapes.BindAs[*activityFeature](g, o); f != nil {
		var err error
		if o, err = f.Activity.Object(x); err != nil {
			g.Note(err)
			return
		}
	}
	a := q.flows.Activity(o)
	if a == nil {
		return
	}
	out.Trace = a
	if a.Started != nil {
		out.Started = a.Started
	}
}

// user adds the name of a request's user.
func (q *query) user(out *answer.Request, f *objects.RefField, x objects.Instance) {
	g := q.reading()
	p, at := shapes.BindAt[*principal](g, f, x)
	if p == nil {
		return
	}
	for o := range q.each(&p.Identities, at) {
		id, at := shapes.BindAs[*identity](g, o)
		if id == nil {
			continue
		}
		want := g.TextAt(&id.Name, at)
		for c := range q.each(&id.Claims, at) {
			s, at := shapes.BindAs[*claim](g, c)
			if s != nil && g.TextAt(&s.Type, at).S == want.S {
				out.User = g.TextAt(&s.Value, at)
				return
			}
		}
	}
}

// each iterates over the objects of the collection that a field refers to.
func (q *query) each(f *objects.RefField, x objects.Instance) iter.Seq[objects.Object] {
	return func(yield func(objects.Object) bool) {
		for o, err := range q.items.Objects(f, x) {
			if err != nil {
				q.out.Note(err)
			} else if !yield(o) {
				return
			}
		}
	}
}

// times computes the ages of requests.
func (q *query) times() {
	now, clock := q.p.Dump().Target().Process().DumpTime, "the dump"
	if now.IsZero() {
		now, clock = q.date, "the server's last heartbeat"
	}
	if now.IsZero() {
		return
	}
	q.out.Now, q.out.Clock = &now, clock
	for i := range q.out.Requests {
		r := &q.out.Requests[i]
		if age := q.beat.age(q.starts[i]); r.Started == nil && age > 0 {
			started := now.Add(-age)
			r.Started = &started
		}
		if r.Started == nil {
			continue
		}
		// Both clocks have a resolution of one second.
		if age := now.Sub(*r.Started); age >= -time.Second && age < 100*365*24*time.Hour {
			r.Age = max(age, 0).Round(time.Second).String()
		}
	}
}

// choose removes the requests that the options do not select.
func (q *query) choose(ctx context.Context) {
	o := &q.o
	name, value, _ := strings.Cut(o.Header, ":")
	all := len(q.out.Requests)
	q.out.Requests = slices.DeleteFunc(q.out.Requests, func(r answer.Request) bool {
		return o.URL != "" && !contains(ctx, urlOf(&r), o.URL) ||
			o.User != "" && !contains(ctx, r.User.S, o.User) ||
			o.Header != "" && !slices.ContainsFunc(r.Headers, func(h answer.Header) bool {
				return strings.EqualFold(h.Name, strings.TrimSpace(name)) && headerContains(ctx, &h, strings.TrimSpace(value))
			}) ||
			o.Thread != 0 && !slices.ContainsFunc(r.Threads, func(t answer.Worker) bool { return t.OSID == o.Thread || t.ManagedID == o.Thread })
	})
	q.out.Others = all - len(q.out.Requests)
	if !o.Headers {
		for i := range q.out.Requests {
			q.out.Requests[i].Headers = nil
		}
	}
	q.mask()
}

// urlOf returns the known parts of a request's URL.
func urlOf(r *answer.Request) string {
	return r.Scheme.S + "://" + r.Host.S + r.PathBase.S + r.Path.S + r.Query.S
}

// headerContains reports whether the value of a header contains part. Where secrets are masked, its name may show that it is one.
func headerContains(ctx context.Context, h *answer.Header, part string) bool {
	name := h.Name + ": "
	return strings.Contains(strings.ToLower(strings.TrimPrefix(secrets.Masked(ctx, name+h.Value.S), name)), strings.ToLower(part))
}

func contains(ctx context.Context, s, part string) bool {
	return strings.Contains(strings.ToLower(secrets.Masked(ctx, s)), strings.ToLower(part))
}
