package webui

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/internal/front/serving"
)

const (
	pageItems = 1000    // items of a list if the request sets no count
	maxItems  = 100_000 // maximum items of a list in one request
	atWork    = 4       // concurrent commands; further requests wait
	// cookiePrefix precedes the port in the cookie's name, since all ports of a host share cookies.
	cookiePrefix = "sosgo-"
)

// A Server shows one dump to clients with its token. It only reads: all requests are GET, and its Asker refuses to
// write files. It is safe for concurrent use.
type Server struct {
	asker   Asker
	subject Subject
	folder  string // "/NAME/": the page's folder and the cookie's path, with a random name
	door    serving.Door
	slots   chan struct{}
	mounted bool // mounted in another server, which authorizes requests
	watches watches

	idle, write time.Duration // replace idleTime and writeTime in tests, if not 0
}

// Handler returns a handler for another program's server, which must authorize requests. Paths are relative to its
// mount point.
func Handler(a Asker, s Subject) http.Handler {
	return &Server{asker: a, subject: s, slots: make(chan struct{}, atWork), mounted: true}
}

// NewServer returns a server for requests that arrive at l.
func NewServer(a Asker, s Subject, l net.Listener, host string) (*Server, error) {
	secrets := make([]byte, 24+9)
	if _, err := rand.Read(secrets); err != nil {
		return nil, err
	}
	token, folder := base64.RawURLEncoding.EncodeToString(secrets[:24]), base64.RawURLEncoding.EncodeToString(secrets[24:])
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return nil, err
	}
	out := &Server{asker: a, subject: s, folder: "/" + folder + "/", slots: make(chan struct{}, atWork)}
	out.door = serving.Door{Name: host, Port: port, Token: token, Page: true, Shown: out.shown}
	return out, nil
}

// URL returns the page's address with the token.
func (s *Server) URL() string {
	host := s.door.Name
	if a, err := netip.ParseAddr(host); host == "" || err == nil && a.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, s.door.Port) + s.folder + "?token=" + s.door.Token
}

// Serve answers requests until ctx ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	return serving.HTTP(ctx, l, s, serving.Limits{Strangers: serving.Strangers, Idle: cmp.Or(s.idle, idleTime)})
}

// policy allows the page only its own script and style, and requests to its own server.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	patient := &patientWriter{w, http.NewResponseController(w), cmp.Or(s.write, writeTime)}
	patient.more()
	defer patient.more() // for the rest of the answer
	s.answer(patient, r)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if status, why := s.refuse(r); status != 0 {
		h.Set("Connection", "close")
		http.Error(w, why, status)
		return
	}
	if s.mounted {
		s.route(w, r, r.URL.Path)
		return
	}
	path := r.URL.Path
	if rest, inside := strings.CutPrefix(path, s.folder); inside {
		path = "/" + rest
	}
	if given := r.URL.Query().Get("token"); given != "" && path == "/" {
		// All ports of a host share cookies. The path keeps the cookie from other servers on this machine.
		http.SetCookie(w, &http.Cookie{Name: cookiePrefix + s.door.Port, Value: s.door.Token, Path: s.folder, HttpOnly: true, SameSite: http.SameSiteStrictMode})
		h.Set("Location", s.folder)
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	s.route(w, r, path)
}

// refuse returns the reason to reject a request, or status 0.
func (s *Server) refuse(r *http.Request) (status int, why string) {
	site := r.Header.Get("Sec-Fetch-Site")
	switch {
	case s.mounted && r.Method != http.MethodGet && r.Method != http.MethodHead:
		return http.StatusMethodNotAllowed, "nothing can be changed here"
	case s.mounted && site != "" && site != "same-origin" && site != "none" && r.URL.Path != "/":
		return http.StatusForbidden, "a page of another server asks"
	case s.mounted:
		return 0, ""
	}
	if why := s.door.Foreign(r); why != "" {
		return http.StatusForbidden, why
	}
	switch {
	case site != "" && site != "same-origin" && site != "none" && r.URL.Path != "/" && r.URL.Path != s.folder:
		return http.StatusForbidden, "a page of another server asks"
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return http.StatusMethodNotAllowed, "nothing can be changed here"
	case !s.door.Opens(r):
		return http.StatusForbidden, "open the address that sosgo web printed: it has the token that this page is for"
	}
	return 0, ""
}

// shown returns the token of a request: in its address, as the browser's first request, in the cookie set in reply, or
// in a header.
func (s *Server) shown(r *http.Request) string {
	given := serving.Bearer(r)
	if c, err := r.Cookie(cookiePrefix + s.door.Port); err == nil && given == "" {
		given = c.Value
	}
	return cmp.Or(r.URL.Query().Get("token"), given)
}

// A servedFile is a file of the bundle.
type servedFile struct {
	kind   string // its media type
	packed []byte // gzip
	text   func() []byte
}

var files = map[string]servedFile{
	"/app.js":  {"text/javascript; charset=utf-8", packedScript, script},
	"/app.css": {"text/css; charset=utf-8", packedStyle, style},
}

