package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestDiffGates checks that excessive growth has its own exit code, next to the complete answer. Other failures keep
// their exit codes.
func TestDiffGates(t *testing.T) {
	small, large := testdump.Open(t, "net9-zoo").Plain(), testdump.Open(t, "net10-zoo").Plain()
	var doc struct {
		Result struct {
			Objects struct{ Sizes []uint64 }
			Types   []struct{ Name string }
		}
		Error struct {
			Kind string
			Exit int
		}
	}
	diff := func(args ...string) int {
		doc.Error.Exit = 0
		out, _, code := run(t, append([]string{"-json"}, args...)...)
		require.NoError(t, json.Unmarshal([]byte(out), &doc))
		return code
	}
	require.Zero(t, diff("-d", small, "diff", large))
	if s := doc.Result.Objects.Sizes; s[0] > s[1] {
		small, large = large, small
		require.Zero(t, diff("-d", small, "diff", large))
	}
	require.Greater(t, doc.Result.Objects.Sizes[1], doc.Result.Objects.Sizes[0])
	for _, c := range []struct {
		args []string
		want int
	}{
		{[]string{"-d", small, "diff", large, "-fail-above", "0"}, cli.ExitGate},
		{[]string{"-d", small, "diff", large, "-fail-above", "100mb"}, cli.ExitOK},
		{[]string{"-d", small, "diff", large, "-fail-growth", "0%"}, cli.ExitGate},
		{[]string{"-d", small, "diff", large, "-fail-growth", "1000"}, cli.ExitOK},
		{[]string{"-d", large, "diff", small, "-fail-above", "0", "-fail-growth", "0"}, cli.ExitOK},
		{[]string{"-d", small, "diff", large, "-fail-growth", "much"}, cli.ExitUsage},
		{[]string{"-d", small, "diff", large, "-growing"}, cli.ExitUsage},
		{[]string{"-d", small, "diff", "no-such.dmp"}, cli.ExitOpen},
		{[]string{"-d", small, "diff", testdump.Open(t, "net10-crash-null-triage").Plain()}, cli.ExitNotInDump},
	} {
		assert.Equal(t, c.want, diff(c.args...), c.args)
		assert.Equal(t, c.want, doc.Error.Exit)
		if c.want == cli.ExitGate {
			assert.Equal(t, "gate", doc.Error.Kind)
			assert.NotEmpty(t, doc.Result.Types, "the answer is whole")
		}
	}
}
