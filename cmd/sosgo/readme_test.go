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

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testcli"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

var updateReadme = flag.Bool("readme", false, "rewrite the outputs and the matrix of README.md")

const (
	root       = "../.."
	matrixOpen = "<!-- matrix -->\n"
	matrixEnd  = "<!-- /matrix -->\n"
	omitted    = "[...]\n" // the last line of an output that README.md shortens
)

// moduleRoot is root as an absolute path.
var moduleRoot, _ = filepath.Abs(root)

// run runs sosgo in the module's folder, as a reader of README.md would.
func run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return runIn(t, cli.Env{Open: commands.Open}, args...)
}

// runIn is run with an environment that chooses how dumps are opened.
func runIn(t *testing.T, env cli.Env, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	t.Chdir(moduleRoot)
	var out, errs bytes.Buffer
	env.Commands, env.Threads, env.Limits = commands.All(), commands.Threads, commands.Limits()
	code = cli.Main(context.Background(), args, strings.NewReader(""), &out, &errs, env)
	return out.String(), errs.String(), code
}

// shellWords splits a command line into words. Single quotes keep a word together.
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

// TestReadme runs the commands of README.md and compares their output. A block that ends with [...] shows only the
// first lines of the output. No line is shortened.
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
			require.Contains(t, []int{cli.ExitOK, cli.ExitGate}, code, errs)
			got = shorten(got, want)
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

// shorten returns as many lines of an output as the block in README.md shows.
func shorten(got, block string) string {
	var out strings.Builder
	keep := len(got)
	if shown, ok := strings.CutSuffix(block, omitted); ok {
		keep = strings.Count(shown, "\n")
	}
	n := 0
	for line := range strings.Lines(got) {
		if n == keep {
			return out.String() + omitted
		}
		out.WriteString(strings.TrimRight(line, " \n") + "\n")
		n++
	}
	return out.String()
}

// matrixCommands are the columns of the support matrix.
var matrixCommands = []struct{ title, line string }{
	{"crashinfo", "crashinfo"}, {"clrthreads", "clrthreads"}, {"clrstack", "clrstack -all"}, {"dso", "dso -all"}, {"pe", "dumpexceptions"}, {"modules", "clrmodules"},
	{"types", "name2ee *!System.String"}, {"dumpheap", "dumpheap -stat"}, {"eeheap", "eeheap -gc"}, {"syncblk", "syncblk -all"},
}

// TestSupportMatrix builds the table of README.md from the answers of commands about the canned dumps.
func TestSupportMatrix(t *testing.T) {
	var b strings.Builder
	b.WriteString("| dump | runtime | system | kind |")
	for _, c := range matrixCommands {
		b.WriteString(" " + c.title + " |")
	}
	b.WriteString("\n|---|---|---|---|" + strings.Repeat("---|", len(matrixCommands)) + "\n")
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |", d.Name, d.Manifest.Runtime, systemOf(&d.Manifest), d.Manifest.Kind)
		kept := testcli.Kept{Path: d.Plain()}
		for _, c := range matrixCommands {
			t.Run(c.title, func(t *testing.T) { b.WriteString(" " + mark(t, &kept, c.line) + " |") })
		}
		require.NoError(t, kept.Close())
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

// mark runs a command and returns a mark for its answer: complete, partial or none.
func mark(t *testing.T, kept *testcli.Kept, line string) string {
	out, errs, code := runIn(t, kept.Env(), "-d", kept.Path, "-c", line)
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

// systemOf returns the system of a dump, and its processor if that is not x64.
func systemOf(m *testcase.Manifest) string {
	if m.Arch == "x64" {
		return m.OS
	}
	return m.OS + " " + m.Arch
}
