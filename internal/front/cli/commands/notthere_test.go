package commands_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
)

// TestNotThere checks that no existing command is listed as missing.
func TestNotThere(t *testing.T) {
	missing := cli.NotThere()
	require.NotEmpty(t, missing)
	for _, c := range commands.All() {
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			assert.NotContains(t, missing, name)
		}
	}
}
