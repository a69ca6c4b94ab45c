package web

import (
	"net/url"
	"strings"
)

// headerName returns the header of one of Kestrel's fields, such as Content-Type for _ContentType, or "".
func headerName(field string) string {
	name, ok := strings.CutPrefix(field, "_")
	if !ok || name == "" || name[0] < 'A' || name[0] > 'Z' {
		return ""
	}
	switch name {
	case "TE", "Authority", "Method", "Path", "Protocol", "Scheme": // HTTP/2 headers begin with a colon
		if name != "TE" {
			return ":" + strings.ToLower(name)
		}
		return name
	case "TraceParent", "TraceState":
		return strings.ToLower(name)
	case "ETag":
		return name
	}
	var b strings.Builder
	for i, c := range name {
		if i > 0 && c >= 'A' && c <= 'Z' {
			b.WriteByte('-')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// secretHeader reports whether a header is a secret: a known one, or one with a telling name.
func secretHeader(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"authorization", "cookie", "token", "secret", "password", "passwd", "api-key", "apikey", "access-key",
		"credential", "session", "signature", "assertion", "x-auth", "x-ms-client-principal", "client-cert"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// uriServer returns the host of a URI with its port, and without a user and a password. It is "" for a URI that can't be parsed.
func uriServer(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	return u.Host
}

// uriHost returns the host of a URI without its port, or "" for a relative URI.
func uriHost(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		_, rest, _ := strings.Cut(s, "://")
		return strings.FieldsFunc(rest+"/", func(c rune) bool { return strings.ContainsRune("/:?#", c) })[0]
	}
	return u.Hostname()
}
