package main

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/encoding/utf16text"
)

// cuts returns the beginnings of the values that readers of net10-slices cut, as the program wrote them: five characters of each.
func cuts(t *testing.T) (list []string) {
	t.Helper()
	facts, err := os.ReadFile(filepath.Join(moduleRoot, "testdata/dumps/secrets/net10-slices/facts.txt"))
	require.NoError(t, err)
	const shown = 5
	for line := range strings.Lines(string(facts)) {
		value, ok := strings.CutPrefix(strings.TrimSpace(line), "CUT ")
		if !ok {
			continue
		}
		start := string([]rune(value)[:shown])
		units := ""
		for _, u := range utf16text.Units(start) {
			if u < 0x80 && (u >= '0' && u <= '9' || u >= 'A' && u <= 'Z' || u >= 'a' && u <= 'z') {
				units += string(rune(u))
			} else {
				units += fmt.Sprintf(`\u%04x`, u)
			}
		}
		list = append(list, start, base64.RawStdEncoding.EncodeToString([]byte(value))[:shown+1], strings.ReplaceAll(url.QueryEscape(start), "-", "%2D"), units, strings.ReplaceAll(units, `\`, `\\`))
	}
	require.Len(t, list, 10)
	return list
}

// TestCutSecrets: copies of a value, plain, in base64, and with the escapes of URLs and JSON, cross the places where readers cut texts: no answer has more
// of it than three characters.
func TestCutSecrets(t *testing.T) {
	k, beginnings := openPlants(t, "net10-slices"), cuts(t)
	lines := [][]string{{"dumpheap", "-strings"}, {"dumpheap", "-strings", "-stat"}, {"query", "from strings | select text"}, {"query", "from System.Text.StringBuilder | select this"}, {"waste"}}
	for _, kind := range []string{"System.Text.StringBuilder", "System.Byte[]"} {
		list := strings.Fields(k.ask(t, "dumpheap", "-short", "-type", kind))
		require.Greater(t, len(list), 6)
		for _, at := range list {
			lines = append(lines, []string{"dumpobj", at})
			if kind != "System.Byte[]" {
				lines = append(lines, []string{"items", at}, []string{"eval", "obj(0x" + at + ")"})
			}
		}
	}
	was := 0
	for _, line := range lines {
		for _, form := range []string{"--json=false", "--json"} {
			masked, plain := k.ask(t, append([]string{"--redact", form}, line...)...), k.ask(t, append([]string{form}, line...)...)
			for _, b := range beginnings {
				assert.NotContains(t, masked, b, line)
				if strings.Contains(plain, b) {
					was++
				}
			}
		}
	}
	assert.Greater(t, was, 100)
	for _, form := range []string{"ndjson", "csv"} {
		for _, option := range []string{"", "-full"} {
			folder, text := t.TempDir()+"/x", ""
			words := []string{"export", form, folder}
			if option != "" {
				words = []string{"export", form, option, folder}
			}
			k.ask(t, words...)
			files, _ := filepath.Glob(folder + "/strings.*")
			require.Len(t, files, 1)
			b, err := os.ReadFile(files[0])
			require.NoError(t, err)
			text = string(b)
			for _, s := range beginnings[:2] {
				assert.Equal(t, option == "-full", strings.Contains(text, s), "%s %s %s", form, option, s)
			}
			for _, s := range beginnings {
				assert.True(t, option == "-full" || !strings.Contains(text, s), "%s %s", form, s)
			}
		}
	}
}

// TestSlicesOfBytes: the bytes that a Memory, an ArraySegment and what holds them have are known as a field of an array has them, also on stacks; what
// shows bytes as text compares letters outside ASCII before dots replace them.
func TestSlicesOfBytes(t *testing.T) {
	k := openPlants(t, "net10-slices")
	require.Len(t, k.Plants, 8)
	var masked, plain strings.Builder
	for _, at := range strings.Fields(k.ask(t, "dumpheap", "-short", "-type", "System.Byte[]")) {
		for _, form := range []string{"--json=false", "--json"} {
			masked.WriteString(k.ask(t, "--redact", form, "dumpobj", at))
			plain.WriteString(k.ask(t, form, "dumpobj", at))
		}
	}
	for _, p := range k.Plants {
		assert.Contains(t, plain.String(), p.Value)
		assert.NotContains(t, masked.String(), p.Value, p.Kind)
	}
	assert.Contains(t, masked.String(), "no secret, but 28 bytes long")
	assert.Contains(t, masked.String(), "xx<hidden>yy")
	for _, part := range []string{"5519q", "5.5.1.9.q", "ss-w", "s.s.-.w"} { // of a value with other letters, as UTF-8 and UTF-16
		assert.Contains(t, plain.String(), part)
		assert.NotContains(t, masked.String(), part)
	}
}
