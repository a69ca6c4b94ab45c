package mcpguard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	maxSessions = 1000
	writeTime   = 30 * time.Second // bounds how long a client takes to read one

	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"

	stateless = "2026-07-28" // the first version without sessions
)

// streamAfter is how long a Handler waits for an answer before it starts the event stream, so that clients and
// proxies do not time out. Only tests change it.
var streamAfter = 2 * time.Second

// A Handler serves clients over the streamable transport. If a client disconnects or ends its session, its requests
// are canceled. The server sends no messages of its own, so GET is refused.
//
// On a loopback address it refuses requests with another Host header (DNS rebinding). The caller authorizes clients.
type Handler struct {
	server *mcp.Server
	// The SDK has a handler for versions with sessions, and one for versions without.
	sessions, stateless http.Handler
	slots               chan struct{} // one for each request that runs

	mu      sync.Mutex
	posts   sync.WaitGroup
	running map[*post]struct{}
	opening int // requests that may open a session
	closed  bool
}

// A post is a request over HTTP that carries messages.
type post struct {
	session string
	opens   bool // it may open a session
	cancel  context.CancelFunc
}

// NewHandler returns a handler that ends the sessions of idle clients. Close must be called. The server must not have
// sessions over another transport.
func NewHandler(s *mcp.Server, idle time.Duration) *Handler {
	options := mcp.StreamableHTTPOptions{Logger: slog.New(slog.DiscardHandler), SessionTimeout: idle, MaxRequestBodyBytes: MaxMessage, PropagateRequestCancellation: true}
	server := func(*http.Request) *mcp.Server { return s }
	h := &Handler{server: s, sessions: mcp.NewStreamableHTTPHandler(server, &options), slots: make(chan struct{}, maxRunning), running: map[*post]struct{}{}}
	options.Stateless = true
	h.stateless = mcp.NewStreamableHTTPHandler(server, &options)
	return h
}

// Close ends all sessions and their requests.
func (h *Handler) Close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.stop(func(*post) bool { return true })
	h.posts.Wait()
	for s := range h.server.Sessions() {
		_ = s.Close() // the client is not asked
	}
}

// stop cancels the requests that want selects.
func (h *Handler) stop(want func(*post) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for p := range h.running {
		if want(p) {
			p.cancel()
		}
	}
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && loopback(local.String()) && !loopback(r.Host) {
		http.Error(w, fmt.Sprintf("the host %.80q is not this machine", r.Host), http.StatusForbidden)
		return
	}
	switch r.Method {
	case http.MethodPost:
		h.post(w, r)
	case http.MethodDelete:
		session := r.Header.Get(headerSession)
		h.stop(func(p *post) bool { return session != "" && p.session == session })
		h.sessions.ServeHTTP(w, r)
	default:
		w.Header().Set("Allow", "POST, DELETE")
		http.Error(w, "messages come by POST; the server sends none but answers", http.StatusMethodNotAllowed)
	}
}

// loopback reports whether a host, with or without a port, is reachable only from this machine.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && addr.Unmap().IsLoopback()
}

// post answers messages.
func (h *Handler) post(w http.ResponseWriter, r *http.Request) {
	body, status, err := readBody(w, r)
	if err != nil {
		http.Error(w, err.Error(), status)
		return
	}
	list, _, wrong := parse(body)
	id := jsonrpc.ID{}
	if bad := slices.IndexFunc(list, func(m message) bool { return m.bad != nil }); bad >= 0 {
		id, wrong = list[bad].id, list[bad].bad
	}
	if wrong != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(refusal(id, wrong)) // an error means that the client has gone
		return
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	default:
		http.Error(w, fmt.Sprintf("%d requests run already", maxRunning), http.StatusServiceUnavailable)
		return
	}
	to := h.sessions
	if r.Header.Get(headerVersion) >= stateless || list[0].params().Meta.Version >= stateless {
		to = h.stateless
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	session := r.Header.Get(headerSession)
	p := &post{session, session == "" && to == h.sessions, cancel}
	if err := h.begin(p); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer h.end(p)
	e := newEvents(w)
	defer e.end()
	if p.opens {
		e.timer.Stop() // the head of the answer has the session
	}
	to.ServeHTTP(e, repeated(ctx, r, body))
	if ctx.Err() != nil && session != "" {
		h.cancel(r, list)
	}
}

