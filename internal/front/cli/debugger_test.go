package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/report"
)

type stackOptions struct {
	Full  bool `opt:"f" help:"f"`
	All   bool `opt:"all" help:"all"`
	Count int  `opt:"c" help:"count"`
}

// runHabits runs lines with three threads, of the ids 0x1882, 0x187a and 0x20.
func runHabits(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	current := textWith(Command{Name: "clrstack", Group: GroupThreads, Summary: "say the thread", NeedsDump: true},
		func(c *Context, o *stackOptions, p *report.Page) error {
			id, ok := c.Session.Thread()
			p.Printf("stack %x %t f=%t all=%t c=%d\n", id, ok, o.Full, o.All, o.Count)
			return nil
		})
	set := textWith(Command{Name: "setthread", Group: GroupThreads, Summary: "set"}, func(_ *Context, o *fakeWord, p *report.Page) error {
		p.Printf("setthread %s\n", o.Word)
		return nil
	})
	env := Env{Commands: append(fakeCommands(), current, set),
		Threads: func(Dump, string) ([]uint32, error) { return []uint32{0x1882, 0x187a, 0x20}, nil },
		Open:    func(context.Context, string, OpenOptions) (Dump, error) { return fakeDump{new(int)}, nil }}
	var out, errs bytes.Buffer
	code = Main(t.Context(), append([]string{"-d", "x"}, args...), strings.NewReader(""), &out, &errs, env)
	return code, out.String(), errs.String()
}

// TestHabits: what is typed in other debuggers.
func TestHabits(t *testing.T) {
	for line, want := range map[string]string{
		"lines 1;lines 1 ; ":            "line 0\nline 0\n",
		"lines 2 | grep '1;' ; lines 1": "line 0\n",
		"* lines 1 ; lines 1":           "",
		"lines 1 ; * and no more":       "line 0\n",
		"$$ lines 1":                    "",
		"k":                             "stack 0 false f=true all=false c=0\n",
		"KB 20":                         "stack 0 false f=true all=false c=20\n",
		"bt all":                        "stack 0 false f=true all=true c=0\n",
		"~*e lines 1":                   "line 0\nline 0\nline 0\n",
		"~*k 2":                         "stack 1882 true f=true all=false c=2\nstack 187a true f=true all=false c=2\nstack 20 true f=true all=false c=2\n",
		"~* e clrstack | grep 187":      "stack 187a true f=false all=false c=0\n",
		"~1 clrstack":                   "stack 187a true f=false all=false c=0\n",
		"~2e clrstack; clrstack":        "stack 20 true f=false all=false c=0\nstack 0 false f=false all=false c=0\n",
		"~~[187A]e clrstack":            "stack 187a true f=false all=false c=0\n",
		"~~[187a]e clrstack":            "stack 187a true f=false all=false c=0\n",
		"~.e clrstack":                  "stack 0 false f=false all=false c=0\n",
		"~3s":                           "setthread 3\n",
		"~~[0x20]s":                     "setthread 0x20\n",
		"!sos.lines 1":                  "line 0\n",
		"sos lines 1":                   "line 0\n",
		"!SOS.Lines 1":                  "line 0\n",
		".exit":                         "",
		"lines 1 ; .exit ; lines 1":     "line 0\n",
		"do 1 -type:Dog -gen:LOH":       "obj 0000000000000001 nofields=false mt=0/false min=0 n=0 type=\"Dog\" gen=\"loh\"\n",
		"do 0x1 -n 0n12":                "obj 0000000000000001 nofields=false mt=0/false min=0 n=12 type=\"\" gen=\"\"\n",
		"lines 9 | head 1":              "line 0\n",
	} {
		_, stdout, stderr := runHabits(t, "-c", line)
		assert.Equal(t, want, stdout, "%s: %s", line, stderr)
	}
	code, _, stderr := runHabits(t, "-c", "~7e clrstack")
	assert.Equal(t, ExitUsage, code)
	assert.Contains(t, stderr, "there is no thread ~7")
	code, stdout, _ := runHabits(t, "-c", "fail corrupt; lines 1")
	assert.Equal(t, ExitCorrupt, code, "the first failure counts")
	assert.Contains(t, stdout, "line 0", "and the rest is run")
}

