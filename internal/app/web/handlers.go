package web

import (
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// The objects around the pools. An HttpClient sends through a chain of handlers; the last one owns the pools.
type (
	httpClient struct {
		_        objects.Shape    `of:"System.Net.Http.HttpClient"`
		Handler  objects.RefField `field:"_handler"`
		Disposed objects.IntField `field:"_disposed,optional"`
		Used     objects.IntField `field:"_operationStarted,optional"`
		Timeout  objects.IntField `field:"_timeout._ticks,optional"`
		Base     objects.RefField `field:"_baseAddress,optional"`
	}
	socketsHandler struct {
		_        objects.Shape    `of:"System.Net.Http.SocketsHttpHandler"`
		Disposed objects.IntField `field:"_disposed,optional"`
	}
	// A wrapper passes requests on to another handler.
	wrapper struct {
		_     objects.Shape    `of:"System.Net.Http.DelegatingHandler|System.Net.Http.HttpClientHandler|System.Net.Http.DiagnosticsHandler"`
		Inner objects.RefField `field:"_innerHandler|_underlyingHandler|_socketsHttpHandler"`
	}
	// A factoryHandler belongs to IHttpClientFactory, which disposes handlers itself.
	factoryHandler struct {
		_ objects.Shape `of:"Microsoft.Extensions.Http.LifetimeTrackingHttpMessageHandler"`
	}
)

// client describes an HttpClient.
func (r *Reader) client(g shapes.Reading, o objects.Object, s *httpClient, x objects.Instance) answer.HTTPClient {
	out := answer.HTTPClient{Address: o.Addr, Disposed: g.BoolAt(&s.Disposed, x), Used: g.BoolAt(&s.Used, x), Timeout: g.IntAt(&s.Timeout, x)}
	if out.Timeout.Err() == nil {
		out.Timeout.Value /= ticksPerMillisecond
		if out.Timeout.Value < 0 {
			out.Timeout.Value = -1
		}
	}
	if u, at := shapes.BindAt[*uri](g, &s.Base, x); u != nil {
		out.Base = g.TextAt(&u.Text, at)
	}
	h, err := s.Handler.Object(x)
	for range limits.RequestFeatures {
		if err != nil || h.Addr == 0 {
			break
		}
		if is[*socketsHandler](r, h) {
			out.Handler = g.Pointer(h.Addr, nil)
			return out
		}
		if is[*factoryHandler](r, h) {
			out.Factory = true
		}
		w, at := shapes.BindAs[*wrapper](g, h)
		if w == nil {
			if out.Own = g.TypeText(h); out.Own.Err != nil || strings.HasPrefix(out.Own.S, "System.Net.Http.") {
				err = target.Unsupportedf("a handler of type %s", out.Own)
				out.Own = answer.Text{}
			}
			break
		}
		h, err = w.Inner.Object(at)
	}
	out.Handler = g.Pointer(0, err)
	return out
}

// ticksPerMillisecond converts TimeSpan ticks.
const ticksPerMillisecond = 10_000

// unshared is how many pools for one server are a finding. Each pool has its own connections.
const unshared = 10

// Unshared concludes that the program creates an HttpClient or a handler for each use: pools of different handlers lead
// to one server.
func Unshared(a *answer.HTTPClients) []answer.Verdict {
	if a == nil {
		return nil
	}
	type server struct {
		kind, host string
		port       int64
	}
	pools := map[server]int{}
	var order []server
	for i := range a.Pools {
		p := &a.Pools[i]
		s := server{p.Kind.S, p.Host.S, p.Port.Value}
		if p.Host.Err != nil || p.Host.S == "" || p.Port.Err() != nil || p.Disposed {
			continue
		}
		if pools[s] == 0 {
			order = append(order, s)
		}
		pools[s]++
	}
	kept := 0
	for i := range a.List {
		if c := &a.List[i]; c.Disposed.Err() == nil && !c.Disposed.Value && !c.Factory {
			kept++
		}
	}
	var out []answer.Verdict
	for _, s := range order {
		if pools[s] < unshared || a.Handlers-a.FactoryHandlers < unshared { // a handler has several pools for one server, such as one for each WebSocket
			continue
		}
		v := answer.Conclude(answer.FindingClients, words.ClientsUnshared.Of(words.N(pools[s]), words.Server(answer.Text{S: s.host}, answer.Known(s.port))), answer.StrengthLikely,
			words.HandlersOnHeap.Of(words.N(a.Handlers)), words.ClientsKept.Of(words.N(kept)))
		v.Count, v.Show = pools[s], []string{"httpclients"}
		if kept < pools[s] {
			v.Strength = answer.StrengthPossible // they may belong to a factory or be disposed
		}
		out = append(out, v)
	}
	return out
}
