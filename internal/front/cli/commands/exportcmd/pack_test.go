package exportcmd_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/test/testcase"
)

// members returns the files in a pack.
func members(t *testing.T, file string) map[string][]byte {
	t.Helper()
	packed, err := os.ReadFile(file)
	require.NoError(t, err)
	out := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(unzstd(t, packed))); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		require.NoError(t, err)
		b, err := io.ReadAll(r)
		require.NoError(t, err)
		name := h.Name + "|" + h.PAXRecords[dump.PackPathRecord] + "|" + h.Uname + h.Gname
		out[name] = b
	}
}

// packOf runs pack and returns its answer.
func packOf(t *testing.T, args ...string) (out answer.Pack) {
	t.Helper()
	text, errs, code := run(t, append([]string{"--json"}, args...)...)
	require.Contains(t, []int{0, 3}, code, errs)
	var doc struct{ Result *answer.Pack }
	doc.Result = &out
	require.NoError(t, json.Unmarshal([]byte(text), &doc), text)
	return out
}

// only reads the names of files in a folder.
func only(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// TestPackScrubbed checks that no planted secret is in a pack that was scrubbed and shrunk, and that the pack answers.
func TestPackScrubbed(t *testing.T) {
	in := unpacked(t, "secrets/net10-secrets")
	raw, err := os.ReadFile(in)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(in, atHome(t, raw), 0o600))
	hidden := append(planted(t), user)
	for _, options := range [][]string{{"-scrub", "-shrink"}, {"-scrub"}} {
		dir := t.TempDir()
		out := filepath.Join(dir, "pack.tar.zst")
		a := packOf(t, append([]string{"-d", in, "pack", "-o", out}, options...)...)
		assert.Equal(t, []string{"pack.tar.zst"}, only(t, dir))
		if runtime.GOOS != "windows" {
			st, err := os.Stat(out)
			require.NoError(t, err)
			assert.EqualValues(t, 0o600, st.Mode().Perm())
		}
		assert.NotNil(t, a.Scrubbed)
		assert.Equal(t, len(options) == 2, a.Shrunk != nil)
		assert.NotEmpty(t, a.Receiver)
		for name, b := range members(t, out) {
			for _, secret := range hidden {
				assert.False(t, bytes.Contains(b, []byte(secret)), "%s has %s", name, secret)
				assert.False(t, bytes.Contains(b, wide(secret)), "%s has %s", name, secret)
			}
		}
		for _, command := range []string{"clrstack -all", "waits", "dumpheap -stat"} {
			before, _, _ := run(t, "-d", in, "-c", command)
			after, errs, code := run(t, "-d", out, "-c", command)
			assert.Zero(t, code, errs)
			assert.Equal(t, before, after, command)
		}
	}
}

// TestPackFiles checks that only .NET's own module files go into a scrubbed pack, under the paths of the new dump.
func TestPackFiles(t *testing.T) {
	testcase.Corpus(t, testcase.Named("net10-zoo-withheap", "net8-heap-withheap"), func(t *testing.T, c *testcase.Case) int {
		testcase.NeedModules(t, c)
		out := filepath.Join(t.TempDir(), "pack.tar.zst")
		a := packOf(t, "-d", c.Path, "--modules", c.Modules, "pack", "-scrub", "-shrink", "-o", out)
		require.NotEmpty(t, a.Files)
		require.NotEmpty(t, a.Withheld, "the program's own")
		own := regexp.MustCompile(`(?i)^modules/\d+/(lib)?(system\.|microsoft\.|coreclr|clrjit|hostfxr|hostpolicy)[^|]*\|[^|]+\|$`)
		n := 0
		for name := range members(t, out) {
			if !strings.HasPrefix(name, dump.PackModuleDir) {
				continue
			}
			assert.Regexp(t, own, name)
			n++
		}
		assert.Len(t, a.Files, n)
		for _, p := range a.Receiver {
			assert.Equal(t, answer.PartWhole, p.State, "%s: %s", p.Part, p.Detail)
		}
		plain := filepath.Join(t.TempDir(), "plain.tar.zst")
		all := packOf(t, "-d", c.Path, "--modules", c.Modules, "pack", "-o", plain)
		assert.Greater(t, len(all.Files), n)
		return n
	})
}

// TestPackRefused checks that a pack does not replace a file, and that an error leaves nothing.
func TestPackRefused(t *testing.T) {
	in := unpacked(t, "net10-crash-null-triage")
	dir := t.TempDir()
	there := filepath.Join(dir, "there")
	require.NoError(t, os.WriteFile(there, []byte("mine"), 0o644))
	_, errs, code := run(t, "-d", in, "pack", "-scrub", "-o", there)
	assert.Equal(t, 1, code, errs)
	assert.Contains(t, errs, "already exists")
	_, errs, code = run(t, "-d", in, "pack", "-numbers", "-o", filepath.Join(dir, "n"))
	assert.Equal(t, 1, code, errs)
	_, errs, code = run(t, "-d", in, "pack", "-shrink", "-o", filepath.Join(dir, "none", "n"))
	assert.NotZero(t, code, errs)
	// A shrunk dump is not scrubbed: what was left out would be taken for data.
	shrunk := filepath.Join(t.TempDir(), "s.dmp")
	_, errs, code = run(t, "shrink", in, "-o", shrunk)
	require.Zero(t, code, errs)
	_, errs, code = run(t, "-d", shrunk, "pack", "-scrub", "-shrink", "-o", filepath.Join(dir, "n"))
	assert.Equal(t, 5, code, errs)
	assert.Contains(t, errs, "scrub the dump before")
	assert.Equal(t, []string{"there"}, slices.Compact(only(t, dir)))
	b, err := os.ReadFile(there)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(b))
}