// readBody reads the body of a request.
func readBody(w http.ResponseWriter, r *http.Request) (body []byte, status int, err error) {
	c := http.NewResponseController(w)
	_ = c.SetWriteDeadline(time.Time{}) // the last answer had one; only writers of tests have no deadlines
	body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, MaxMessage))
	if err != nil { // the rest is not read
		w.Header().Set("Connection", "close")
	}
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the message has more than %d bytes", MaxMessage)
	case err != nil:
		return nil, http.StatusBadRequest, fmt.Errorf("the message can't be read: %w", err)
	}
	return body, 0, nil
}

// begin adds a request to those that run. It fails if the request may open a session and maxSessions are open.
func (h *Handler) begin(p *post) error {
	open := 0
	if p.opens {
		for range h.server.Sessions() {
			open++
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return errors.New("the server ends")
	case p.opens && open+h.opening >= maxSessions:
		return fmt.Errorf("%d sessions are open already", open)
	case p.opens:
		h.opening++
	}
	h.running[p] = struct{}{}
	h.posts.Add(1)
	return nil
}

func (h *Handler) end(p *post) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.posts.Done()
	delete(h.running, p)
	if p.opens {
		h.opening--
	}
}

// repeated returns a request with another body.
func repeated(ctx context.Context, r *http.Request, body []byte) *http.Request {
	r = r.Clone(ctx)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return r
}

// cancel cancels the calls of a request after its client has gone. The SDK would let them run on.
func (h *Handler) cancel(r *http.Request, list []message) {
	for _, m := range list {
		if !m.call() {
			continue
		}
		body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": methodCancelled, "params": map[string]any{"requestId": m.id.Raw()}})
		h.sessions.ServeHTTP(nowhere{}, repeated(context.WithoutCancel(r.Context()), r, body))
	}
}

// nowhere is a response that discards its content.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) WriteHeader(int)             {}

// An events is an answer of the SDK: an event stream or an error. The stream starts after a while even without
// events. A client that does not read it in time is disconnected.
type events struct {
	w      http.ResponseWriter
	header http.Header // the SDK may write it while the timer begins the stream

	mu     sync.Mutex
	timer  *time.Timer // begins the stream
	begun  bool
	early  bool // the timer has begun it
	failed bool // early, and the SDK answers with an error: it becomes an event
	ended  bool
}

func newEvents(w http.ResponseWriter) *events {
	e := &events{w: w, header: http.Header{}}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.timer = time.AfterFunc(streamAfter, e.begin)
	return e
}

// begin begins the stream.
func (e *events) begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.begun || e.ended {
		return
	}
	e.begun, e.early = true, true
	e.w.Header().Set("Content-Type", "text/event-stream")
	e.w.Header().Set("Cache-Control", "no-cache, no-transform")
	e.w.WriteHeader(http.StatusOK)
	_ = e.flush()
}

// end completes the answer.
func (e *events) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = true
	e.timer.Stop()
}

// Header implements http.ResponseWriter.
func (e *events) Header() http.Header { return e.header }

// WriteHeader implements http.ResponseWriter.
func (e *events) WriteHeader(status int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.writeHeader(status)
}

func (e *events) writeHeader(status int) {
	if e.begun {
		e.failed = e.failed || e.early && status != http.StatusOK
		return
	}
	e.begun = true
	maps.Copy(e.w.Header(), e.header)
	e.w.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (e *events) Write(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.writeHeader(http.StatusOK)
	e.hurry()
	if !e.failed {
		return e.w.Write(b)
	}
	_, err := fmt.Fprintf(e.w, "event: message\ndata: %s\n\n", b)
	return len(b), err
}

// FlushError sends what is written. http.ResponseController calls it.
func (e *events) FlushError() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.flush()
}

func (e *events) flush() error {
	e.hurry()
	return http.NewResponseController(e.w).Flush()
}

// hurry sets the deadline for the client to read the next write. If the client misses it, the request's context ends.
func (e *events) hurry() {
	_ = http.NewResponseController(e.w).SetWriteDeadline(time.Now().Add(writeTime))
}
