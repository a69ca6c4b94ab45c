package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRename: the folders of modules get other names wherever their paths stand, in UTF-8 and UTF-16. Others, longer names and single names stay.
func TestRename(t *testing.T) {
	list := renames([]string{"/home/anna/src/shop/shop.dll", "/home/anna/bin/tool.so", "/usr/lib/x86/libc.so.6", "/app/net8/a.dll", `C:\Users\Anna\Shop\shop.dll`, `C:\Windows\System32\ntdll.dll`, "[vdso]", "/x/y"})
	wide := func(s string) string { return string(spelled(s, 2)) }
	for from, to := range map[string]string{
		"/home/anna/src/shop/shop.dll": "",
		"/home/anna/bin/tool.so":       "",
		"/home/anna":                   "",
		"PWD=/home/anna/src\x00":       "",
		`"/home/anna/src"`:             "",
		"/home/annabel/x":              "/home/annabel/x",
		"/home/annex":                  "/home/annex",
		"/home of anna":                "/home of anna",
		"/usr/lib/x86/libc.so.6":       "/usr/lib/x86/libc.so.6",
		"/app/net8/a.dll":              "/app/net8/a.dll",
		`C:\Users\Anna\Shop\shop.dll`:  "",
		`C:\Windows\System32\x`:        `C:\Windows\System32\x`,
	} {
		for _, spell := range []func(string) string{func(s string) string { return s }, wide} {
			file := []byte(spell("before " + from))
			n := apply(file, list)
			assert.Len(t, file, len(spell("before "+from)))
			if from == to {
				assert.Equal(t, spell("before "+from), string(file))
				assert.Zero(t, n)
				continue
			}
			assert.NotContains(t, strings.ReplaceAll(strings.ToLower(string(file)), "\x00", ""), "anna", from)
			assert.Equal(t, 1, n, from)
		}
	}
	names := map[string]bool{}
	for _, r := range list {
		assert.Len(t, r.to, len(r.from))
		assert.False(t, names[r.to], "two folders have the name %s", r.to)
		names[r.to] = true
	}
}
