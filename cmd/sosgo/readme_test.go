package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

var updateReadme = flag.Bool("readme", false, "rewrite the outputs and the matrix of README.md")

const (
	root       = "../.."
	matrixOpen = "<!-- matrix -->\n"
	matrixEnd  = "<!-- /matrix -->\n"
	maxLine    = 150 // characters of a line of output in the README
	maxLines   = 16  // lines of one output
)

// moduleRoot is root as an absolute path.
var moduleRoot, _ = filepath.Abs(root)

// run runs sosgo in the module's folder, as the README's reader does.
func run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return runIn(t, cli.Env{Open: commands.Open}, args...)
}

// runIn is run in an environment of which only the opening of dumps is chosen.
func runIn(t *testing.T, env cli.Env, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	t.Chdir(moduleRoot)
	var out, errs bytes.Buffer
	env.Commands, env.Threads, env.Limits = commands.All(), commands.Threads, commands.Limits()
	code = cli.Main(context.Background(), args, strings.NewReader(""), &out, &errs, env)
	return out.String(), errs.String(), code
}

// A keptDump opens the dump of one path and keeps it: to unpack it for each of its questions
// takes longer than all answers.
type keptDump struct {
	path, options string
	dump          cli.Dump
}

func (k *keptDump) open(ctx context.Context, path string, o cli.OpenOptions) (cli.Dump, error) {
	o.Context, o.Progress = nil, nil // they are the session's; the dump outlives it
	options := fmt.Sprintf("%+v", o)
	if k.dump != nil && path == k.path && options == k.options {
		return k.dump, nil
	}
	dump, err := commands.Open(ctx, path, o)
	if err != nil || path != k.path {
		return dump, err
	}
	err = k.close()
	k.options, k.dump = options, dump
	return dump, err
}

func (k *keptDump) close() error {
	if k.dump == nil {
		return nil
	}
	dump := k.dump
	k.dump = nil
	return dump.Close()
}

// shellWords cuts a command line into words; single quotes keep one together.
func shellWords(line string) []string {
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

// TestReadme runs the commands of README.md and compares what they print.
func TestReadme(t *testing.T) {
	if _, err := os.Stat(filepath.Join(root, "testdata", "dumps", "net10-zoo")); err != nil {
		t.Skip("the canned dumps are not here")
	}
	name := filepath.Join(root, "README.md")
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	parts := strings.Split(string(text), "```console\n")
	ran := 0
	for i, part := range parts[1:] {
		block, rest, ok := strings.Cut(part, "```\n")
		require.True(t, ok, "a block without end")
		command, want, _ := strings.Cut(block, "\n")
		args, ok := strings.CutPrefix(command, "$ sosgo ")
		require.True(t, ok, command)
		t.Run(args, func(t *testing.T) {
			got, errs, code := run(t, shellWords(args)...)
			require.Zero(t, code, errs)
			got = cut(got)
			if *updateReadme {
				parts[i+1] = command + "\n" + got + "```\n" + rest
				return
			}
			require.Equal(t, want, got)
		})
		ran++
	}
	require.GreaterOrEqual(t, ran, 5)
	if *updateReadme {
		require.NoError(t, os.WriteFile(name, []byte(strings.Join(parts, "```console\n")), 0o644))
	}
}

// cut shortens long lines and long outputs, so that the README stays readable.
func cut(s string) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(s) {
		if n++; n > maxLines {
			b.WriteString("…\n")
			break
		}
		line = strings.TrimRight(line, " \n")
		if r := []rune(line); len(r) > maxLine {
			line = string(r[:maxLine]) + "…"
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// matrixCommands are the columns of the support matrix.
var matrixCommands = []struct{ title, line string }{
	{"crashinfo", "crashinfo"}, {"clrthreads", "clrthreads"}, {"clrstack", "clrstack -all"}, {"dso", "dso -all"}, {"pe", "dumpexceptions"}, {"modules", "clrmodules"},
	{"types", "name2ee *!System.String"}, {"dumpheap", "dumpheap -stat"}, {"eeheap", "eeheap -gc"}, {"syncblk", "syncblk -all"},
}

// TestSupportMatrix makes the table of README.md from what the commands answer
// on the canned dumps.
func TestSupportMatrix(t *testing.T) {
	var b strings.Builder
	b.WriteString("| dump | runtime | system | kind |")
	for _, c := range matrixCommands {
		b.WriteString(" " + c.title + " |")
	}
	b.WriteString("\n|---|---|---|---|" + strings.Repeat("---|", len(matrixCommands)) + "\n")
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |", d.Name, d.Manifest.Runtime, systemOf(&d.Manifest), d.Manifest.Kind)
		for _, c := range matrixCommands {
			t.Run(c.title, func(t *testing.T) { b.WriteString(" " + answer(t, d.Path, c.line) + " |") })
		}
		b.WriteString("\n")
	})
	file := filepath.Join(root, "README.md")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	head, rest, ok := strings.Cut(string(text), matrixOpen)
	require.True(t, ok)
	old, tail, ok := strings.Cut(rest, matrixEnd)
	require.True(t, ok)
	if *updateReadme {
		require.NoError(t, os.WriteFile(file, []byte(head+matrixOpen+b.String()+matrixEnd+tail), 0o644))
		return
	}
	require.Equal(t, old, b.String())
}

// answer runs a command and says how much of an answer there was.
func answer(t *testing.T, dump, line string) string {
	out, errs, code := run(t, "-d", dump, "-c", line)
	switch {
	case code == cli.ExitNotInDump || strings.TrimSpace(out) == "":
		return "○"
	case code != 0:
		t.Fatalf("%s: exit code %d: %s", line, code, errs)
	case strings.Contains(errs, "warning"):
		return "◐"
	}
	return "●"
}

// systemOf is the system of a dump, with its processor where that is not x64.
func systemOf(m *testcase.Manifest) string {
	if m.Arch == "x64" {
		return m.OS
	}
	return m.OS + " " + m.Arch
}
