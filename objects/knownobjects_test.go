package objects_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// TestKnownObjects compares the lines of well-known objects with what the program printed (testdata/dumps/values/net10-known/Known.cs).
func TestKnownObjects(t *testing.T) {
	const folder = "../testdata/dumps/values/net10-known/"
	text, err := os.ReadFile(folder + "facts.txt")
	if err != nil {
		t.Skip("there are no canned dumps here")
	}
	facts := map[string]string{}
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSpace(line), " ", 3) // FACT name text
		facts[f[1]] = f[2]
	}
	d, err := sosgo.Open(folder+"net10-known.dmp.zst", sosgo.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	r, err := d.Objects()
	require.NoError(t, err)
	holder, err := r.Object(testcase.Address(facts["holder"]))
	require.NoError(t, err)
	require.NotEqual(t, target.Addr(0), holder.Addr)
	for _, c := range []struct{ field, before, text string }{
		{"V", "", facts["V"]},
		{"Short", "", facts["Short"]},
		{"T", "System.RuntimeType ", "System.Collections.Generic.Dictionary<System.String, System.Int32>"},
		{"Uri", "System.Uri ", `"` + facts["Uri"] + `"`},
		{"Four", "System.Net.IPAddress ", facts["Four"]},
		{"Six", "System.Net.IPAddress ", facts["Six"]},
		{"Loop", "System.Net.IPAddress+ReadOnlyIPAddress ", facts["Loop"]},
		{"Big", "(System.Numerics.BigInteger) ", facts["Big"]},
		{"Neg", "(System.Numerics.BigInteger) ", facts["Neg"]},
		{"Small", "(System.Numerics.BigInteger) ", facts["Small"]},
		{"Regex", "System.Text.RegularExpressions.Regex ", `"^a+\"b$"`},
		{"Pair", "", `{key=4.5.6.7, value="x"}`},
	} {
		v := holder.Field(c.field)
		assert.Equal(t, c.before+c.text, v.Inline(200), c.field)
	}
}
