package house_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheLibraryLinksNoNetwork: a program that imports the root package, opens a dump and asks it links no client or server of any
// protocol, and starts no process. image/symbolserver has what needs them.
func TestTheLibraryLinksNoNetwork(t *testing.T) {
	deps := func(pkg string) []string {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", pkg).Output()
		require.NoError(t, err)
		return strings.Fields(string(out))
	}
	library := deps(".")
	require.Contains(t, library, modulePath+"/heap")
	for _, pkg := range []string{"net", "net/http", "crypto/tls", "os/exec", modulePath + "/image/symbolserver", "testing"} {
		assert.NotContains(t, library, pkg)
	}
	assert.Contains(t, deps("./image/symbolserver"), "net/http", "the list has what a package links")
}
