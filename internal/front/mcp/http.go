package mcp

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	maxSessions = 1000
	bodyTime    = 30 * time.Second // bounds how long a client takes to send a message
	writeTime   = 30 * time.Second // bounds how long a client takes to read one

	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
	typeJSON      = "application/json"
	typeEvents    = "text/event-stream"
)

// streamAfter is how long an answer is waited for before the client gets a stream that ends with it: then no client or proxy takes the
// server for dead. Only tests change it.
var streamAfter = 2 * time.Second

// A Handler serves clients over the streamable transport. An answer is JSON, or a stream of events that ends with it if there are
// notifications before, or if it takes long. A client that goes away, or that ends its session, cancels its requests. The server sends
// nothing of its own accord, so that GET is refused.
//
// On an address of the machine alone it refuses requests for other hosts, which a page makes whose host was turned to that address.
// Who may ask is not its matter.
type Handler struct {
	server *Server
	idle   time.Duration
	slots  chan struct{} // one for each request that runs

	mu       sync.Mutex
	sessions map[string]*remote
	closed   bool
}

// A remote is a client with a session.
type remote struct {
	session

	ctx     context.Context // ends with the session
	end     context.CancelFunc
	timer   *time.Timer // ends the session
	running int         // requests, guarded by Handler.mu
}

// Handler returns a handler that keeps the session of a silent client for a while. Close must be called.
func (s *Server) Handler(idle time.Duration) *Handler {
	return &Handler{server: s, idle: idle, slots: make(chan struct{}, maxRunning), sessions: map[string]*remote{}}
}

// Close ends all sessions with what they ask for.
func (h *Handler) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for id := range h.sessions {
		h.drop(id)
	}
}

// drop ends a session. The caller holds the lock.
func (h *Handler) drop(id string) {
	if s := h.sessions[id]; s != nil {
		s.timer.Stop()
		s.end()
		delete(h.sessions, id)
	}
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && loopback(local.String()) && !loopback(r.Host) {
		http.Error(w, fmt.Sprintf("the host %s is not this machine", quoted(r.Host)), http.StatusForbidden)
		return
	}
	switch r.Method {
	case http.MethodPost:
		h.post(w, r)
	case http.MethodDelete:
		h.delete(w, r)
	default:
		w.Header().Set("Allow", "POST, DELETE")
		http.Error(w, "messages come by POST; the server sends none but answers", http.StatusMethodNotAllowed)
	}
}

// loopback reports whether a host, with or without a port, is this machine alone.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && addr.Unmap().IsLoopback()
}

// delete ends a session.
func (h *Handler) delete(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	id := r.Header.Get(headerSession)
	switch {
	case id == "":
		http.Error(w, headerSession+" is missing", http.StatusBadRequest)
	case h.sessions[id] == nil:
		http.Error(w, "there is no such session", http.StatusNotFound)
	default:
		h.drop(id)
		w.WriteHeader(http.StatusNoContent)
	}
}

// post answers messages.
func (h *Handler) post(w http.ResponseWriter, r *http.Request) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != typeJSON {
		http.Error(w, "Content-Type must be "+typeJSON, http.StatusUnsupportedMediaType)
		return
	}
	if !accepts(r.Header, typeJSON) || !accepts(r.Header, typeEvents) {
		http.Error(w, "Accept must have "+typeJSON+" and "+typeEvents, http.StatusNotAcceptable)
		return
	}
	version := r.Header.Get(headerVersion)
	if version != "" && !slices.Contains(Versions(), version) {
		reply(w, http.StatusBadRequest, answer(null, nil, unsupported(version)))
		return
	}
	body, status, err := readBody(w, r)
	if err != nil {
		http.Error(w, err.Error(), status)
		return
	}
	list, batch, wrong := parse(body)
	if wrong != nil {
		reply(w, http.StatusBadRequest, answer(null, nil, wrong))
		return
	}
	if bad := list[0].bad; !batch && bad != nil {
		reply(w, http.StatusBadRequest, answer(list[0].id, nil, bad))
		return
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	default:
		http.Error(w, fmt.Sprintf("%d requests run already", maxRunning), http.StatusServiceUnavailable)
		return
	}
	id := r.Header.Get(headerSession)
	switch m := &list[0]; {
	case batch:
		alone(list)
		h.inSession(w, r, id, list, true)
	case version >= stateless || m.stated() >= stateless:
		h.stateless(w, r, m, version)
	case m.method == "initialize" && m.call() && id == "":
		h.initialize(w, r, m)
	default:
		h.inSession(w, r, id, list, false)
	}
}

