package serving

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

// A Door decides which requests a server answers.
type Door struct {
	Name  string // by which requests may call the server, besides addresses and localhost
	Port  string
	Token string
	Page  bool // pages of the server itself may ask
	// Shown returns the token of a request. nil reads the header "Authorization: Bearer TOKEN".
	Shown func(*http.Request) string
}

// Foreign returns why a request is not for this server, or "": its Host is another name, which may be a page's attempt
// to reach the server (DNS rebinding), or a page of another server sent it.
func (d *Door) Foreign(r *http.Request) (why string) {
	origin := r.Header.Get("Origin")
	switch {
	case !d.isHost(r.Host):
		return "this server is not called " + strconv.QuoteToASCII(r.Host)
	case origin != "" && !d.Page:
		return "this server is not for pages"
	case origin != "" && origin != "http://"+r.Host:
		return "a page of another server asks"
	}
	return ""
}

// isHost reports whether a Host header is an address or a name of this server.
func (d *Door) isHost(hostport string) bool {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		host, port = strings.Trim(hostport, "[]"), "80"
	}
	if port != d.Port {
		return false
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return strings.EqualFold(host, "localhost") || d.Name != "" && strings.EqualFold(host, d.Name)
}

// Opens reports whether a request has the token. If so, its connection is trusted.
func (d *Door) Opens(r *http.Request) bool {
	shown := d.Shown
	if shown == nil {
		shown = Bearer
	}
	if d.Token == "" || subtle.ConstantTimeCompare([]byte(shown(r)), []byte(d.Token)) != 1 {
		return false
	}
	if c, ok := r.Context().Value(connKey{}).(net.Conn); ok {
		Trust(c)
	}
	return true
}

// Bearer returns the token of the header Authorization.
func Bearer(r *http.Request) string {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return token
}
