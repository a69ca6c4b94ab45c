package mcpserver

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/sosgo/sosgo/internal/front/mcpguard"
)

const (
	headerTime = 10 * time.Second // bounds how long a client takes to say what it wants
	maxHeader  = 64 << 10         // the longest head of a request in bytes
	idleTime   = time.Hour        // how long a session of a silent client stays
	quietTime  = 2 * time.Minute  // how long a connection without a request stays
)

// Token returns a word that nobody guesses.
func Token() string { return rand.Text() }

// ServeHTTP serves clients with the token at l until ctx ends, over the streamable transport. It serves programs, not
// web pages.
func (s *Server) ServeHTTP(ctx context.Context, l net.Listener, token string) error {
	defer s.calls.Wait()
	protocol := mcpguard.NewHandler(s.protocol, idleTime)
	defer protocol.Close()
	h := &http.Server{ReadHeaderTimeout: headerTime, IdleTimeout: quietTime, MaxHeaderBytes: maxHeader, BaseContext: func(net.Listener) context.Context { return ctx },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			switch {
			case r.Header.Get("Origin") != "":
				http.Error(w, "this server is not for pages", http.StatusForbidden)
			case subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1:
				w.Header().Set("WWW-Authenticate", "Bearer")
				http.Error(w, "the token that sosgo mcp printed is missing", http.StatusUnauthorized)
			default:
				protocol.ServeHTTP(w, r)
			}
		})}
	defer context.AfterFunc(ctx, func() { _ = h.Close() })()
	err := h.Serve(l)
	if ctx.Err() != nil {
		return nil
	}
	return err
}