// accepts reports whether a client takes an answer of a media type.
func accepts(header http.Header, kind string) bool {
	group, _, _ := strings.Cut(kind, "/")
	for _, value := range header.Values("Accept") {
		for one := range strings.SplitSeq(value, ",") {
			one, _, _ = strings.Cut(one, ";")
			if one = strings.ToLower(strings.TrimSpace(one)); one == kind || one == group+"/*" || one == "*/*" {
				return true
			}
		}
	}
	return false
}

// readBody reads the body of a request.
func readBody(w http.ResponseWriter, r *http.Request) (body []byte, status int, err error) {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Now().Add(bodyTime)) // a writer without deadlines is that of a test
	body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, MaxMessage))
	_ = c.SetReadDeadline(time.Time{})
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the message has more than %d bytes", MaxMessage)
	case err != nil:
		return nil, http.StatusBadRequest, fmt.Errorf("the message can't be read: %w", err)
	}
	return body, 0, nil
}

// reply answers with JSON.
func reply(w http.ResponseWriter, status int, body []byte) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime))
	w.Header().Set("Content-Type", typeJSON)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that is gone wants none
}

// initialize begins a session.
func (h *Handler) initialize(w http.ResponseWriter, r *http.Request, m *message) {
	s := &remote{session: session{server: h.server}}
	s.ctx, s.end = context.WithCancel(context.Background())
	body, wrong := s.start(r.Context(), m, nil)()
	if wrong != nil {
		s.end()
		reply(w, http.StatusBadRequest, body)
		return
	}
	id := rand.Text()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || len(h.sessions) >= maxSessions {
		s.end()
		http.Error(w, fmt.Sprintf("%d sessions are open already", len(h.sessions)), http.StatusServiceUnavailable)
		return
	}
	s.timer = time.AfterFunc(h.idle, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if s.running == 0 {
			h.drop(id)
		}
	})
	h.sessions[id] = s
	w.Header().Set(headerSession, id)
	reply(w, http.StatusOK, body)
}

// inSession answers messages of a session. Without one only ping has an answer.
func (h *Handler) inSession(w http.ResponseWriter, r *http.Request, id string, list []message, batch bool) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	s := &session{server: h.server}
	if id != "" {
		h.mu.Lock()
		known := h.sessions[id]
		if known == nil {
			h.mu.Unlock()
			http.Error(w, "there is no such session", http.StatusNotFound)
			return
		}
		known.running++
		known.timer.Stop()
		h.mu.Unlock()
		defer func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			if known.running--; known.running == 0 && h.sessions[id] == known {
				known.timer.Reset(h.idle)
			}
		}()
		defer context.AfterFunc(known.ctx, cancel)()
		s = &known.session
	}
	if batch && !s.batches() {
		reply(w, http.StatusBadRequest, answer(null, nil, errorf(codeRequest, "version %s has no batches", s.speaks())))
		return
	}
	status := http.StatusOK
	if id == "" {
		status = http.StatusBadRequest
	}
	s.serve(ctx, w, list, batch, func(*Error) int { return status })
}

// stateless answers a message that has its version with it.
func (h *Handler) stateless(w http.ResponseWriter, r *http.Request, m *message, version string) {
	if m.call() {
		if wrong := m.compare(r.Header, version); wrong != nil {
			reply(w, http.StatusBadRequest, answer(m.id, nil, wrong))
			return
		}
	}
	s := &session{server: h.server}
	s.serve(r.Context(), w, []message{*m}, false, func(e *Error) int {
		if e.Code == codeMethod {
			return http.StatusNotFound
		}
		return http.StatusBadRequest
	})
}

