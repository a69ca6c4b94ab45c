package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/report"

	"github.com/sosgo/sosgo/target"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

func TestCommandTable(t *testing.T) {
	a := fakeApp(t, io.Discard, nil)
	require.NoError(t, Check(a.builtins))
	require.NoError(t, Check(fakeCommands()))
	ask := func(*Context) (report.Answer, error) { return report.Answer{}, nil }
	for name, bad := range map[string][]Command{
		"upper case":  {{Name: "X", Summary: "s", Group: GroupShell, Ask: ask}},
		"twice":       {{Name: "x", Aliases: []string{"x"}, Summary: "s", Group: GroupShell, Ask: ask}},
		"no summary":  {{Name: "x", Group: GroupShell, Ask: ask}},
		"no function": {{Name: "x", Summary: "s", Group: GroupShell}},
		"dump arg":    {{Name: "x", Summary: "s", Group: GroupShell, Ask: ask, DumpArg: true}},
		"option twice": {declares[struct {
			A bool `opt:"a" help:"s"`
			B bool `opt:"A" help:"s"`
		}](Command{Name: "x", Summary: "s", Group: GroupShell, Ask: ask})},
		"rest first": {declares[struct {
			A []string `arg:"a" help:"s"`
			B string   `arg:"b" help:"s"`
		}](Command{Name: "x", Summary: "s", Group: GroupShell, Ask: ask})},
	} {
		assert.Error(t, Check(bad), name)
	}
}

func TestOptions(t *testing.T) {
	dir := dumpFolder(t, "core.1")
	const rest = " nofields=false mt=0/false min=0 n=0 type=\"\" gen=\"\"\n"
	for _, tt := range []struct {
		args, want string
	}{
		{"obj 1f00", "obj 0000000000001f00" + rest},
		{"OBJ 0x1F00", "obj 0000000000001f00" + rest},
		{"!do 0000020c`1a2b3c4d", "obj 0000020c1a2b3c4d" + rest},
		{"do 7f_0c_00", "obj 00000000007f0c00" + rest},
		{"do -NoFields -MT 10 -min=0x20 1", "obj 0000000000000001 nofields=true mt=10/true min=32 n=0 type=\"\" gen=\"\"\n"},
		{"do 1 --nofields --mt=0x10 --min 2k -n -3", "obj 0000000000000001 nofields=true mt=10/true min=2048 n=-3 type=\"\" gen=\"\"\n"},
		{"do -nofields=false 1 -type -x -gen GEN0", "obj 0000000000000001 nofields=false mt=0/false min=0 n=0 type=\"-x\" gen=\"gen0\"\n"},
		{"do -n 0x10 -- 1", "obj 0000000000000001 nofields=false mt=0/false min=0 n=16 type=\"\" gen=\"\"\n"},
	} {
		o := runMain(t, dir, "", nil, strings.Fields(tt.args)...)
		assert.Equal(t, ExitOK, o.code, "%s: %s", tt.args, o.stderr)
		assert.Equal(t, tt.want, o.stdout, tt.args)
		assert.Equal(t, 1, o.closed)
	}
}

func TestUsageErrors(t *testing.T) {
	dir := dumpFolder(t, "core.1")
	for args, want := range map[string]string{
		"obj":                     "ADDRESS is missing",
		"obj 1 2":                 `unexpected argument "2"`,
		"obj xyz":                 `"xyz" is not an address`,
		"obj 12345678901234567":   "is not an address",
		"obj 1 -mt":               "needs a value",
		"obj -mt -nofields 1":     "the option -mt needs a value",
		"obj 1 -nofield":          "did you mean -nofields?",
		"obj 1 -5":                "unknown option -5",
		"obj 1 -gen gen7":         `"gen7" is none of gen0, loh`,
		"obj 1 -n 12x":            "is not a number",
		"obj 1 -min 99999999999g": "is not a size",
		"obj 1 -nofields=maybe":   "neither true nor false",
		"ojb 1":                   `did you mean "obj"?`,
		"-stat obj":               "unknown option -stat",
		"obj 1 -c version":        "both -c and a command",
		"-jobs 5000 obj 1":        "not between",
		"obj $_":                  "$_ has no value yet",
		"-d core.1 info core.2":   "two dumps are named",
		"fail usage":              "wrong",
	} {
		o := runMain(t, dir, "", nil, strings.Fields(args)...)
		assert.Equal(t, ExitUsage, o.code, args)
		assert.Contains(t, o.stderr, want, args)
		assert.True(t, strings.HasPrefix(o.stderr, "sosgo: "), o.stderr)
	}
}

