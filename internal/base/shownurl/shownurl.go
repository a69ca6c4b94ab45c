// Package shownurl writes addresses so that others may see them.
package shownurl

import (
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// Of returns an address without its user, its password and its query, which may contain a signature. All errors, warnings and
// answers with the address of a dump or of a symbol server have it in this form.
func Of(address string) string {
	scheme, _, found := strings.Cut(address, "://")
	hidden := "…"
	if found {
		hidden = scheme + "://…"
	}
	u, err := url.Parse(address)
	if err != nil {
		return hidden
	}
	if u.Opaque != "" && strings.Contains(address, "@") { // USER:PASSWORD@HOST without a scheme
		return strings.TrimPrefix(Of("//"+address), "//")
	}
	if u.RawQuery != "" {
		u.RawQuery = "…"
	}
	u.Fragment, u.User = "", nil
	if s, err := url.PathUnescape(u.String()); err == nil {
		return s
	}
	return hidden
}

// addresses are the parts of a text that look like addresses.
var addresses = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]+:/{1,2}[^\s"'<>/][^\s"'<>]*`)
})

// In returns a text, such as an error of the system, with the addresses in it as by Of.
func In(text string) string {
	if !strings.Contains(text, ":/") {
		return text
	}
	return addresses().ReplaceAllStringFunc(text, func(found string) string {
		end := len(strings.TrimRight(found, ".,:;)]}"))
		address := found[:end]
		if !strings.ContainsAny(address, "@?") {
			return found
		}
		scheme, rest, _ := strings.Cut(address, ":")
		return Of(scheme+"://"+strings.TrimLeft(rest, "/")) + found[end:] // also of an address with one slash
	})
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
