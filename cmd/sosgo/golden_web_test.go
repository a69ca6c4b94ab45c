package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testcli"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// goldenWebLines are like goldenLines, for the dump of a web server. The addresses are the collections in
// testdata/dumps/web/commands.txt.
var goldenWebLines = map[string][]string{
	"requests":    {"requests", "requests -url /orders -headers -scopes -stacks", "requests -thread 13", "findhttpcontext /chat", "findhttpcontext -url /ORDERS -header accept", "findhttpcontext -thread 12 -url /orders", "findhttpcontext -user nobody", "findhttpcontext a -url b", "findhttpcontext /nowhere", "findhttpcontext", "dumprequests"},
	"http":        {"dumphttp", "dumphttp -pending", "dumphttp --stats", "httpclients"},
	"sqlpools":    {"sqlpools", "sqlpools -stacks", "sqlpools -brief -secrets"},
	"hosting":     {"services", "caches"},
	"collections": {"items 7f15b04e18c0", "dumpobj 7f15b04e18c0", "items -find two 7f15b04e18c0"},
}

// TestGoldenWeb is like TestGolden, for the dump of a web server.
func TestGoldenWeb(t *testing.T) {
	d := testdump.OpenWeb(t, "web-net10")
	path, err := filepath.Rel(moduleRoot, d.Path)
	require.NoError(t, err)
	kept := testcli.Kept{Path: filepath.ToSlash(path)}
	env := kept.Env()
	for name, lines := range goldenWebLines {
		var got strings.Builder
		for _, line := range lines {
			for _, form := range slices.Sorted(maps.Keys(goldenForms)) {
				out, errs, code := runIn(t, env, slices.Concat([]string{"-d", kept.Path}, goldenForms[form], []string{"-c", line})...)
				fmt.Fprintf(&got, "==== web-net10 %s: %s\n%s%s", form, line, abridge(out, 16), abridge(errs, 3))
				if code != 0 {
					fmt.Fprintf(&got, "exit code %d\n", code)
				}
			}
		}
		compareGolden(t, filepath.Join(moduleRoot, "cmd", "sosgo", "testdata", "golden", "web", name+".txt"), got.String())
	}
	require.NoError(t, kept.Close())
}
