package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/test/testcli"
)

// planted is the folder of a dump with secrets, which facts.txt lists.
const planted = "../../testdata/dumps/secrets/net10-secrets"

// plantedValues returns the lines of the planted secrets.
func plantedValues(t *testing.T) (values []string) {
	t.Helper()
	text, err := os.ReadFile(planted + "/facts.txt")
	if err != nil {
		t.Skip("no canned dump")
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "PLANT "); ok {
			_, value, _ := strings.Cut(rest, " ")
			values = append(values, strings.Split(value, `\n`)...)
		}
	}
	require.Greater(t, len(values), 60)
	return values
}

// shownIn returns the planted values that an output has.
func shownIn(out []byte, values []string) (shown []string) {
	for _, v := range values {
		if bytes.Contains(out, []byte(v)) {
			shown = append(shown, v)
		}
	}
	return shown
}

// TestRedact searches the output and written files for the planted secrets. With masking none may appear; without it,
// some must.
func TestRedact(t *testing.T) {
	values := plantedValues(t)
	dump, err := filepath.Abs(planted + "/net10-secrets.dmp.zst")
	require.NoError(t, err)
	kept := testcli.Kept{Path: dump}
	env := environment(nil)
	env.Open, env.KeepOpen = kept.Env().Open, true
	for _, c := range []struct {
		line  string
		sends bool
	}{
		{"dumpheap -strings", false}, {"--json dumpheap -strings", false}, {"process -full", false}, {"dumpheap -type Account", false},
		{"summarize", true}, {"report -o OUT", true}, {"export csv OUT", true}, {"export ndjson OUT", true}, {"export heapsnapshot OUT", true}, {"export gcdump OUT", true}, {"export folded OUT", true},
	} {
		for _, redact := range []bool{true, false} {
			out := filepath.Join(t.TempDir(), "out")
			args := strings.Fields(strings.ReplaceAll(c.line, "OUT", out))
			switch {
			case redact && !c.sends:
				args = append([]string{"--redact"}, args...)
			case !redact && c.sends:
				args = append(args, "-full")
			}
			var all bytes.Buffer
			var errs bytes.Buffer
			code := cli.Main(t.Context(), append([]string{"-d", dump, "--offline"}, args...), strings.NewReader(""), &all, &errs, env)
			require.Zero(t, code, "%s: %s", c.line, errs.String())
			all.Write(errs.Bytes())
			require.NoError(t, filepath.WalkDir(filepath.Dir(out), func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				b, err := os.ReadFile(path)
				all.Write(b)
				return err
			}))
			shown := shownIn(all.Bytes(), values)
			switch {
			case redact:
				assert.Empty(t, shown, c.line)
			case strings.Contains(c.line, "string") || strings.Contains(c.line, "process") || strings.Contains(c.line, "csv"):
				assert.NotEmpty(t, shown, "%s: not masked, but nothing is there", c.line)
			}
			if strings.Contains(c.line, "-strings") {
				assert.Equal(t, redact, strings.Contains(all.String(), secrets.Mask), c.line)
			}
		}
	}
	require.NoError(t, kept.Close())
	_, errs, code := run(t, "-d", dump, "--redact", "dq", "7f0000000000")
	assert.Equal(t, cli.ExitUsage, code)
	assert.Contains(t, errs, "no bytes of memory are shown")
	out, _, code := run(t, "-d", dump, "doctor", "-secrets")
	assert.Zero(t, code)
	assert.Contains(t, out, "known values, which --redact masks")
}
