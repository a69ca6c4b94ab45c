package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testcli"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestJSONHasNoWords checks that missing values are absent or null in JSON. Only texts for people may describe them.
func TestJSONHasNoWords(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every command")
	}
	d := testdump.Open(t, "net10-crash-null-triage")
	names := namesOf(t, d)
	kept := testcli.Kept{Path: d.Plain()}
	env := kept.Env()
	asked := 0
	for _, command := range slices.Sorted(maps.Keys(goldenLines)) {
		for _, template := range goldenLines[command] {
			line, ok := fillIn(template, names)
			if !ok {
				continue
			}
			asked++
			out, _, _ := runIn(t, env, "-d", d.Plain(), "-json", "-c", line)
			for doc := json.NewDecoder(strings.NewReader(out)); doc.More(); {
				var v struct{ Result any }
				require.NoError(t, doc.Decode(&v), line)
				noWords(t, line, "result", v.Result)
			}
		}
	}
	require.NoError(t, kept.Close())
	assert.Greater(t, asked, 50)
}

// noWords fails if a word stands for a missing value.
func noWords(t *testing.T, line, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, item := range v {
			if k != "text" {
				noWords(t, line, path+"."+k, item)
			}
		}
	case []any:
		for _, item := range v {
			noWords(t, line, path+"[]", item)
		}
	case string:
		for _, words := range []string{"<not in dump>", "<corrupt>", "<not supported>"} {
			assert.NotContains(t, v, words, "%s: %s", line, path)
		}
	}
}

// TestJSONNumbers checks that 64-bit integers keep their digits, that offsets match the text, and that value types
// list their fields separately.
func TestJSONNumbers(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	var doc struct {
		Result struct {
			Fields []struct {
				Name   string
				Offset int
				Value  any
				Struct []struct {
					Name  string
					Value any
				}
			}
		}
	}
	out, errs, code := run(t, "-d", d.Plain(), "-json", "dumpobj", namesOf(t, d)["root.Primitives"])
	require.Zero(t, code, errs)
	require.NoError(t, json.Unmarshal([]byte(out), &doc))
	seen := map[string]bool{}
	text, _, _ := run(t, "-d", d.Plain(), "-sos", "dumpobj", namesOf(t, d)["root.Primitives"])
	for _, f := range doc.Result.Fields {
		seen[f.Name] = true
		switch f.Name {
		case "Int64":
			assert.Equal(t, "-1234567890123456789", f.Value)
		case "UInt64":
			assert.Equal(t, "18000000000000000000", f.Value)
		case "Int32":
			assert.Equal(t, -123456789., f.Value)
			assert.Equal(t, 0x88, f.Offset)
			assert.Contains(t, text, "      88         System.Int32")
		}
		if len(f.Struct) > 0 {
			seen["a struct"] = true
			assert.NotEmpty(t, f.Struct[0].Name)
		}
	}
	for _, name := range []string{"Int64", "UInt64", "Int32", "a struct"} {
		assert.True(t, seen[name], name)
	}
}