func TestExitCodes(t *testing.T) {
	dir := dumpFolder(t)
	for how, want := range map[string]int{
		"notindump": ExitNotInDump, "corrupt": ExitCorrupt, "unsupported": ExitUnsupported, "usage": ExitUsage, "fire": ExitOpen,
	} {
		o := runMain(t, dir, "", nil, "fail", how)
		assert.Equal(t, want, o.code, how)
		assert.Equal(t, "before\n", o.stdout, "what was found before the error is printed")
		assert.NotContains(t, o.stderr, "\x1b")
	}
	o := runMain(t, dir, "", nil, "-d", filepath.Join(dir, "missing"), "obj", "1")
	assert.Equal(t, ExitOpen, o.code)
	assert.Contains(t, o.stderr, "check the file name")
	o = runMain(t, dir, "", nil, "-d", "really.bad", "obj", "1")
	assert.Equal(t, ExitOpen, o.code, "corrupt beyond opening is an opening error")
	assert.Contains(t, o.stderr, "cut off or damaged")
	assert.Equal(t, ExitUsage, runMain(t, dir, "", nil).code)
	assert.Equal(t, ExitOK, runMain(t, dir, "", nil, "--help").code)
}

// advised is an error with advice of its own.
type advised struct{ error }

func (a advised) Unwrap() error  { return a.error }
func (a advised) Advice() string { return "look there" }

func TestAdvice(t *testing.T) {
	for _, err := range []error{
		&OpenError{"x", fs.ErrNotExist}, &OpenError{"x", fs.ErrPermission},
		&OpenError{"x", target.ErrCorrupt}, &OpenError{"x", target.ErrUnsupported},
		target.ErrNotInDump, target.ErrCorrupt, target.ErrUnsupported,
	} {
		assert.NotEmpty(t, Advice(fmt.Errorf("wrapped: %w", err)), "%v", err)
	}
	missing := fmt.Errorf("%w; and no file has it: %w", target.ErrNotInDump, fs.ErrNotExist)
	assert.Contains(t, Advice(missing), "--modules DIR")
	c := &Context{}
	c.Warn(missing)
	assert.Contains(t, c.warningLine(true, nil), "--modules DIR")
	assert.NotContains(t, c.warningLine(false, nil), "--modules DIR", "the error says it")
	assert.Empty(t, c.warningLine(false, missing), "the error says all")
	assert.NotEmpty(t, c.warningLine(false, target.ErrCorrupt), "another one does not")
	for range 2 {
		c.Warn(target.ErrCorrupt)
	}
	assert.Equal(t, "warning: other parts of the answer are missing, too (2 corrupt)", c.warningLine(false, missing))
	assert.Equal(t, "warning: other parts of the answer are missing, too (1 not in dump); --modules DIR adds those that are in module files", c.warningLine(false, target.ErrCorrupt))
	for i := range 2 * distinctWarnings {
		c.Warn(target.Unsupportedf("part %d", i))
	}
	assert.Contains(t, c.warningLine(false, nil), "203 parts are missing (1 not in dump, 2 corrupt, 200 unsupported)", "also of those that are not kept")
	for err, kind := range map[error]string{target.Limitf("small"): "limit", &fs.PathError{Op: "read", Err: syscall.EIO}: "host", target.ErrCorrupt: "corrupt"} {
		c := &Context{}
		c.Warn(err)
		assert.Equal(t, kind, c.warnings[0].Kind)
		c.blameHost()
		assert.Contains(t, append(c.kinds, kindCount{"host", 0}), kindCount{"host", 1}, "its file was lost")
	}
	for _, c := range []struct {
		writable, module, unplaced bool
		has, lacks                 []string
	}{
		{false, false, false, []string{"kind heap or full"}, []string{"--modules"}},
		{true, false, false, []string{"kind full"}, []string{"--modules", "heap"}},
		{true, true, false, []string{"kind full", "--modules DIR"}, []string{"heap"}},
		{false, false, true, []string{"kind heap or full", "--modules DIR"}, nil},
		{true, false, true, []string{"sosgo doctor"}, []string{"kind", "--modules"}},
	} {
		got := Advice(&leftOutError{target.ErrNotInDump, c.writable, c.module, c.unplaced})
		for _, text := range c.has {
			assert.Contains(t, got, text)
		}
		for _, text := range c.lacks {
			assert.NotContains(t, got, text)
		}
	}
	assert.Empty(t, Advice(nil))
	assert.Equal(t, "look there", Advice(fmt.Errorf("wrapped: %w", advised{target.ErrUnsupported})), "advice of the error itself")
	assert.Empty(t, Advice(errors.New("other")))
}

// TestWarningOfACollection: what a collection left is one warning, and no damage of the heap is warned of besides. Other damage is.
func TestWarningOfACollection(t *testing.T) {
	c := &Context{}
	c.Warn(target.ErrNotInDump)
	for range 3 {
		c.Warn(fmt.Errorf("a place: %w", target.ErrInCollection))
		c.Warn(fmt.Errorf("another place: %w", target.CorruptHeapf("an object")))
	}
	assert.Equal(t, 2, c.Warned())
	assert.Contains(t, c.warningLine(false, nil), "(1 not in dump, 1 unsupported)")
	c.Warn(target.Corruptf("a thread"))
	assert.Contains(t, c.warningLine(false, nil), "(1 not in dump, 1 unsupported, 1 corrupt)")
	c = &Context{}
	c.Warn(target.ErrInCollection)
	assert.Equal(t, "warning: "+target.ErrInCollection.Error(), c.warningLine(false, nil))
}