// TestNotThere checks the messages for commands known from other tools.
func TestNotThere(t *testing.T) {
	for name := range notThere() {
		code, _, stderr := runHabits(t, "-c", "!"+strings.TrimPrefix(name, "!"))
		if slices.Contains([]string{"thread", "strings", "t", "di", "|s", nativeNames, typedMemory, clrMD}, name) { // another command, and the first two are no fakes
			continue
		}
		assert.Equal(t, ExitUsage, code, name)
		assert.Regexp(t, "is not supported|needs a live process|is not needed|only reads a dump", stderr, name)
	}
	for name := range unread() {
		code, _, stderr := runHabits(t, "-c", "!"+name+" 7f10a4632890")
		assert.Equal(t, ExitUnsupported, code, name)
		assert.Contains(t, stderr, name+": the wrappers of Windows's built-in COM", name)
	}
	_, _, stderr := runHabits(t, "-c", "sos findroots 1")
	assert.Contains(t, stderr, "findroots needs a live process")
	_, _, stderr = runHabits(t, "-c", "gctonative")
	assert.Contains(t, stderr, "instead: listnearobj")
	for _, name := range []string{"histobj", "histobjfind", "histroot", "hob", "hof", "hroot"} {
		_, _, stderr = runHabits(t, "-c", name+" 7f10a4632890")
		assert.Contains(t, stderr, name+" is not supported\n  instead: dumplog -address ADDRESS", name)
	}
	_, _, stderr = runHabits(t, "-c", "histinit")
	assert.Contains(t, stderr, "histinit is not needed: dumplog reads the stress log")
}

// TestWaysToStart: a dump's name is enough.
func TestWaysToStart(t *testing.T) {
	dir := dumpFolder(t, "core.1", "lines")
	core, mini := filepath.Join(dir, "core.1"), filepath.Join(t.TempDir(), "mini")
	const object = "obj 0000000000001f00 nofields=false mt=0/false min=0 n=0 type=\"\" gen=\"\"\n"
	require.NoError(t, os.WriteFile(mini, []byte("MDMP\x93\xa7\x00\x00"+strings.Repeat("\x00", 24)), 0o600))
	for _, tt := range []struct {
		args        []string
		stdin, want string
		code        int
	}{
		{[]string{core}, "lines 1\nlines 2\n", "line 0\nline 0\nline 1\n", ExitOK},
		{[]string{"-d", core}, "lines 1\n", "line 0\n", ExitOK},
		{[]string{"-d", core}, "", "", ExitOK},
		{[]string{core}, "fail corrupt\nlines 1\n", "before\nline 0\n", ExitCorrupt},
		{[]string{core, "lines", "1"}, "", "line 0\n", ExitOK},
		{[]string{core, "-c", "lines 1"}, "", "line 0\n", ExitOK},
		{[]string{"--no-mmap", core, "-c", "info"}, "", "info of core.1\n", ExitOK},
		{[]string{core, "-d", core, "info"}, "", "info of core.1\n", ExitOK},
		{[]string{"-d", "other", core, "info"}, "", "", ExitUsage},
		{[]string{"lines", "1"}, "", "line 0\n", ExitOK},
		{[]string{"obj", mini, "1f00"}, "", object, ExitOK},
		{[]string{"obj", "1f00", mini}, "", object, ExitOK},
		{[]string{"-d", core, "obj", "1f00", mini}, "", "", ExitUsage},
		{[]string{"nosuch"}, "", "", ExitUsage},
		{[]string{dir}, "", "", ExitUsage},
	} {
		o := runMain(t, dir, tt.stdin, nil, tt.args...)
		assert.Equal(t, tt.code, o.code, "%v: %s", tt.args, o.stderr)
		assert.Equal(t, tt.want, o.stdout, tt.args)
		assert.Equal(t, len(o.opened), o.closed)
	}
	for _, args := range [][]string{{"--version"}, {"-version", "--json"}, {"-d", core, "--version"}} {
		o := runMain(t, dir, "", nil, args...)
		assert.Equal(t, ExitOK, o.code, o.stderr)
		assert.Contains(t, o.stdout, "devel")
		assert.Empty(t, o.opened)
	}
}
