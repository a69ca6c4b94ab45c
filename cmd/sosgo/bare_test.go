package main

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testcli"
)

// bareCore is a slice of a core without file pages. It has no metadata and no code, except for the module files that
// a test adds.
const bareCore = "testdata/dumps/bare/net10-zoo-gcore/net10-zoo-gcore.dmp.zst"

// TestBareMessages checks that values missing from a core are never printed as "no" or zero, and that the exit code
// reports missing memory.
func TestBareMessages(t *testing.T) {
	k := testcli.Kept{Path: bareCore}
	ask := func(line string, more ...string) (string, string, int) {
		return runIn(t, k.Env(), append([]string{"-d", bareCore, "-offline", "-c", line}, more...)...)
	}
	defer func() { require.NoError(t, k.Close()) }()
	stacks, _, _ := ask("clrstack")
	names := map[string]string{"ip": firstMatch(t, `^[0-9a-f]{16} ([0-9a-f]{16}) <not in dump> \(MethodDesc`, stacks),
		"md": firstMatch(t, `\(MethodDesc ([0-9a-f]{16})\)`, stacks)}
	heap, _, _ := ask("dumpheap")
	var refs int
	for _, m := range regexp.MustCompile(`(?m)^ +([0-9a-f]{12}) `).FindAllStringSubmatch(heap, 200) {
		list, _, _ := ask("dumpobjgcrefs " + m[1])
		refs = len(regexp.MustCompile(`(?m)[0-9a-f]{12} <not in dump>$`).FindAllString(list, -1))
		if fields, _, _ := ask("dumpobj " + m[1]); refs > 1 && refs == strings.Count(list, "0x") && !strings.Contains(fields, "Array:") {
			names["object"], names["refs"] = m[1], strconv.Itoa(refs)
			break
		}
	}
	require.NotEmpty(t, names["object"])
	for _, c := range []struct {
		line      string
		code      int
		has, none string
	}{
		{"name2ee *!Debuggee.Zoo.Dog", 3, "12 other modules could not be scanned", "Scanned 12"},
		{"name2ee Debuggee!Debuggee.Program.Main", 3, "Debuggee.dll", "no matches"},
		{"token2ee Debuggee 02000002", 3, "<not in dump>", "invalid module token"},
		{"query from objects of Debuggee.Zoo.Dog", 3, "", "usage:"},
		{"query from objects of \"Debuggee.*\"", 3, "", "usage:"},
		{"eval Debuggee.Zoo.Statics.Int", 3, "", "usage:"},
		{"eval Debuggee", 3, "", "usage:"},
		{"eval {object}.Friend", 3, "<not in dump>", "there is no Friend"},
		{"eval refs({object})", 0, names["refs"] + " items", "<not in dump>"}, // its types have no names and are not read
		{"dumpheap -where 'this is Debuggee.Zoo.Dog'", 3, "", "usage:"},
		{"dumpheap -where 'Coat == 1'", 0, "the condition can't be decided", "usage:"},
		{"eval 1 +", 1, "", "not in the dump"},
		{"clru {md}", 3, "size of the code at", "--runtime chooses"},
		{"gcinfo {md}", 3, "GC info of the code at", "--runtime chooses"},
		{"crashinfo", 0, "the names of its methods can't be read", "runs unmanaged code"},
		{"httpclients", 3, "objects can't be found by the names of their types", "0 HttpClient"},
		{"dumphttp", 3, "objects can't be found by the names of their types", "Total 0"},
		{"dumprequests", 3, "objects can't be found by the names of their types", "No requests"},
		{"modules -v -name CoreLib", 0, "Version:         <not in dump>", "<none>"},
		{"clrmodules -v", 0, "MetadataSize:    <not in dump>", "MetadataSize:    0000000000000000"},
	} {
		line, ok := fillIn(c.line, names)
		require.True(t, ok, c.line)
		out, errs, code := ask(line)
		assert.Equal(t, c.code, code, line)
		assert.Contains(t, out+errs, c.has, line)
		if c.none != "" {
			assert.NotContains(t, out+errs, c.none, line)
		}
	}
}

func firstMatch(t *testing.T, pattern, s string) string {
	t.Helper()
	m := regexp.MustCompile("(?m)" + pattern).FindStringSubmatch(s)
	require.NotNil(t, m, "%s in:\n%s", pattern, s)
	return m[1]
}