// serve writes the file, compressed if the client accepts gzip.
func (f *servedFile) serve(w http.ResponseWriter, r *http.Request) {
	h, text := w.Header(), f.packed
	h.Set("Content-Type", f.kind)
	h.Add("Vary", "Accept-Encoding")
	if acceptsGzip(r.Header) {
		h.Set("Content-Encoding", "gzip")
	} else {
		text = f.text()
	}
	h.Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write(text) // a failed write means that the client is gone
}

// acceptsGzip reports whether a request accepts gzip with a weight above 0 (RFC 9110, 12.5.3).
func acceptsGzip(h http.Header) bool {
	for coding := range strings.SplitSeq(strings.Join(h.Values("Accept-Encoding"), ","), ",") {
		name, weight, weighted := strings.Cut(coding, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		_, number, _ := strings.Cut(weight, "=")
		q, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		return !weighted || err == nil && q > 0
	}
	return false
}

// route answers a request for a path of the page.
func (s *Server) route(w http.ResponseWriter, r *http.Request, path string) {
	file, isFile := files[path]
	command, isCommand := strings.CutPrefix(path, "/api/")
	switch {
	case path == "/":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, page(s.subject)) // a failed write means that the client is gone
	case isFile:
		file.serve(w, r)
	case path == "/subject.json":
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.subject)
	case path == "/line":
		s.work(w, r, "text/plain; charset=utf-8", func(w io.Writer) { s.asker.Line(r.Context(), r.URL.Query().Get("line"), w) })
	case path == "/complete":
		found, length := s.asker.Complete(r.URL.Query().Get("line"))
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(completions{found[:min(len(found), mostCompletions)], length})
	case path == "/progress":
		w.Header().Set("Content-Type", "application/json")
		at, ok := s.watches.at(r.URL.Query().Get("watch"))
		if !ok {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		_ = json.NewEncoder(w).Encode(at)
	case isCommand && command != "":
		s.document(w, r, command)
	default:
		http.NotFound(w, r)
	}
}

// mostCompletions is the maximum number of completions.
const mostCompletions = 500

type completions struct {
	Found  []string `json:"found"`
	Length int      `json:"length"` // characters at the end of the line to replace
}

// document answers /api/COMMAND?a=ARGUMENT&a=ARGUMENT&from=N&count=N with a document. With last, from counts from the
// end of lists; list=NAME cuts only that list. /progress?watch=NAME returns the progress of the question with
// watch=NAME.
func (s *Server) document(w http.ResponseWriter, r *http.Request, command string) {
	q := r.URL.Query()
	from, err := number(q.Get("from"), 0, math.MaxInt)
	count, err2 := number(q.Get("count"), pageItems, maxItems)
	if err != nil || err2 != nil {
		http.Error(w, "from and count are numbers; count is at most "+strconv.Itoa(maxItems), http.StatusBadRequest)
		return
	}
	words := append([]string{command}, q["a"]...)
	ctx, end := s.watches.add(r.Context(), q.Get("watch"))
	defer end()
	s.work(w, r, "application/json", func(w io.Writer) {
		s.asker.Ask(ctx, words, report.Window{From: from, Count: count, Last: q.Has("last"), List: q.Get("list")}, w)
	})
}

// work runs a command when a slot is free, unless the client has gone.
func (s *Server) work(w http.ResponseWriter, r *http.Request, kind string, run func(io.Writer)) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-r.Context().Done():
		return
	}
	w.Header().Set("Content-Type", kind)
	if r.Method == http.MethodGet {
		run(w)
	}
}

func number(text string, other, most int) (int, error) {
	if text == "" {
		return other, nil
	}
	n, err := strconv.Atoi(text)
	if err == nil && (n < 0 || n > most) {
		err = fmt.Errorf("%d is not between 0 and %d", n, most)
	}
	return n, err
}

// first are the summary's first questions, which need no walk of the heap. The page's head preloads them, so that they
// are computed while the browser loads the application.
var first = []string{"quick", "crash", "doctor"}

// preload returns the head elements that request the first questions' documents.
var preload = sync.OnceValue(func() string {
	_, by, err := questions()
	if err != nil {
		panic(err) // an embedded file is always valid
	}
	var b strings.Builder
	for _, name := range first {
		q := by[name]
		b.WriteString(`<link rel="preload" as="fetch" crossorigin href="` + html.EscapeString(q.address()) + `">`)
	}
	return b.String()
})

// page returns the page that loads the application from the server.
func page(s Subject) string {
	return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">` +
		`<meta name="color-scheme" content="light dark"><title>` + title(s) + `</title><link rel="icon" href="data:,">` + preload() +
		`<link rel="stylesheet" href="app.css"><script src="app.js" defer></script></head><body><div id="app"></div>` + noScript + `</body></html>`
}

const noScript = `<noscript>This page needs JavaScript. It runs from this file or server alone.</noscript>`
