package layout

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write tables.pack instead of comparing with it")

// tableFiles returns the texts of the tables in the folder by file name, and the names in order.
func tableFiles(t *testing.T) (names []string, text map[string][]byte) {
	paths, err := filepath.Glob("tables/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	text = map[string][]byte{}
	for _, p := range paths {
		name := filepath.Base(p)
		names = append(names, name)
		text[name], err = os.ReadFile(p)
		require.NoError(t, err)
	}
	return names, text
}

// kindOf returns the letters at the start of a table's name: "clr", "descriptor-".
func kindOf(name string) string { return name[:strings.IndexAny(name, "0123456789")] }

// pack returns the content of tables.pack. The largest table of a kind is the dictionary of the others.
func pack(t *testing.T, names []string, text map[string][]byte) string {
	largest := map[string]string{}
	for _, name := range names {
		if k := kindOf(name); len(text[name]) > len(text[largest[k]]) {
			largest[k] = name
		}
	}
	var lines, streams strings.Builder
	for _, name := range names {
		var f descriptorFile
		require.NoError(t, json.Unmarshal(text[name], &f), name)
		key, dictionary := "-", "-"
		if f.Key.BuildID != "" {
			key = strings.ToLower(f.Key.BuildID)
		} else if f.Key.Timestamp != "" {
			key = fmt.Sprintf("%#x", number(f.Key.Timestamp))
		}
		if d := largest[kindOf(name)]; d != name {
			dictionary = d
		}
		var stream bytes.Buffer
		w, err := flate.NewWriterDict(&stream, flate.BestCompression, text[dictionary])
		require.NoError(t, err)
		_, err = w.Write(text[name])
		require.NoError(t, err)
		require.NoError(t, w.Close())
		fmt.Fprintln(&lines, name, key, dictionary, len(text[name]), stream.Len())
		streams.Write(stream.Bytes())
	}
	return lines.String() + "\n" + streams.String()
}

// TestPacked compares names, keys and texts of tables.pack with the folder of tables. It does not compare
// streams: another version of Go may pack the same text differently.
func TestPacked(t *testing.T) {
	names, text := tableFiles(t)
	want := pack(t, names, text)
	require.Equal(t, want, pack(t, names, text), "the same tables give the same bytes")
	if *update {
		require.NoError(t, os.WriteFile("tables.pack", []byte(want), 0o644))
		return
	}
	const advice = "tables.pack is not made of the folder tables: go generate ./internal/files/layout"
	made, err := readPack(want)
	require.NoError(t, err)
	require.Len(t, packedTables(), len(made), advice)
	packed := 0
	for i, m := range made {
		has := packedTables()[i]
		packed += len(has.stream)
		assert.Equal(t, []any{m.name, m.key, m.dictionary, m.size}, []any{has.name, has.key, has.dictionary, has.size}, advice)
		got, err := has.text()
		require.NoError(t, err, advice)
		assert.Equal(t, string(text[names[i]]), string(got), advice)
	}
	lines, _, _ := strings.Cut(packFile, "\n\n")
	assert.Len(t, packFile, len(lines)+2+packed, "nothing follows the last stream")
	_, err = tableText("tables/none.json")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestBadPack checks that a damaged pack is an error.
func TestBadPack(t *testing.T) {
	for name, pack := range map[string]string{
		"empty":                       "",
		"without an end of its lines": "a.json - - 1 0\n",
		"a line of four columns":      "a.json - - 1\n\n",
		"a size that is no number":    "a.json - - x 0\n\n",
		"a stream that is too long":   "a.json - - 1 3\n\nab",
		"a negative stream":           "a.json - - 1 -1\n\nab",
	} {
		_, err := readPack(pack)
		require.Error(t, err, name)
	}
	for name, pack := range map[string]string{
		"no stream":                "a.json - - 1 1\n\n\xff",
		"a stream that is cut":     "a.json - - 100 0\n\n",
		"an unknown dictionary":    "a.json - b.json 1 1\n\n\x00",
		"a text that is too short": "a.json - - 9 2\n\n\x03\x00",
	} {
		tables, err := readPack(pack)
		require.NoError(t, err, name)
		_, err = tables[0].text()
		require.Error(t, err, name)
	}
}