func TestWarnings(t *testing.T) {
	o := runMain(t, dumpFolder(t), "", nil, "warn")
	assert.Equal(t, ExitOK, o.code)
	assert.Equal(t, "<not in dump>\n", o.stdout)
	assert.Equal(t, "sosgo: warn: warning: the answer is incomplete: 3 parts are missing (3 not in dump); the first: part 0: not in the dump\n", o.stderr)
}

func TestDumpChoice(t *testing.T) {
	one := dumpFolder(t, "app.weird")
	o := runMain(t, one, "", nil, "obj", "1")
	assert.Equal(t, ExitOK, o.code)
	assert.Equal(t, []string{filepath.Join(one, "app.weird")}, o.opened)
	assert.Equal(t, "sosgo: dump app.weird (the only one in this folder)\n", o.stderr)

	two := dumpFolder(t, "a", "b")
	o = runMain(t, two, "", nil, "obj", "1")
	assert.Equal(t, ExitUsage, o.code)
	assert.Contains(t, o.stderr, "has 2: a, b")

	o = runMain(t, dumpFolder(t), "", nil, "obj", "1")
	assert.Equal(t, ExitUsage, o.code)
	assert.Contains(t, o.stderr, "no dump is named")

	b := filepath.Join(two, "b")
	o = runMain(t, two, "", map[string]string{"SOSGO_DUMP": b}, "obj", "1")
	assert.Equal(t, []string{b}, o.opened)
	assert.Contains(t, o.stderr, b)

	a := filepath.Join(two, "a")
	for _, args := range [][]string{{"-d", a, "obj", "1"}, {"obj", "1", "--DUMP", a}, {"info", a}, {"info", "-d", a}} {
		o = runMain(t, two, "", map[string]string{"SOSGO_DUMP": b}, args...)
		assert.Equal(t, []string{a}, o.opened, args)
		assert.Empty(t, o.stderr)
	}
}

func TestLooksLikeDump(t *testing.T) {
	for name, tt := range map[string]struct {
		data string
		want bool
	}{
		"core":      {coreHeader, true},
		"minidump":  {"MDMP\x93\xa7\x00\x00" + strings.Repeat("\x00", 24), true},
		"program":   {strings.Replace(coreHeader, "\x04\x00\x3e", "\x02\x00\x3e", 1), false},
		"of macOS":  {"\xcf\xfa\xed\xfe\x07\x00\x00\x01\x03\x00\x00\x00\x04" + strings.Repeat("\x00", 24), true},
		"library":   {"\xcf\xfa\xed\xfe\x07\x00\x00\x01\x03\x00\x00\x00\x06" + strings.Repeat("\x00", 24), false},
		"short":     {"MDMP", false},
		"empty":     {"", false},
		"bad gzip":  {"\x1f\x8b nothing of the kind", false},
		"bad zstd":  {"\x28\xb5\x2f\xfd nothing of the kind", false},
		"text file": {"hello, this is no dump at all", false},
	} {
		assert.Equal(t, tt.want, LooksLikeDump(strings.NewReader(tt.data)), name)
	}
}

// envelope is the JSON document of a command.
type envelope struct {
	Command  string
	Schema   int
	Result   json.RawMessage
	Warnings []map[string]any
	Error    map[string]any
}

func decodeAll(t *testing.T, text string) []envelope {
	t.Helper()
	var out []envelope
	d := json.NewDecoder(strings.NewReader(text))
	for {
		var e envelope
		err := d.Decode(&e)
		if err == io.EOF {
			return out
		}
		require.NoError(t, err, text)
		assert.Equal(t, report.JSONSchema, e.Schema)
		out = append(out, e)
	}
}

func TestJSON(t *testing.T) {
	dir := dumpFolder(t, "core.1")
	o := runMain(t, dir, "", nil, "--json", "-c", "rows", "-c", "lines 2", "-c", "fail corrupt", "-c", "nosuch", "-c", "exit")
	docs := decodeAll(t, o.stdout)
	require.Len(t, docs, 5)
	assert.Equal(t, "rows", docs[0].Command)
	assert.JSONEq(t, `{"rows":[{"address":"0x1000"},{"address":"0x1001","n":1}]}`, string(docs[0].Result))
	assert.Equal(t, "not in dump", docs[0].Warnings[0]["kind"])
	assert.JSONEq(t, `{"text":["line 0","line 1"]}`, string(docs[1].Result))
	assert.Equal(t, "corrupt", docs[2].Error["kind"])
	assert.EqualValues(t, ExitCorrupt, docs[2].Error["exit"])
	assert.JSONEq(t, `{"text":["before"]}`, string(docs[2].Result))
	assert.Equal(t, "usage", docs[3].Error["kind"])
	assert.Equal(t, ExitCorrupt, o.code, "the first failure counts")

	o = runMain(t, dir, "", nil, "help", "--json")
	assert.Contains(t, string(decodeAll(t, o.stdout)[0].Result), `"name":"rows"`)
	o = runMain(t, dir, "", nil, "version", "-JSON")
	assert.Contains(t, string(decodeAll(t, o.stdout)[0].Result), `"go":"go1.`)
}

