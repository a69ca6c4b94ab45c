package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/outfile"
	"github.com/sosgo/sosgo/internal/front/report"
)

// runSession runs lines with a command "say" that prints its words, one a line.
func runSession(t *testing.T, terminal bool, setenv map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	say := textWith(Command{Name: "say", Group: GroupShell, Summary: "print"}, func(_ *Context, o *echoOptions, p *report.Page) error {
		for _, w := range o.Text {
			p.Print(report.Escape(w) + "\n")
		}
		return nil
	})
	env := Env{Commands: append(fakeCommands(), say),
		Threads:    func(Dump, string) ([]uint32, error) { return []uint32{0x1882, 0x187a}, nil },
		LookupEnv:  func(name string) (string, bool) { v, ok := setenv[name]; return v, ok },
		IsTerminal: func(any) bool { return terminal },
		Open:       func(context.Context, string, OpenOptions) (Dump, error) { return fakeDump{new(int)}, nil }}
	var out, errs bytes.Buffer
	code = Main(t.Context(), append([]string{"-d", "x"}, args...), strings.NewReader(""), &out, &errs, env)
	return code, out.String(), errs.String()
}

// TestForeach checks loops over the words of answers.
func TestForeach(t *testing.T) {
	for line, want := range map[string]string{
		".foreach (o {say a b}) {say o}":                                     "a\nb\n",
		".FOREACH (o { say a b ; say c } ) { say x o ; say ${o}! }":          "x\na\na!\nx\nb\nb!\nx\nc\nc!\n",
		".foreach /pS 1 /ps 1 (o {say a b c d e}) {say o}":                   "b\nd\n",
		"say a b | foreach say x":                                            "x\na\nx\nb\n",
		"say a b | xargs -n 1 say {} y":                                      "a\ny\nb\ny\n",
		"say a b | !say":                                                     "a\nb\n",
		"say a b | grep b | foreach say | count":                             "1\n",
		"say a b | foreach say {} {} | foreach say - | head -n 3":            "-\na\n-\n",
		".foreach (o {say a b}) {say o} | grep b":                            "b\n",
		".foreach (o {say a}) {.foreach (p {say 1 2}) {say ${o}p ${o}${p}}}": "ap\na1\nap\na2\n",
		".foreach (o {say a b}) {say o | grep a}; say end":                   "a\nend\n",
		"~*e .foreach (o {say a}) {say o}":                                   "a\na\n",
		"say '{' ; say '}'":                                                  "{\n}\n",
		// Words of an answer are no options, operators or variables.
		"say '>' '-x' '$thread' 'x;y' | foreach say":       ">\n-x\n$thread\nx;y\n",
		"say '>out' | foreach say a":                       "a\n>out\n",
		".foreach (o {say '>out'}) {say ${o}; say a ${o}}": ">out\na\n>out\n",
	} {
		code, stdout, stderr := runSession(t, false, nil, "-c", line)
		assert.Equal(t, want, stdout, "%s: %s", line, stderr)
		assert.Zero(t, code, line)
	}
	for line, want := range map[string]string{
		".foreach (o {say a}) {o}":                   "can't be a command",
		".foreach (o {say a}) {${o}}":                "can't be a command",
		".foreach (o {say a}) {say b > out}":         "at the end of the line",
		".foreach (o {say a > out}) {say b}":         "at the end of the line",
		".foreach (o {say a}) {}":                    "a command is missing in braces",
		".foreach (o {say a)":                        "commands are needed in braces",
		".foreach o":                                 "parentheses",
		".foreach (o) {say o}":                       "in braces behind the name",
		".foreach (o p {say a}) {say o}":             "a name of one word",
		".foreach /x 1 (o {say a}) {say o}":          "/x is not an option",
		".foreach (o {say a}) {say o} say b":         "nothing but filters",
		".foreach (o {nosuch}) {say o}":              "there is no command",
		"say a | foreach":                            "a command is missing behind foreach",
		"say a | foreach nosuch":                     "there is no command",
		".foreach (o {say -c > $_ | ; ~*e}) {say o}": "> wants one file name",
	} {
		code, stdout, stderr := runSession(t, false, nil, "-c", line)
		assert.Equal(t, ExitUsage, code, "%s: %s", line, stdout)
		assert.Contains(t, stderr, want, line)
	}
	assert.NoFileExists(t, "out")
	for word, want := range map[string]string{"notindump": "1", "corrupt": "1", "unsupported": "1"} {
		code, stdout, stderr := runSession(t, false, nil, "-c", ".foreach (o {fail "+word+"}) {say o} | count")
		assert.Equal(t, want, strings.TrimSpace(stdout), stderr)
		assert.GreaterOrEqual(t, code, ExitNotInDump, word)
		assert.LessOrEqual(t, code, ExitUnsupported, word)
		assert.NotEmpty(t, stderr, word)
	}
	for line, want := range map[string]string{
		".foreach (o {say '-n=5'}) {say a ${o}}":  "a\n-n=5\n",
		".foreach (o {say x}) {say a -${o}=1}":    "a\n-x=1\n",
		".foreach (o {fail usage}) {say o}":       "",
		".foreach (o {say 7}) {obj -n=${o} 1000}": "obj 0000000000001000 nofields=false mt=0/false min=0 n=7 type=\"\" gen=\"\"\n",
	} {
		_, stdout, stderr := runSession(t, false, nil, "-c", line)
		assert.Equal(t, want, stdout, "%s: %s", line, stderr)
	}
	code, _, stderr := runSession(t, false, nil, "-c", "lines 2000 | foreach fail usage usage")
	assert.Equal(t, ExitUsage, code)
	assert.Less(t, strings.Count(stderr, "\n"), 10, "a wrong body fails for all words alike")
	_, stdout, _ := runSession(t, false, nil, ".foreach", "(o", "{say", "a", "b})", "{say", "o}")
	assert.Equal(t, "a\nb\n", stdout, "as arguments")
	code, _, stderr = runSession(t, false, nil, "-c", "lines 200000 | foreach say | count")
	assert.Equal(t, ExitUsage, code)
	assert.Contains(t, stderr, "there are more than 100000 words")
	_, stdout, _ = runSession(t, false, nil, "-json", "-c", "say a b | foreach say")
	assert.Equal(t, 2, strings.Count(stdout, `"command":"say"`), stdout)
}

