package shownurl_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/base/shownurl"
)

// TestOf: nobody learns a password or a signature from an address that is shown.
func TestOf(t *testing.T) {
	for address, want := range map[string]string{
		"https://h/a/b.dmp": "https://h/a/b.dmp", "https://bob:pw@h:81/a?sig=x#y": "https://h:81/a?…", "https://bob:p w@h/": "https://…", "bob:p%zz": "…", "h/x y": "h/x y",
	} {
		assert.Equal(t, want, shownurl.Of(address), address)
	}
}