func TestLines(t *testing.T) {
	dir := dumpFolder(t, "core.1")
	file := filepath.Join(dir, "out.txt")
	for _, tt := range []struct{ line, want string }{
		{"lines 3", "line 0\nline 1\nline 2\n"},
		{"lines 100 | grep 9", "line 9\nline 19\nline 29\nline 39\nline 49\nline 59\nline 69\nline 79\nline 89\nline 90\nline 91\nline 92\nline 93\nline 94\nline 95\nline 96\nline 97\nline 98\nline 99\n"},
		{"lines 12|grep -v 1", "line 0\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\nline 9\n"},
		{"lines 30 | grep -i 'LINE 1$'", "line 1\n"},
		{"lines 9 | grep 'line 1$' | wc -l", "1\n"},
		{"lines 9 | grep -f '1$' | count", "0\n"},
		{"lines 9 | grep -c 'line 1$'", "1\n"},
		{"do 1 -type '&&'", "obj 0000000000000001 nofields=false mt=0/false min=0 n=0 type=\"&&\" gen=\"\"\n"},
		{"lines 5 | grep 'line [2'", ""},
		{"lines 1000000000000 | head -2", "line 0\nline 1\n"},
		{"lines 1000000000000 | head -n 2 | sort -r", "line 1\nline 0\n"},
		{"lines 5 | head -n 0", ""},
		{"lines 50 | tail -n 2", "line 48\nline 49\n"},
		{"lines 2 | tail", "line 0\nline 1\n"},
		{"lines 3 | sort -r | head -1", "line 2\n"},
		{"do 1f | uniq", "obj 000000000000001f nofields=false mt=0/false min=0 n=0 type=\"\" gen=\"\"\n"},
		{"do 1 -type List<Int32>", "obj 0000000000000001 nofields=false mt=0/false min=0 n=0 type=\"List<Int32>\" gen=\"\"\n"},
		{`do 1 -type "a b"' c|'`, "obj 0000000000000001 nofields=false mt=0/false min=0 n=0 type=\"a b c|\" gen=\"\"\n"},
		{"# a comment", ""},
		{"lines 2 > " + file, ""},
	} {
		o := runMain(t, dir, "", nil, "-c", tt.line)
		assert.Equal(t, ExitOK, o.code, "%s: %s", tt.line, o.stderr)
		assert.Equal(t, tt.want, o.stdout, tt.line)
	}
	for line, hint := range map[string]string{
		"lines 1 && lines 2": "; separates commands", "lines 1 || lines 2": "; separates commands", "lines 1 &": "until its answer is complete",
		"lines 1 2>&1": "warnings and errors are shown", "lines 1 > a.txt 2>&1": "warnings and errors are shown", "lines 1 |& grep x": "warnings and errors are shown",
		"lines 1 2>/dev/null | grep x": "warnings and errors are shown", "do $(lines 1)": ".foreach",
	} {
		o := runMain(t, dir, "", nil, "-c", line)
		assert.Equal(t, ExitUsage, o.code, line)
		assert.Contains(t, o.stderr, hint, line)
		assert.Empty(t, o.stdout, line)
	}
	runMain(t, dir, "", nil, "-c", "lines 1 >> "+file)
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "line 0\nline 1\nline 0\n", string(got))

	for _, line := range []string{"lines 1 |", "| head", "lines 1 | nosuch", "lines 1 > ", "lines 1 > a b", "lines 1 > a | head",
		"do 'x", "lines 1 | head -n x", "lines 1 | grep", "lines 1 | sort -q", "> x"} {
		o := runMain(t, dir, "", nil, "-c", line)
		assert.Equal(t, ExitUsage, o.code, line)
	}
	o := runMain(t, dir, "", nil, "-c", "lines 1 > "+filepath.Join(dir, "no", "such", "folder"))
	assert.Equal(t, ExitWrite, o.code)
	assert.NotContains(t, o.stderr, "dump", "advice is about the file")
}

func TestSharedSession(t *testing.T) {
	dir := dumpFolder(t, "core.1")
	o := runMain(t, dir, "", nil, "-c", "thread 0x1b", "-c", "do 5f0", "-c", "nosuch", "-c", "do $_", "-c", "thread", "-c", "thread $THREAD",
		"-c", "thread --dump x", "-c", "exit", "-c", "lines 1")
	assert.Equal(t, ExitUsage, o.code)
	assert.Len(t, o.opened, 1, "the dump is opened once")
	assert.Equal(t, 2, strings.Count(o.stdout, "obj 00000000000005f0"))
	assert.Contains(t, o.stdout, "thread 27 true\n")
	assert.NotContains(t, o.stdout, "line 0", "exit ends the session")
	assert.Contains(t, o.stderr, "unknown option --dump")
}