// TestSessionLog checks that a log has commands, answers and errors, and no file of filters and colors.
func TestSessionLog(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log.txt")
	code, stdout, _ := runSession(t, true, map[string]string{"SOSGO_PAGER": ""}, "-color", "always",
		"-c", "say before", "-c", "logopen "+file, "-c", "say a | foreach say x; nosuch", "-c", "say out > "+file+".out", "-c", "logopen", "-c", "logclose", "-c", "say after")
	assert.Equal(t, ExitUsage, code)
	log, err := os.ReadFile(file)
	require.NoError(t, err)
	text := string(log)
	assert.Contains(t, text, "> say a | foreach say x; nosuch\nx\na\nsosgo: there is no command \"nosuch\"")
	assert.Contains(t, text, "> say out > ")
	assert.NotContains(t, text, "\nout\n")
	assert.Contains(t, text, "> logopen\nLog: "+file+"\n> logclose\nLog closed: "+file+"\n")
	for _, no := range []string{"before", "after", "\x1b"} {
		assert.NotContains(t, text, no)
	}
	assert.Contains(t, stdout, "after")
	_, _, stderr := runSession(t, false, nil, "-c", "logopen -append "+file, "-c", "say more")
	assert.Empty(t, stderr)
	longer, _ := os.ReadFile(file)
	assert.Equal(t, text+"> say more\nmore\n", string(longer))
	for _, args := range [][]string{{"logopen", file}, {"-c", "logclose"}, {"-sandbox", "-c", "logopen " + file}} {
		code, _, stderr = runSession(t, false, nil, args...)
		assert.Equal(t, ExitUsage, code, stderr)
	}
	again, _ := os.ReadFile(file)
	assert.Equal(t, longer, again)
}

// TestHelpOfPrompt: what the prompt has beside commands leads to the text about it.
func TestHelpOfPrompt(t *testing.T) {
	for _, line := range []string{"help foreach", "help .foreach", "help prompt", "help |", "help '|'", "help grep"} {
		code, stdout, stderr := runSession(t, false, nil, "-c", line)
		assert.Zero(t, code, "%s: %s", line, stderr)
		assert.Contains(t, stdout, "CMD | foreach CMD", line)
	}
	code, _, _ := runSession(t, false, nil, "-c", "help nosuch")
	assert.Equal(t, ExitUsage, code)
}

// TestLogInChunks: output that comes in chunks is whole in the log.
func TestLogInChunks(t *testing.T) {
	const text, plain = "a\x1b[1;31méz\x1b[0m€😀\n", "aéz€😀\n"
	for size := 1; size <= len(text); size++ {
		file := filepath.Join(t.TempDir(), "log.txt")
		f, err := outfile.Create(file, outfile.Options{})
		require.NoError(t, err)
		b := tailBuffer{w: io.Discard, log: &sessionLog{file: f}}
		for chunk := range slices.Chunk([]byte(text+"\xe2\x82"), size) {
			n, err := b.Write(chunk)
			require.NoError(t, err)
			require.Len(t, chunk, n)
		}
		b.flushLog()
		require.NoError(t, f.Commit())
		log, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, plain+"\ufffd", string(log), "%d bytes at a time", size)
	}
}

