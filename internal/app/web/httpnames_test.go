package web

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestHeaderNames checks the header names of Kestrel's fields, and which headers are secrets.
func TestHeaderNames(t *testing.T) {
	for field, want := range map[string]string{"_ContentType": "Content-Type", "_Host": "Host", "_TE": "TE", "_TraceParent": "traceparent", "_Authority": ":authority",
		"_AccessControlRequestMethod": "Access-Control-Request-Method", "bits": "", "_": ""} {
		assert.Equal(t, want, headerName(field), field)
	}
	for name, want := range map[string]bool{"Authorization": true, "Proxy-Authorization": true, "Cookie": true, "X-Api-Key": true, "X-Auth-Token": true, "Host": false, "User-Agent": false,
		"X-Correlation-Id": false, "Content-Type": false} {
		assert.Equal(t, want, secretHeader(name), name)
	}
}

// TestHostOf checks the host of valid and invalid URIs.
func TestHostOf(t *testing.T) {
	for uri, want := range map[string]string{"http://a.example:80/x": "a.example", "ws://h/y": "h", "/relative": "", "http://%zz/": "%zz", "": ""} {
		assert.Equal(t, want, uriHost(uri), uri)
	}
}