func TestScript(t *testing.T) {
	dir := dumpFolder(t, "core.1")
	core := filepath.Join(dir, "core.1")
	o := runMain(t, dir, "do 77\n\nfail notindump\r\nlines 1\nanalyze x\nexit\nlines 5\n", nil, "analyze", core, "-c", "lines 2")
	assert.Equal(t, ExitNotInDump, o.code)
	assert.Equal(t, "line 0\nline 1\nobj 0000000000000077 nofields=false mt=0/false min=0 n=0 type=\"\" gen=\"\"\nbefore\nline 0\n", o.stdout)
	assert.NotContains(t, o.stdout+o.stderr, "> ", "a script has no prompt")
	assert.Equal(t, 1, o.closed)

	o = runMain(t, dir, "lines 5\n", nil, "analyze", core, "-c", "lines 1", "-c", "exit")
	assert.Equal(t, "line 0\n", o.stdout)
	assert.Equal(t, ExitOpen, runMain(t, dir, "", nil, "analyze", "nowhere").code)
	assert.Equal(t, ExitOpen, runMain(t, dir, strings.Repeat("x", scriptLine+1), nil, "analyze", core).code)
}

// typed feeds lines to the prompt as an editor would.
type typed struct{ lines []string }

func (r *typed) Readline() (string, error) {
	if len(r.lines) == 0 {
		return "", io.EOF
	}
	l := r.lines[0]
	r.lines = r.lines[1:]
	if l == "^C" {
		return "", errPromptInterrupted
	}
	return l, nil
}

func (*typed) Close() error { return nil }

func TestInterrupt(t *testing.T) {
	c := make(chan os.Signal, 1)
	var out bytes.Buffer
	a := fakeApp(t, &out, c)
	time.AfterFunc(20*time.Millisecond, func() { c <- os.Interrupt })
	a.interact(t.Context(), &typed{[]string{"^C", "wait", "lines 1"}})
	assert.Equal(t, "waiting\nline 0\n", out.String(), "Ctrl-C stops the command and not the session")

	c <- os.Interrupt // stale: nothing runs
	a.interact(t.Context(), &typed{[]string{"lines 2"}})
	assert.Equal(t, "waiting\nline 0\nline 0\nline 1\n", out.String())

	c <- os.Interrupt // it came while the process started
	assert.Equal(t, ExitInterrupted, ExitCode(a.run(t.Context(), literalWords([]string{"wait"}), &out)))

	time.AfterFunc(20*time.Millisecond, func() { c <- os.Interrupt })
	err := a.run(t.Context(), literalWords([]string{"wait"}), &out)
	assert.Equal(t, ExitInterrupted, ExitCode(err))
}

type brokenPipe struct{ err error }

func (b brokenPipe) Write([]byte) (int, error) { return 0, b.err }

func TestOutputErrors(t *testing.T) {
	var stderr bytes.Buffer
	env := Env{Commands: fakeCommands()}
	code := Main(t.Context(), []string{"lines", "1000000000000"}, nil, brokenPipe{syscall.EPIPE}, &stderr, env)
	assert.Equal(t, ExitOK, code)
	assert.Empty(t, stderr.String(), "a reader that went away is no error")

	code = Main(t.Context(), []string{"-c", "lines 1000000000000 | grep line"}, nil, brokenPipe{syscall.EPIPE}, &stderr, env)
	assert.Equal(t, ExitOK, code)
	assert.Empty(t, stderr.String())

	code = Main(t.Context(), []string{"lines", "1"}, nil, brokenPipe{syscall.ENOSPC}, &stderr, env)
	assert.Equal(t, ExitWrite, code)
	assert.Contains(t, stderr.String(), "no space left")
}

func TestTerminalIsSafe(t *testing.T) {
	var out bytes.Buffer
	w := &terminalWriter{w: &out}
	for _, p := range []string{"a\x1b[2Jb\n", "\xe2", "\x80", "\xae x\u009b", "é\xc3", "\xa9\tz"} {
		n, err := w.Write([]byte(p))
		require.NoError(t, err)
		assert.Equal(t, len(p), n)
	}
	assert.Equal(t, "a\\x1b[2Jb\n\\u202e x\\u009béé\tz", out.String())
}

