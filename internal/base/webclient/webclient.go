// Package webclient makes the HTTP clients of symbol servers, dumps at addresses and S3. They follow one set of rules: what
// a server may redirect to, what another server learns, and how long a server may take to connect and to answer. How
// much of an answer is read, and for how long in all, is up to those who know what they ask for.
package webclient

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"time"
)

const (
	connectTimeout = 15 * time.Second // also for TLS
	headerTimeout  = 30 * time.Second
	maxRedirects   = 5
	maxHeader      = 64 << 10 // bytes of an answer's head, which errors quote
)

// Options configure a client. Others is required.
type Options struct {
	// Others returns why the server at from may not redirect to the other server at to, or nil.
	Others func(from, to *url.URL) error

	Roots       *x509.CertPool // nil means the system's
	Header      time.Duration  // how long a server may take to answer; 0 means 30 seconds
	Connections int            // idle ones that are kept for a server; 0 means Go's default
	Exact       bool           // requests parts of files, which compression would change
}

// A RedirectError reports a redirect that was not followed. Asking again is no use.
type RedirectError struct{ error }

func (e *RedirectError) Unwrap() error { return e.error }

// A Transport refuses answers that switch to another protocol: net/http gives their connections for bodies, which no time-out ends.
type Transport struct{ *http.Transport }

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.Transport.RoundTrip(r)
	if err == nil && resp.StatusCode == http.StatusSwitchingProtocols {
		resp.Body.Close()
		return nil, errors.New("the server switches to another protocol")
	}
	return resp, err
}

// New returns a client. Its Transport is a *Transport.
func New(o Options) *http.Client {
	return &http.Client{
		Transport: &Transport{&http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			TLSClientConfig:        &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12},
			DialContext:            (&net.Dialer{Timeout: connectTimeout}).DialContext,
			TLSHandshakeTimeout:    connectTimeout,
			ResponseHeaderTimeout:  cmp.Or(o.Header, headerTimeout),
			MaxIdleConnsPerHost:    o.Connections,
			DisableCompression:     o.Exact,
			MaxResponseHeaderBytes: maxHeader,
			ForceAttemptHTTP2:      true,
		}},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if err := o.redirect(r, via); err != nil {
				return &RedirectError{err}
			}
			return nil
		},
	}
}

// credentials are the headers that only the server that was asked may see. Go removes some of them, unless the other
// server is a subdomain.
var credentials = []string{"Authorization", "X-Amz-Security-Token", "Cookie"}

// redirect decides whether to follow a redirect. Otherwise a server could make this machine send requests to any other
// server that it can reach.
func (o *Options) redirect(r *http.Request, via []*http.Request) error {
	first, last, to := via[0].URL, via[len(via)-1].URL, r.URL
	r.Header.Del("Referer") // an address may be signed
	switch {
	case len(via) > maxRedirects:
		return fmt.Errorf("more than %d redirections", maxRedirects)
	case last.Scheme == "https" && to.Scheme != "https":
		return errors.New("redirection from https to " + to.Scheme)
	case sameServer(first, to):
		return nil
	}
	for _, name := range credentials {
		r.Header.Del(name)
	}
	return o.Others(first, to)
}

// sameServer reports whether to is an address of the server of from, or of its https port.
func sameServer(from, to *url.URL) bool {
	return strings.EqualFold(from.Hostname(), to.Hostname()) && (portOf(from) == portOf(to) || portOf(from) == "80" && portOf(to) == "443")
}

func portOf(u *url.URL) string {
	return cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
}

// WithoutAddress removes the address that net/http adds to its errors, and the addresses and lines of an answer's head that it quotes. Their queries may
// contain a signature.
func WithoutAddress(err error) error {
	u := (*url.Error)(nil)
	if !errors.As(err, &u) {
		return err
	}
	if errors.As(u.Err, new(textproto.ProtocolError)) {
		return errors.New("the head of the answer is malformed")
	}
	if before, _, found := strings.Cut(u.Err.Error(), locationHeader); found {
		return errors.New(before + locationHeader)
	}
	return u.Err
}

// locationHeader is where net/http's error about an address to redirect to begins to quote it.
const locationHeader = " Location header"
