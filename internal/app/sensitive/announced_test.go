package sensitive_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/sensitive"
	"github.com/sosgo/sosgo/internal/test/plants"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestCommandLineInObjects: what an option announces in an array of objects, as List<object> and ArrayList have, is learnt as in an array of strings.
func TestCommandLineInObjects(t *testing.T) {
	const (
		optionString, otherString = 0x7f4a3d803b30, 0x7f56114041b0 // "--pwd", "user-of-account"
		objectArray, elements     = 0x7f4a3d8086d8, 16             // of eight
	)
	d, over := testdump.OverlaidFile(t, plants.Read(t, "../../..", "net10-kinds").Dump, sosgo.Options{Offline: true})
	over.Set(testdump.Words(objectArray+elements, optionString, otherString))
	v, err := d.View("")
	require.NoError(t, err)
	mask, err := sensitive.Mask(t.Context(), v.Process)
	require.NoError(t, err)
	assert.Equal(t, "a <hidden> b", mask("a user-of-account b"))
}

// TestListBesideKey: a list under a key for cookies is learnt whatever is in it, and under one that may mean something else, such as auth, what looks
// generated.
func TestListBesideKey(t *testing.T) {
	const (
		key, chars = 0x7f5611404818, 12 // "X-Api-Key", of a Dictionary<string, string[]>
		value      = "jpx47MZS-499tn"
	)
	for name, masked := range map[string]bool{"My-Cookie": true, "Set-Cooki": false, "X-My-Auth": true, "X-My-Host": false, "Auth-Type": false, "Server-Pw": true, "Server-IP": false} {
		d, over := testdump.OverlaidFile(t, plants.Read(t, "../../..", "net10-kinds").Dump, sosgo.Options{Offline: true})
		wide := make([]byte, 0, 2*len(name))
		for _, c := range []byte(name) {
			wide = append(wide, c, 0)
		}
		over.Set(testdump.Damage{At: key + chars, Bytes: wide})
		v, err := d.View("")
		require.NoError(t, err)
		mask, err := sensitive.Mask(t.Context(), v.Process)
		require.NoError(t, err)
		assert.Equal(t, masked, mask("a "+value+" b") == "a <hidden> b", name)
	}
}