// TestLastAddress: an address alone on the last line that a command prints is $_, also behind filters.
func TestLastAddress(t *testing.T) {
	dir := dumpFolder(t, "core.1")
	for lines, want := range map[string]string{
		".echo 7f0c00001000":                       "7f0c00001000",
		".echo 7f0c00001000 | head -n 1":           "7f0c00001000",
		"do 5f0":                                   "5f0",
		"do 5f0;.echo x          7f0c00001000":     "5f0",
		"do 5f0;.echo 7f0c00001000 7f0c00001000":   "5f0",
		"do 5f0;.echo 7f0c0000":                    "7f0c0000",
		"do 5f0;.echo 1234567":                     "5f0",
		"do 5f0;.echo 7f0c000010007f0c00001000777": "5f0",
	} {
		var args []string
		for _, l := range append(strings.Split(lines, ";"), ".echo $_") {
			args = append(args, "-c", l)
		}
		o := runMain(t, dir, "", nil, args...)
		out := strings.Split(strings.TrimSpace(o.stdout), "\n")
		assert.Equal(t, want, out[len(out)-1], "%s: %s", lines, o.stderr)
	}
}

func TestCompletion(t *testing.T) {
	a := fakeApp(t, io.Discard, nil)
	a.env.Names = func(Dump, string) Names { return fakeNames{} }
	a.session.dump = fakeDump{new(int)}
	a.session.SetLast(0x7f0c00001000)
	a.printed.w = io.Discard
	fmt.Fprintf(&a.printed, "obj 00007f0c0000a000 and 7f0c0000b000, not 1234\n")
	for _, tt := range []struct {
		line   string
		want   []string
		length int
	}{
		{"ro", []string{"rows "}, 2},
		{"RO", []string{"rows "}, 2},
		{"do -no", []string{"-nofields "}, 3},
		{"do --m", []string{"--mt ", "--min "}, 3},
		{"do 0x7f0c", []string{"7f0c00001000 ", "7f0c0000b000 ", "7f0c0000a000 "}, 6},
		{"do 7f0c0000b", []string{"7f0c0000b000 "}, 9},
		{"do -mt 7f0c00001", []string{"7f0c00001000 "}, 9},
		{"do -gen g", []string{"gen0 "}, 1},
		{"do -type St", []string{"String "}, 2},
		{"do -type ns.ty", []string{"Ns.Type "}, 5},
		{"do -type n", []string{"Ns."}, 1},
		{"do -type b", nil, 1},
		{"ask ns.ty", []string{"Ns.Type"}, 5},
		{"ask size(Ns.Type.s", []string{"size(Ns.Type.s_one"}, 14},
		{"ask from objects of Ns.T", []string{"Ns.Type"}, 4},
		{"ask from objects of Ns.Type | where _f", []string{"_field"}, 2},
		{"ask from objects of Ns.Type | where _field>1&&_f", []string{"_field>1&&_field"}, 12},
		{"ask from objects of Ns.Type | where x is Ns.T", []string{"Ns.Type"}, 4},
		{"ask SELECT x FROM Ns.Type WHERE ", []string{"_field"}, 0},
		{"ask from objects of St", []string{"String"}, 2},
		{"ask x", nil, 1},
		{"ask -where Ns.Type.s", []string{"Ns.Type.s_one"}, 9},
		{"ask -object Ns.Type.s", []string{"Ns.Type.s_one"}, 9},
		{"code Ns.Type.R", []string{"Ns.Type.Run "}, 9},
		{"code Ns.T", []string{"Ns.Type"}, 4},
		{"do -type 'St", []string{"String "}, 2},
		{"help vers", []string{"version "}, 4},
		{"nosuch x", nil, 1},
		{"lines 3 ", nil, 0},
	} {
		got, n := completer{a: a}.Do(tt.line)
		assert.Equal(t, tt.want, got, tt.line)
		assert.Equal(t, tt.length, n, tt.line)
	}

	o := runMain(t, t.TempDir(), "", nil, "__complete", "--json", "row")
	assert.Equal(t, "rows\tlist rows\n:4\n", o.stdout)
	o = runMain(t, t.TempDir(), "", nil, "__complete", "-d", "")
	assert.Equal(t, ":0\n", o.stdout, "file names are the shell's business")
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		o = runMain(t, t.TempDir(), "", nil, "completion", shell)
		assert.Equal(t, ExitOK, o.code)
		assert.Contains(t, o.stdout, "__complete")
	}
}

