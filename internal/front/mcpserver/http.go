package mcpserver

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
	"time"

	"github.com/sosgo/sosgo/internal/front/mcpguard"
	"github.com/sosgo/sosgo/internal/front/serving"
)

const (
	idleTime  = time.Hour       // how long a session of a silent client stays
	quietTime = 2 * time.Minute // how long a connection without a request stays
	strangers = 256             // connections that have not shown the token yet: agents make many calls at once
)

// Token returns a word that nobody guesses.
func Token() string { return rand.Text() }

// ServeHTTP serves clients with the token at l until ctx ends, over the streamable transport. It serves programs, not
// web pages.
func (s *Server) ServeHTTP(ctx context.Context, l net.Listener, token string) error {
	defer s.calls.Wait()
	protocol := mcpguard.NewHandler(s.protocol, idleTime)
	defer protocol.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return err
	}
	door := serving.Door{Port: port, Token: token}
	return serving.HTTP(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := door.Foreign(r); why != "" {
			w.Header().Set("Connection", "close")
			http.Error(w, why, http.StatusForbidden)
			return
		}
		if !door.Opens(r) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.Header().Set("Connection", "close")
			http.Error(w, "the token that sosgo mcp printed is missing", http.StatusUnauthorized)
			return
		}
		protocol.ServeHTTP(w, r)
	}), serving.Limits{Strangers: strangers, Idle: quietTime, Body: mcpguard.MaxMessage + 1}) // mcpguard refuses longer messages with its own words
}
