package main

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
)

var update = flag.Bool("update", false, "write the generated parts of the documents instead of comparing with them")

// TestDocuments keeps the parts of documents that are made from the command
// table equal to it.
func TestDocuments(t *testing.T) {
	for file, document := range map[string]string{"../../docs/json.md": "json"} {
		var out, stderr bytes.Buffer
		require.Zero(t, cli.Main(t.Context(), []string{"docs", document}, nil, &out, &stderr, environment(nil)), stderr.String())
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		begin, rest, found := strings.Cut(string(text), "<!-- begin generated")
		require.True(t, found, file)
		marker, rest, found := strings.Cut(rest, "-->\n")
		require.True(t, found, file)
		_, end, found := strings.Cut(rest, "<!-- end generated -->")
		require.True(t, found, file)
		want := begin + "<!-- begin generated" + marker + "-->\n\n" + out.String() + "\n<!-- end generated -->" + end
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
			continue
		}
		assert.Equal(t, want, string(text), "run: go test ./cmd/sosgo -run TestDocuments -update")
	}
}

// TestSchema keeps the JSON Schema of the documents equal to the types that are encoded.
func TestSchema(t *testing.T) {
	const file = "../../docs/schema.json"
	var out, stderr bytes.Buffer
	require.Zero(t, cli.Main(t.Context(), []string{"docs", "schema"}, nil, &out, &stderr, environment(nil)), stderr.String())
	if *update {
		require.NoError(t, os.WriteFile(file, out.Bytes(), 0o644))
		return
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, out.String(), string(text), "run: go test ./cmd/sosgo -run TestSchema -update")
}

func TestCommandTable(t *testing.T) {
	commands := environment(nil).Commands
	require.NoError(t, cli.Check(commands))
	for _, c := range commands {
		switch c.Name {
		case "watsonbuckets": // it only says that it can't
			continue
		case "mcp", "dap": // they speak protocols
			continue
		}
		assert.NotNil(t, c.Result, "%s answers with a value, from which text and JSON are written", c.Name)
	}
}