func TestHelp(t *testing.T) {
	for args, file := range map[string]string{"help": "help.txt", "help obj": "help-obj.txt", "obj -?": "help-obj.txt",
		"obj --help": "help-obj.txt", "docs man": "sosgo.1", "docs commands": "commands.md", "docs json": "json.md"} {
		o := runMain(t, t.TempDir(), "", nil, strings.Fields(args)...)
		assert.Equal(t, ExitOK, o.code)
		path := filepath.Join("testdata", file)
		if *update {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(path, []byte(o.stdout), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(want), o.stdout, args)
	}
}

func TestProgressIsQuietOffTerminals(t *testing.T) {
	var stderr bytes.Buffer
	c := &Context{stderr: &stderrWriter{w: &stderr}}
	p := c.Progress("walking")
	p.Set(1, 2)
	p.Done()
	p.Done()
	assert.Empty(t, stderr.String())
	c.stderr.terminal = true
	p = c.Progress("walking")
	p.Done()
	assert.Empty(t, stderr.String(), "not before a second")
}

func TestProgressLine(t *testing.T) {
	p := &Progress{stop: make(chan struct{})}
	assert.Equal(t, "walking |", p.line("walking", 0))
	assert.Equal(t, `walking \`, p.line("walking", 3*progressTick))
	p.Set(1, 2)
	assert.Equal(t, "walking [===============               ]  50%", p.line("walking", 0))
	p.Set(9, 2)
	assert.Equal(t, "walking [==============================] 100%", p.line("walking", 0))
}

func TestSessionOpensAgainAfterInterrupt(t *testing.T) {
	calls := 0
	s := &Session{path: "x", open: func(ctx context.Context, _ string, _ OpenOptions) (Dump, error) {
		calls++
		return fakeDump{new(int)}, ctx.Err()
	}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Open(ctx, nil)
	require.Error(t, err)
	_, err = s.Open(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, 2, calls)
}

func TestSuggest(t *testing.T) {
	names := []string{"dumpheap", "dumpobj", "do", "gcroot"}
	for typed, want := range map[string]string{"who": "", "od": "do", "dumpehap": "dumpheap", "dumpob": "dumpobj", "gcr": "gcroot", "x": "", "frobnicate": "",
		strings.Repeat("x", 100): ""} {
		assert.Equal(t, want, suggest(typed, names), typed)
	}
}

// TestOtherForms checks that a command of another tool with arguments that no spelling has names sosgo's own.
func TestOtherForms(t *testing.T) {
	table := newTable(nil)
	for typed, want := range map[string]string{"MDT": "instead: dumpobj ADDRESS", "wdict": "instead: items ADDRESS", "mroot": "instead: gcroot ADDRESS"} {
		_, err := table.find(typed)
		var usage *UsageError
		require.ErrorAs(t, err, &usage, typed)
		assert.Equal(t, want, usage.Hint)
	}
	for i := range spellings {
		typed := strings.Fields(strings.TrimPrefix(spellings[i].typed, "!"))[0]
		assert.NotContains(t, otherForms(typed), "REST", typed)
	}
}

// TestSums checks addresses that are sums of numbers, and registers with numbers added.
func TestSums(t *testing.T) {
	for text, want := range map[string]target.Addr{"7f0012345678": 0x7f0012345678, "7f0012345678+10": 0x7f0012345688, "7f0012345678+10-8": 0x7f0012345680,
		"0x7f00`12345678-0x78": 0x7f0012345600} {
		a, err := ParseAddress(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, a, text)
	}
	for _, text := range []string{"7f0012345678+", "+7f0012345678", "7f0012345678++1", "7f0012345678-7f0012345679", "ffffffffffffffff+1", "ab+1", "7f0012345678+x"} {
		_, err := ParseAddress(text)
		assert.Error(t, err, text)
	}
	for text, want := range map[string]string{"rsp": "@rsp", "$rsp": "@rsp", "@rsp+20": "@rsp+0x20", "rsp+8-10": "@rsp+0x8-0x10", "x29+c": "@x29+0xc", "@rsp+@rbp": "@rsp+@rbp",
		"rsp+Foo": "", "rsp+": "", "7f00+rsp": "", "rspx": "", "Foo.x1+1": ""} {
		assert.Equal(t, want, RegisterSum(text), text)
	}
}

// TestAbout checks that a word about a command finds the command.
func TestAbout(t *testing.T) {
	table := newTable([]Command{{Name: "waits", Summary: "says why threads hang: deadlocks, held locks"}, {Name: "pools", Summary: "lists the pools of connections"},
		{Name: "secret", Hidden: true, Summary: "a deadlock"}})
	for typed, want := range map[string]string{"locks": "about that: waits;", "Hang": "about that: waits;", "connection": "about that: pools;", "pool": `did you mean "pools"`,
		"the": `"sosgo help all"`, "frobnicate": `"sosgo help all"`} {
		_, err := table.find(typed)
		var usage *UsageError
		require.ErrorAs(t, err, &usage, typed)
		assert.True(t, strings.HasPrefix(usage.Hint, want), "%s: %s", typed, usage.Hint)
	}
}

func FuzzCommandLine(f *testing.F) {
	for _, s := range []string{"do 7f", "lines 3 | grep -i x | head -n 2", `do "a b" 'c' >> f`, "do -mt=0x10 -min 2k -- -x", "do $_ | sort -n",
		"| > >>", "help do -?", "'", "do -gen=loh 0000`1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := parseLine(text)
		a := fakeApp(t, io.Discard, nil)
		completer{a: a}.Do(text)
		if err != nil {
			assert.Equal(t, ExitUsage, ExitCode(err))
			return
		}
		if _, _, err := newPipeline(l.filters, io.Discard); err != nil {
			assert.Equal(t, ExitUsage, ExitCode(err))
		}
		if len(l.command) > 0 {
			if _, _, err := a.parseCommand(l.command); err != nil {
				assert.Equal(t, ExitUsage, ExitCode(err))
			}
		}
	})
}

