package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
)

// Names in the _meta of requests of stateless versions.
const (
	metaVersion = "io.modelcontextprotocol/protocolVersion"
	metaClient  = "io.modelcontextprotocol/clientInfo"
	metaOffers  = "io.modelcontextprotocol/clientCapabilities"
	metaServer  = "io.modelcontextprotocol/serverInfo"
)

// errCancelled ends the context of a request that the client gave up: it gets no answer.
var errCancelled = errors.New("the client cancelled the request")

// A session is what the server remembers of a client.
type session struct {
	server *Server

	mu      sync.Mutex
	version string // of the protocol; empty before initialize
	running map[id]*call
}

// A call is a request that runs.
type call struct{ stop context.CancelCauseFunc }

// begin settles the version. It returns false if there is one.
func (s *session) begin(version string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version != "" {
		return false
	}
	s.version = version
	return true
}

// speaks returns the version, or "" before initialize.
func (s *session) speaks() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// batches reports whether the client may send batches.
func (s *session) batches() bool { return s.speaks() < noBatches }

// cancel stops a request. Its id is free at once, not only when it has stopped: the client waits for no answer.
func (s *session) cancel(i id) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.running[i]; c != nil {
		c.stop(errCancelled)
		delete(s.running, i)
	}
}

// noted does what a notification is for.
func (s *session) noted(m *message) {
	if m.method == "notifications/cancelled" {
		if i, ok := parseID(m.params["requestId"]); ok {
			s.cancel(i)
		}
	}
}

// start returns what runs a request: from now on it can be cancelled. That returns the answer, which is nil if nobody waits for one, and the
// error that the answer has. It must be called once. The end of ctx stops the request.
func (s *session) start(ctx context.Context, m *message, to sink) func() ([]byte, *Error) {
	fail := func(e *Error) func() ([]byte, *Error) {
		return func() ([]byte, *Error) { return answer(m.id, nil, e), e }
	}
	if m.bad != nil {
		return fail(m.bad)
	}
	r := &request{message: m, session: s, to: to}
	if err := r.check(); err != nil {
		return fail(err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[m.id] != nil {
		stop(nil)
		return fail(errorf(codeRequest, "a request with the id %s runs already", m.id))
	}
	if s.running == nil {
		s.running = map[id]*call{}
	}
	own := &call{stop}
	s.running[m.id] = own
	return func() ([]byte, *Error) {
		defer stop(nil)
		out, err := s.server.answer(ctx, r)
		s.mu.Lock()
		if s.running[m.id] == own {
			delete(s.running, m.id)
		}
		s.mu.Unlock()
		if errors.Is(context.Cause(ctx), errCancelled) {
			return nil, nil
		}
		if err == nil && r.stateless {
			s.server.finish(r.method, out)
		}
		return answer(m.id, out, err), err
	}
}

// finish adds to a result what stateless versions want there.
func (s *Server) finish(method string, out result) {
	out["resultType"] = "complete"
	meta, _ := out["_meta"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
		out["_meta"] = meta
	}
	meta[metaServer] = s.info()
	if cacheable(method) {
		out["ttlMs"], out["cacheScope"] = 0, "public"
	}
}

// check looks at what all requests have in common: whether they may be sent now, and their _meta.
func (r *request) check() *Error {
	var ok bool
	if r.meta, ok = r.params.object("_meta"); !ok {
		return errorf(codeParams, "%s: _meta is not an object", r.method)
	}
	if version, _ := textOf(r.meta[metaVersion]); version >= stateless {
		r.stateless = true
		return r.checkStateless(version)
	}
	switch {
	case r.method == "server/discover" || r.method == "subscriptions/listen":
		return errorf(codeMethod, "method not found: %s needs version %s or later, stated in _meta", quoted(r.method), stateless)
	case strings.HasPrefix(r.method, "notifications/"):
		return errorf(codeRequest, "%s is a notification, which has no id", quoted(r.method))
	case r.method != "initialize" && r.method != "ping" && r.session.speaks() == "":
		return errorf(codeRequest, "%s before initialize", quoted(r.method))
	}
	return nil
}

// checkStateless looks at a request that has its version with it.
func (r *request) checkStateless(version string) *Error {
	if !slices.Contains(Versions(), version) {
		return unsupported(version)
	}
	for _, name := range []string{metaClient, metaOffers} {
		var value map[string]json.RawMessage
		switch raw, given := r.meta[name]; {
		case !given && name == metaOffers:
			return errorf(codeParams, "_meta has no %s", name)
		case given && (json.Unmarshal(raw, &value) != nil || value == nil):
			return errorf(codeParams, "%s in _meta is not an object", name)
		}
	}
	if r.method == "initialize" || r.method == "ping" {
		return errorf(codeMethod, "method not found: version %s has no %s", version, r.method)
	}
	return nil
}

// unsupported is the answer to a request in a version that the server doesn't speak.
func unsupported(version string) *Error {
	return &Error{Code: codeVersion, Message: "unsupported protocol version", Data: map[string]any{"supported": Versions(), "requested": version}}
}
