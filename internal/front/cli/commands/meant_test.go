package commands_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestObjectsByExpression checks that commands accept an expression of eval for an object, and describe other words.
func TestObjectsByExpression(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	const name, address = "Debuggee.Zoo.Statics.String", "7f079cc025e0"
	for _, command := range []string{"dumpobj", "do", "dumpstring", "gcroot", "objsize", "retained", "dominators", "referrers", "referents", "gcwhere",
		"verifyobj", "listnearobj", "dumpobjgcrefs", "findappdomain", "dumpalc"} {
		code, want, stderr := sosgo(t, d, command, address)
		require.Zero(t, code, "%s: %s", command, stderr)
		for _, words := range []string{name, address + " + 0"} {
			code, got, stderr := sosgo(t, d, command, words)
			require.Zero(t, code, "%s %s: %s", command, words, stderr)
			assert.Equal(t, want, got, "%s %s", command, words)
		}
	}
	code, text, stderr := sosgo(t, d, "pathto", "Debuggee.Zoo.Statics.Array", "Debuggee.Zoo.Statics.Array")
	require.Zero(t, code, stderr)
	assert.Contains(t, text, "System.Int32[]")

	for words, message := range map[string]string{
		"Debuggee.Zoo.Statics.Null":    "Debuggee.Zoo.Statics.Null is null",
		"Debuggee.Zoo.Statics.Struct":  "no object, but a value of type Debuggee.Zoo.Point",
		"Debuggee.Zoo.Statics.Int":     "no object, but 1234567",
		"Debuggee.Zoo.Statics":         "no object, but a type: statics Debuggee.Zoo.Statics",
		"Debuggee.Zoo":                 "names of types begin with Debuggee.Zoo",
		"7f07xyz":                      `"7f07xyz" is not an address`,
		"0x":                           `"0x" is not an address`,
		"Debuggee.Zoo.Statics.Array[0": "column",
	} {
		code, text, stderr := sosgo(t, d, "dumpobj", words)
		assert.Equal(t, cli.ExitUsage, code, words)
		assert.Empty(t, text, words)
		assert.Contains(t, stderr, message, words)
	}
}
