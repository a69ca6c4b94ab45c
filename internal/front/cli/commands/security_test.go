package commands_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli/commands"
)

// TestSecurityRows checks that each command that serves, sends what it writes to others, or asks processes that run has a row in SECURITY.md's table of
// doors.
func TestSecurityRows(t *testing.T) {
	text, err := os.ReadFile("../../../../SECURITY.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "## Doors and dangers\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n## ")
	rows := map[string]bool{}
	name := regexp.MustCompile("`([a-z]+)`")
	for line := range strings.Lines(table) {
		door, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		for _, m := range name.FindAllStringSubmatch(door, -1) {
			rows[m[1]] = true
		}
	}
	doors := 0
	for _, c := range commands.All() {
		if c.Serves || c.Sends || c.Live {
			doors++
			assert.True(t, rows[c.Name], "%s has no row", c.Name)
		}
	}
	assert.Greater(t, doors, 6)
}
