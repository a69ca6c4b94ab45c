package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/sensitive"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/target"
)

// renamedZoo writes net10-zoo with other names for fields of its type Primitives: names for secrets of the same length.
func renamedZoo(t *testing.T, names map[string]string) string {
	t.Helper()
	raw, err := testdump.Open(t, "net10-zoo").Raw()
	require.NoError(t, err)
	raw = bytes.Clone(raw)
	n := 0
	const around = 30000
	for _, at := range regexp.MustCompile("FunctionPointer\x00").FindAllIndex(raw, -1) {
		near := raw[max(0, at[0]-around):min(len(raw), at[0]+around)]
		if !bytes.Contains(near, []byte("BoxedStruct\x00")) {
			continue
		}
		for old, name := range names {
			for _, m := range regexp.MustCompile("[^A-Za-z]"+old+"\x00").FindAllIndex(near, -1) {
				n += copy(near[m[0]+1:], name)
			}
		}
	}
	require.NotZero(t, n)
	path := filepath.Join(t.TempDir(), "renamed.dmp")
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	return path
}

// secretNames are names for secrets, for fields of Primitives.
var secretNames = map[string]string{"DateTime": "Password", "TimeSpan": "Secret01", "Union": "Pwd77",
	"Inline": "ApiKey", "BoxedStruct": "BoxedApiKey", "Struct": "Passwd", "GenericStruct": "AccountSecret"}

// TestSecretsInStructs: what stands beside a name for a secret is hidden whatever its type: dates, times and structs of the program, with their
// members, an inline array of numbers and a box. Zoo.cs has the values. A comparison has no more than the answer has.
func TestSecretsInStructs(t *testing.T) {
	path := renamedZoo(t, secretNames)
	const from = "from objects of Debuggee.Zoo.Primitives | "
	plain, _, code := run(t, "-d", path, "-offline", "query", from+"select address, Password, Secret01, Pwd77.I, AccountSecret.First, ApiKey, BoxedApiKey")
	require.Zero(t, code)
	secret := []string{"2013-02-28", "01:30:30", "1065353216", `"one"`, `"seg"`, "X=3", "54300000000", "5246662119657387904"}
	for _, s := range secret[:5] {
		require.Contains(t, plain, s, "without masking")
	}
	address := regexp.MustCompile("0x[0-9a-f]+").FindString(plain)
	obj := "obj(" + address + ")."
	for _, args := range [][]string{
		{"dumpobj", address}, {"query", from + "select Password, Secret01, Pwd77, Pwd77.I, AccountSecret, ApiKey, BoxedApiKey, AccountSecret.First, ApiKey.Label"},
		{"query", from + "select text(Password), text(Secret01), Password.Ticks, text(ApiKey), text(BoxedApiKey)"},
		{"query", from + "select max(Password), min(Secret01)"}, {"query", from + "group by Password | select count(), Password"}, {"query", from + "order by Password | select Secret01"},
		{"eval", obj + "Password"}, {"eval", obj + "Secret01._ticks"}, {"eval", obj + "Pwd77.I"}, {"eval", obj + "AccountSecret.First"}, {"eval", obj + "BoxedApiKey"},
		{"dumpheap", "-type", "Debuggee.Zoo.Primitives"},
	} {
		for _, form := range []string{"", "-json"} {
			out, errs, _ := run(t, append(strings.Fields("-d "+path+" -offline -redact "+form), args...)...)
			for _, s := range secret {
				assert.NotContains(t, out+errs, s, "%s %s", form, args)
				assert.NotContains(t, out+errs, strings.ReplaceAll(s, `"`, `\"`), "%s %s", form, args)
			}
		}
	}
	for _, where := range []string{"Secret01 > '1h'", "Secret01 < '1h'", "Password > '2001-01-01'", "Password < '2001-01-01'", "Pwd77.I > 5", "AccountSecret.First = 'one'"} {
		out, _, _ := run(t, "-d", path, "-offline", "-redact", "query", from+"where "+where+" | select address")
		assert.NotContains(t, out, address, where)
	}
}

// TestSecretsInStructsAreLearnt: the text in a struct beside a name for a secret is masked everywhere.
func TestSecretsInStructsAreLearnt(t *testing.T) {
	d, over := testdump.OverlaidFile(t, renamedZoo(t, secretNames), sosgo.Options{Offline: true})
	v, err := d.View("")
	require.NoError(t, err)
	const secret = "xK9-qqot77Qz!pW4mm$Z"
	first := func(question string) target.Addr {
		found, err := v.Query(t.Context(), question, query.Options{})
		require.NoError(t, err)
		for row, err := range found.Rows {
			require.NoError(t, err)
			return target.Addr(row.Cells[0].Bits)
		}
		t.Fatal("no object")
		return 0
	}
	r, err := v.Objects()
	require.NoError(t, err)
	o, err := r.Proven(first("from objects of Debuggee.Zoo.Primitives | select address"))
	require.NoError(t, err)
	held, err := o.Type.InstanceField("ApiKey")
	require.NoError(t, err)
	segment, err := o.Value(held).Struct()
	require.NoError(t, err)
	label, err := segment.Type.InstanceField("Label")
	require.NoError(t, err)
	text := first(fmt.Sprintf("from objects of System.String | where length == %d | select address", len(secret)))
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(secret)))
	for _, u := range utf16.Encode([]rune(secret)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	over.Set(testdump.Damage{At: text + 8, Bytes: b}, testdump.Damage{At: label.At(segment.Addr).Location(), Bytes: binary.LittleEndian.AppendUint64(nil, uint64(text))})
	require.Contains(t, o.Value(held).Line(100).String(), secret)
	mask, err := sensitive.Mask(t.Context(), v.Process)
	require.NoError(t, err)
	assert.NotContains(t, mask("a "+secret+" b"), secret)
}

// TestSecretsInLines: in the line of a struct, a struct in it beside a name for a secret is hidden, and the rest stays.
func TestSecretsInLines(t *testing.T) {
	path := renamedZoo(t, map[string]string{"From": "Pwd1"})
	const question = "from objects of Debuggee.Zoo.Primitives | select address"
	out, _, _ := run(t, "-d", path, "-offline", "query", question)
	address := regexp.MustCompile("0x[0-9a-f]+").FindString(out)
	plain, _, _ := run(t, "-d", path, "-offline", "dumpobj", address)
	require.Contains(t, plain, "{Pwd1={X=1, Y=2}, To={X=30, Y=40}")
	for _, form := range []string{"", "-json "} {
		masked, _, _ := run(t, strings.Fields("-d "+path+" -offline -redact "+form+"dumpobj "+address)...)
		assert.Contains(t, masked, "To={X=30, Y=40}")
		assert.NotContains(t, masked, "X=1, Y=2")
	}
}
