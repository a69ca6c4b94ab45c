package objects_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// holderOf opens a canned dump of values. It returns the object with the values in its fields, and what the program
// printed about each.
func holderOf(t *testing.T, name string) (objects.Object, map[string]string) {
	t.Helper()
	folder := "../testdata/dumps/values/" + name + "/"
	text, err := os.ReadFile(folder + "facts.txt")
	if err != nil {
		t.Skip("there are no canned dumps here")
	}
	facts := map[string]string{}
	for line := range strings.Lines(string(text)) {
		f := append(strings.SplitN(strings.TrimSpace(line), " ", 3), "") // FACT name text
		facts[f[1]] = f[2]
	}
	d, err := sosgo.Open(folder+name+".dmp.zst", sosgo.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	r, err := d.Objects()
	require.NoError(t, err)
	holder, err := r.Object(testcase.Address(facts["holder"]))
	require.NoError(t, err)
	require.NotEqual(t, target.Addr(0), holder.Addr)
	return holder, facts
}

// TestTexts compares the lines of texts, cultures, encodings and tokens with what the program printed
// (testdata/dumps/values/net10-texts/Texts.cs).
func TestTexts(t *testing.T) {
	holder, facts := holderOf(t, "net10-texts")
	tokens := map[string]string{"False False": "can't be canceled", "False True": "not canceled", "True True": "canceled"}
	n := 0
	for f, v := range holder.Fields() {
		fact, ok := facts[f.Name]
		require.True(t, ok, f.Name)
		var want string
		switch f.Name {
		case "Empty", "Short", "Chunks":
			chars := len(strings.ReplaceAll(fact, `\n`, "\n"))
			want = fmt.Sprintf(`(%d) "%s"`, chars, strings.ReplaceAll(fact, `"`, `\"`))
		case "Long":
			length, text, _ := strings.Cut(fact, " ")
			assert.Equal(t, "5000", length)
			line := v.Inline(25)
			assert.Equal(t, "("+length+`) "`+text+`01234"… (`+length+" characters)", line)
			n++
			continue
		case "Culture", "Invariant", "Custom":
			want = `"` + fact + `"`
		case "None", "Open", "Canceled", "Dead":
			want = tokens[fact]
		case "BoxedCanceled":
			want = "(System.Threading.CancellationToken) " + tokens[fact]
		case "Index", "Range":
			want = "(System." + f.Name + ") " + fact
		case "Source":
			want = "not canceled"
		case "Fired":
			want = "canceled"
		case "Segment": // {1, 2, 3, 4, 5} from 1 on
			want = "(3) {2, 3, 4}"
		case "Immutable":
			want = "(System.Collections.Immutable.ImmutableArray<System.String>) (3) {\"x\", \"y\", \"z\"}"
		default: // an encoding: its field is in the base class
			o, err := v.Object()
			require.NoError(t, err)
			name, err := o.Type.ManagedName()
			require.NoError(t, err)
			want = name + " " + fact
		}
		assert.Equal(t, want, v.Inline(200), f.Name)
		n++
	}
	assert.Equal(t, 26, n)
}

// TestKnownObjects compares the lines of well-known objects with what the program printed
// (testdata/dumps/values/net10-known/Known.cs).
func TestKnownObjects(t *testing.T) {
	holder, facts := holderOf(t, "net10-known")
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
