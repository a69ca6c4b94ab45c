// Package shownurl writes addresses so that others may see them.
package shownurl

import (
	"net/url"
	"strings"
)

// Of returns an address without its user, its password and its query, which may contain a signature. All errors, warnings and
// answers with the address of a dump or of a symbol server have it in this form.
func Of(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		scheme, _, found := strings.Cut(address, "://")
		if !found {
			return "…"
		}
		return scheme + "://…"
	}
	if u.RawQuery != "" {
		u.RawQuery = "…"
	}
	u.Fragment, u.User = "", nil
	s, _ := url.PathUnescape(u.String())
	return s
}

// Path returns the path of a dump as others may see it: an address as by Of.
func Path(path string) string {
	if Is(path) {
		return Of(path)
	}
	return path
}

// Is reports whether a path is an address of http, https or s3.
func Is(path string) bool {
	scheme, _, found := strings.Cut(path, "://")
	return found && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "s3"))
}
