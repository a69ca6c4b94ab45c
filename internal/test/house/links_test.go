package house_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testcase"
)

// TestTheLibraryLinksNoNetwork checks that a program that imports the root package links no network
// code and no code that starts processes. Such code is in package internal/files/symbolserver.
func TestTheLibraryLinksNoNetwork(t *testing.T) {
	root, err := testcase.ModuleRoot()
	require.NoError(t, err)
	deps := func(pkg string, env ...string) []string {
		list := exec.CommandContext(t.Context(), "go", "list", "-deps", pkg)
		list.Dir, list.Env = root, append(append(os.Environ(), "GOFLAGS="), env...) // the test run's flags may request JSON
		out, err := list.Output()
		require.NoError(t, err)
		return strings.Fields(string(out))
	}
	library := deps(".")
	require.Contains(t, library, modulePath+"/heap")
	for _, pkg := range []string{"net", "net/http", "crypto/tls", "os/exec", modulePath + "/internal/files/symbolserver", "testing"} {
		assert.NotContains(t, library, pkg)
	}
	assert.Contains(t, deps("./remote"), "net/http", "the list has what a package links")
	const live = modulePath + "/internal/live/collect"
	assert.NotContains(t, library, live)
	assert.NotContains(t, deps("./cmd/sosgo-browser", "GOOS=js", "GOARCH=wasm"), live)
	assert.Contains(t, deps("./cmd/sosgo"), live)
}
