package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCheck: an error of one target is reported for that target only.
func TestCheck(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	write := func(name, text string) { require.NoError(t, os.WriteFile(name, []byte(text), 0o644)) }
	write("go.mod", "module example.org/m\n\ngo 1.26\n")
	fails := func(target, want string) {
		t.Helper()
		n, err := check(target)
		if want == "" {
			require.NoError(t, err)
			assert.Equal(t, 1, n)
			return
		}
		require.ErrorContains(t, err, want)
	}
	write("m.go", "package m\n\nimport \"strconv\"\n\nvar Large int = 1 << 31\n\nfunc Text() string { return strconv.Itoa(Large) + suffix() }\n")
	write("m_linux.go", "package m\n\nfunc suffix() string { return \"\" }\n")
	fails("linux/amd64", "")
	fails("linux/386", "overflows)")
	fails("freebsd/amd64", "undefined: suffix")
	fails("freebsd/amd64:./...", "undefined: suffix")
	write("m_freebsd.go", "package m\n\nfunc suffix() string\n")
	fails("freebsd/amd64", "missing function body")
	write("m_freebsd.go", "package m\n\nfunc suffix() string { return 1 }\n")
	fails("freebsd/amd64", "cannot use 1")
	fails("linux/amd64", "")
	fails("linux", "OS/ARCH")
	fails("linux/z80", "OS/ARCH")
	fails("linux/amd64:strconv", "no packages of this module")
}