// stated is the version that a message has with it.
func (m *message) stated() string {
	meta, _ := m.params.object("_meta")
	version, _ := textOf(meta[metaVersion])
	return version
}

// compare compares a message with the headers that repeat parts of it for proxies.
func (m *message) compare(header http.Header, version string) *Error {
	differs := func(name, value, want string) *Error {
		if value == "" {
			return errorf(codeHeader, "the header %s is missing", name)
		}
		return errorf(codeHeader, "the header %s is %s, and the message has %s", name, quoted(value), quoted(want))
	}
	if stated := m.stated(); stated == "" {
		return errorf(codeParams, "_meta has no %s", metaVersion)
	} else if version != stated {
		return differs(headerVersion, version, stated)
	}
	if value := header.Get(headerMethod); value != m.method {
		return differs(headerMethod, value, m.method)
	}
	if param := map[string]string{"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}[m.method]; param != "" {
		want, _ := textOf(m.params[param])
		if value := headerText(header.Get(headerName)); value != want {
			return differs(headerName, value, want)
		}
	}
	return nil
}

// headerText is the text of a header, which is in base64 if it has letters that headers can't have.
func headerText(value string) string {
	if coded, ok := strings.CutPrefix(value, "=?base64?"); ok {
		if raw, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(coded, "?=")); err == nil {
			return string(raw)
		}
	}
	return value
}

// serve does what messages want and writes the answers. status is the status of an answer that has an error alone.
func (s *session) serve(ctx context.Context, w http.ResponseWriter, list []message, batch bool, status func(*Error) int) {
	e := &events{w: w}
	defer time.AfterFunc(streamAfter, e.begin).Stop()
	all, errs := make([][]byte, len(list)), make([]*Error, len(list))
	var calls sync.WaitGroup
	asked := 0
	for i := range list {
		switch m := &list[i]; {
		case m.call():
			asked++
			run := s.start(ctx, m, e)
			calls.Go(func() { all[i], errs[i] = run() })
		case !m.response:
			s.noted(m)
		}
	}
	calls.Wait()
	switch all = trim(all); {
	case asked == 0:
		e.end(http.StatusAccepted, nil)
	case len(all) == 0: // the client cancelled what it asked
		e.end(http.StatusNoContent, nil)
	case batch:
		e.end(http.StatusOK, joined(all))
	case errs[0] != nil:
		e.end(status(errs[0]), all[0])
	default:
		e.end(http.StatusOK, all[0])
	}
}

// An events is an answer that may become a stream of events.
type events struct {
	mu     sync.Mutex
	w      http.ResponseWriter
	stream bool
	ended  bool
}

// begin makes it a stream.
func (e *events) begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.beginLocked()
}

func (e *events) beginLocked() {
	if e.stream || e.ended {
		return
	}
	e.stream = true
	e.w.Header().Set("Content-Type", typeEvents)
	e.w.Header().Set("Cache-Control", "no-store")
	e.w.WriteHeader(http.StatusOK)
	e.flush()
}

// flush sends what is written. A client that does not read in time is gone, which ends the context of the request.
func (e *events) flush() {
	c := http.NewResponseController(e.w)
	_ = c.SetWriteDeadline(time.Now().Add(writeTime))
	_ = c.Flush()
}

// put implements sink.
func (e *events) put(_ context.Context, message []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.beginLocked()
	e.event(message)
}

// try implements sink.
func (e *events) try(message []byte) { e.put(context.Background(), message) }

func (e *events) event(message []byte) {
	_ = http.NewResponseController(e.w).SetWriteDeadline(time.Now().Add(writeTime))
	_, _ = fmt.Fprintf(e.w, "event: message\ndata: %s\n\n", message)
	e.flush()
}

// end writes the answer, as the last event of a stream or with a status.
func (e *events) end(status int, body []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = true
	switch {
	case e.stream && body != nil:
		e.event(body)
	case e.stream:
	case body == nil:
		e.w.WriteHeader(status)
	default:
		reply(e.w, status, body)
	}
}