// TestInterruptedOpening checks that Ctrl-C stops opening a dump, at the prompt's start and in a command, and
// downloads, which use the context of the running command.
func TestInterruptedOpening(t *testing.T) {
	for _, args := range [][]string{{"analyze", "x"}, {"-d", "x", "obj", "1"}} {
		c := make(chan os.Signal, 1)
		env := Env{Commands: fakeCommands(), Interrupt: c, Open: func(_ context.Context, _ string, o OpenOptions) (Dump, error) {
			c <- os.Interrupt
			<-o.Context().Done()
			return nil, fmt.Errorf("zstd: %w", o.Context().Err())
		}}
		var stderr bytes.Buffer
		code := Main(t.Context(), args, strings.NewReader(""), io.Discard, &stderr, env)
		assert.Equal(t, ExitInterrupted, code, "%v: %s", args, stderr.String())
	}
}

// TestInterruptedDownload checks that a dump with downloads is reopened after Ctrl-C. Otherwise, the interrupted
// files would stay missing.
func TestInterruptedDownload(t *testing.T) {
	c := make(chan os.Signal, 1)
	opened, closed := 0, 0
	wait := Command{Name: "fetch", Group: GroupProcess, Summary: "fetch", NeedsDump: true, Ask: text(func(c *Context, _ *report.Page) error {
		<-c.Context().Done()
		return target.ErrNotInDump // the error that a read of the file's memory returns
	})}
	a := newApp(strings.NewReader(""), io.Discard, io.Discard, &Env{Commands: append(fakeCommands(), wait), Interrupt: c,
		Open: func(context.Context, string, OpenOptions) (Dump, error) { opened++; return fakeDump{&closed}, nil }})
	a.session.path, a.session.options = "x", OpenOptions{SymbolServers: []string{"http://symbols.test"}}
	a.session.opened, a.session.dump = true, fakeDump{&closed}
	time.AfterFunc(20*time.Millisecond, func() { c <- os.Interrupt })
	a.interact(t.Context(), &typed{[]string{"fetch", "obj 1"}})
	assert.Equal(t, []int{1, 1}, []int{opened, closed})
}

func TestModuleFilesOfASession(t *testing.T) {
	dir := dumpFolder(t, "core.1")
	core, modules := filepath.Join(dir, "core.1"), t.TempDir()
	o := runMain(t, dir, "", nil, "-d", core, "-c", "do 5f0", "-c", "setsymbolserver", "-c", "AddModules "+modules, "-c", "do 5f0",
		"-c", "setsymbolserver -ms", "-c", "setsymbolserver -disable http://localhost:1/x -cache "+modules)
	assert.Equal(t, ExitOK, o.code, o.stderr)
	assert.Len(t, o.opened, 2, "the command behind addmodules opens the dump anew, one that only lists does not")
	want := "No folder of module files and no symbol server is set.\n"
	assert.Equal(t, 1, strings.Count(o.stdout, want))
	assert.Contains(t, o.stdout, "Directory: "+modules+"\nServer:    "+microsoftServer+"\n")
	assert.True(t, strings.HasSuffix(o.stdout, "\nServer:    http://localhost:1/x\nCache:     "+modules+"\n"), o.stdout)

	refused := func(args ...string) {
		t.Helper()
		o := runMain(t, dir, "", nil, append([]string{"-d", core}, args...)...)
		assert.Equal(t, ExitUsage, o.code)
		assert.Len(t, o.opened, 1, "the dump stays open")
	}
	refused("-c", "do 5f0", "-c", "addmodules "+filepath.Join(dir, "nowhere"), "-c", "do 5f0")
	refused("-c", "do 5f0", "-c", "addmodules -cache "+core, "-c", "do 5f0")
	refused("--offline", "-c", "do 5f0", "-c", "addmodules -ms", "-c", "do 5f0")
	o = runMain(t, dir, "", nil, "--json", "-d", core, "-c", "setsymbolserver -directory "+modules)
	assert.Contains(t, o.stdout, `"modules":["`+modules+`"],"symbolServers":[]`)
}

// TestModuleFilesOfADumpThatStays checks that a request from a page changes nothing, and that its answer does not
// depend on local files.
func TestModuleFilesOfADumpThatStays(t *testing.T) {
	closed := 0
	desk := NewDesk(Env{Commands: fakeCommands()}, fakeDump{&closed}, "core", "")
	for _, place := range []string{t.TempDir(), "/nowhere", "http://localhost:1/x"} {
		var stdout, stderr strings.Builder
		assert.NotEqual(t, ExitOK, desk.Answer(t.Context(), Question{Words: []string{"setsymbolserver", place}}, &stdout, &stderr))
		assert.Contains(t, stderr.String(), errStays.Error(), place)
	}
	assert.Zero(t, closed)
}