// TestCompletionPlaces checks completion behind prefixes and operators.
func TestCompletionPlaces(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "fact.txt"), nil, 0o600))
	t.Chdir(dir)
	a := newApp(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}, &Env{Commands: fakeCommands(),
		Threads: func(Dump, string) ([]uint32, error) { return []uint32{0x1882, 0x187a}, nil }})
	a.session.dump = fakeDump{new(int)}
	for before, want := range map[string][]string{
		"!lin":                  {"!lines "},
		"~*e lin":               {"lines "},
		"~*e !lin":              {"!lines "},
		"~*e!lin":               {"!lines "},
		"~~[1882]e lin":         {"lines "},
		"lines 1; lin":          {"lines "},
		"lines 1 | gr":          {"grep "},
		"lines 1 |gr":           {"grep "},
		"lines 1 | fore":        {"foreach "},
		"lines 1 | foreach li":  {"lines "},
		"lines 1 | !lin":        {"!lines "},
		"lines 1 | grep x > fa": {"fact.txt "},
		"lines 1 > fo":          {"folder" + string(filepath.Separator)},
		"lines 1 >>":            {"fact.txt ", "folder" + string(filepath.Separator)},
		"lines 1 > fact.txt x":  nil,
		"~1":                    nil,
		"logopen fac":           {"fact.txt "},
	} {
		found, _ := completer{a: a, files: true}.Do(before)
		assert.Equal(t, want, found, before)
	}
	for _, before := range []string{"lines 1 > fa", "logopen fa"} {
		found, _ := completer{a: a}.Do(before)
		assert.Empty(t, found, "a page or an editor sees no files: %s", before)
	}
}

// TestColors checks who gets colors, and that long sentences wrap on terminals alone.
func TestColors(t *testing.T) {
	for _, tt := range []struct {
		terminal bool
		env      map[string]string
		args     []string
		want     bool
	}{
		{true, nil, nil, true},
		{false, nil, nil, false},
		{true, map[string]string{"NO_COLOR": "1"}, nil, false},
		{true, map[string]string{"NO_COLOR": ""}, nil, true},
		{true, map[string]string{"TERM": "dumb"}, nil, false},
		{true, nil, []string{"-color", "never"}, false},
		{false, nil, []string{"--color=always"}, true},
		{true, map[string]string{"NO_COLOR": "1"}, []string{"--color=always"}, true},
		{true, nil, []string{"-json"}, false},
	} {
		env := map[string]string{"SOSGO_PAGER": ""}
		for k, v := range tt.env {
			env[k] = v
		}
		_, stdout, _ := runSession(t, tt.terminal, env, append(tt.args, "-c", "say '<not in dump>'")...)
		assert.Equal(t, tt.want, strings.Contains(stdout, "\x1b["), "%v: %q", tt, stdout)
		_, filtered, _ := runSession(t, tt.terminal, env, append(tt.args, "-c", "say '<not in dump>' | grep -v '\x1b' | grep 'not in dump' | count")...)
		assert.Contains(t, filtered, "1", "filters see no colors")
	}
	code, _, _ := runSession(t, false, nil, "-color", "sometimes", "-c", "say x")
	assert.Equal(t, ExitUsage, code)
	_, _, terminal := runSession(t, true, nil, "-c", "lines x y z")
	_, _, file := runSession(t, false, nil, "-c", "lines x y z")
	assert.Equal(t, strings.Fields(file), strings.Fields(terminal))
	for line := range strings.Lines(terminal) {
		assert.LessOrEqual(t, len(strings.TrimSuffix(line, "\n")), defaultWidth)
	}
}

// TestMissingFile checks that the name of a file that does not exist is no unknown command and no argument too many.
func TestMissingFile(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{"./nosuch.dmp"}, {"nosuch.dmp"}, {"core.1234"}, {"nosuch/core", "lines", "1"}, {"nosuch.dmp", "-c", "lines 1"}, {"info", "nosuch.dmp"}, {"obj", "1f00", "./core"}} {
		var out, errs bytes.Buffer
		code := Main(t.Context(), args, strings.NewReader(""), &out, &errs, Env{Commands: fakeCommands(), Open: func(_ context.Context, path string, _ OpenOptions) (Dump, error) {
			_, err := os.Stat(path)
			return nil, err
		}})
		assert.Equal(t, ExitOpen, code, "%v: %s", args, errs.String())
		assert.Contains(t, errs.String(), "no such file", args)
	}
	for _, args := range [][]string{{"nosuch"}, {".nosuch"}, {"!nosuch.x"}} {
		var out, errs bytes.Buffer
		code := Main(t.Context(), args, strings.NewReader(""), &out, &errs, Env{Commands: fakeCommands()})
		assert.Equal(t, ExitUsage, code)
		assert.Contains(t, errs.String(), "there is no command", args)
	}
}
