package commands_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestNames checks the completion of types, fields and methods.
func TestNames(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	n := commands.Names(d.Dump.Dump, "")
	require.NotNil(t, n)
	ctx, all := t.Context(), 1000
	assert.Equal(t, []string{"Debuggee."}, n.Types(ctx, "debug", all), "types come after their namespace")
	assert.Contains(t, n.Types(ctx, "Debuggee.", all), "Debuggee.Zoo.")
	assert.Equal(t, []string{"Debuggee.Zoo.Statics"}, n.Types(ctx, "Debuggee.zoo.stat", all), "in any case")
	assert.Contains(t, n.Types(ctx, "System.Collections.Generic.L", all), "System.Collections.Generic.List", "without the number of generic parameters")
	assert.Len(t, n.Types(ctx, "System.", 3), 3)
	assert.Empty(t, n.Types(ctx, "no.such", all))

	assert.ElementsMatch(t, []string{"Debuggee.Zoo.Statics.Struct", "Debuggee.Zoo.Statics.StructWithReference", "Debuggee.Zoo.Statics.String"},
		n.Members(ctx, "Debuggee.Zoo.Statics.Str", cli.StaticFields, all))
	assert.Equal(t, []string{"Debuggee.Zoo.Statics.StructWithReference.From.X", "Debuggee.Zoo.Statics.StructWithReference.From.Y"},
		n.Members(ctx, "Debuggee.Zoo.Statics.StructWithReference.From.", cli.StaticFields, all), "fields of a field")
	assert.Contains(t, n.Members(ctx, "System.String.Con", cli.Methods, all), "System.String.Concat")
	assert.Empty(t, n.Members(ctx, "Debuggee", cli.StaticFields, all))
	assert.Empty(t, n.Members(ctx, "Debuggee.Zoo.Statics.Null.Null.x", cli.StaticFields, all))

	assert.Equal(t, []string{"_items"}, n.Fields(ctx, "System.Collections.Generic.List", "_i", all))
	assert.Equal(t, []string{"_message"}, n.Fields(ctx, "InvalidOperationException", "_mess", all), "of a base type, without the namespace")
	assert.Equal(t, []string{"_message._stringLength"}, n.Fields(ctx, "System.Exception", "_message._stringL", all))
	assert.Empty(t, n.Fields(ctx, "No.Such", "", all))
}

// TestNamesAreReadInParts checks that a later call continues an interrupted read.
func TestNamesAreReadInParts(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	n := commands.Names(d.Dump.Dump, "")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Empty(t, n.Types(ended, "System.String", 10))
	assert.Contains(t, n.Types(t.Context(), "System.String", 10), "System.String")
	assert.Contains(t, n.Types(ended, "System.String", 10), "System.String")
	assert.Nil(t, commands.Names(d.Dump.Dump, "no such runtime"))
}
