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
		"bob:pw@h/?sig=x": "h/?…",
	} {
		assert.Equal(t, want, shownurl.Of(address), address)
	}
}

// TestIn: nor from a text with one, as an error of the system has it.
func TestIn(t *testing.T) {
	for text, want := range map[string]string{
		"open  https://bob:pw@h/a?sig=x: no such file":                        "open  https://h/a?…: no such file",
		"two: http://bob:pw@h/a?sig=x and http:/bob:pw@h/b (httpx://h?sig=x)": "two: http://h/a?… and http://h/b (httpx://h?…)",
		"stat \"https://bob:p%zz@h/\"":                                        "stat \"https://…\"",
		"https://h/a?…: 404":                                                  "https://h/a?…: 404",
		"https://h/a%20b, C:/a@b?, D:\\x?":                                    "https://h/a%20b, C:/a@b?, D:\\x?",
		"a/b?c@d: no such file":                                               "a/b?c@d: no such file",
	} {
		assert.Equal(t, want, shownurl.In(text), text)
	}
}
