package acceptance_test

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// An outcome is the result of command lines in one session.
type outcome struct {
	stdout, stderr string
	code           int
}

// runLines runs command lines in one session on the dump in raw, like the program.
func runLines(ctx context.Context, raw []byte, jobs int, lines ...string) outcome {
	args := []string{"-d", "dump", "-jobs", strconv.Itoa(jobs)}
	for _, line := range lines {
		args = append(args, "-c", line)
	}
	return runArgs(ctx, raw, args...)
}

func runArgs(ctx context.Context, raw []byte, args ...string) outcome {
	return runEnv(ctx, cli.Env{Open: func(_ context.Context, _ string, o cli.OpenOptions) (cli.Dump, error) {
		return process.OpenReaderAt(target.BytesSource(raw), int64(len(raw)), process.Options{NoLocalFiles: true, Jobs: o.Jobs})
	}}, args...)
}

// runEnv runs sosgo with an environment that determines how dumps are opened.
func runEnv(ctx context.Context, env cli.Env, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	env.Commands = commands.All()
	code := cli.Main(ctx, args, strings.NewReader(""), &stdout, &stderr, env)
	return outcome{stdout.String(), stderr.String(), code}
}

// plainCommands returns the commands that need a dump and no argument.
func plainCommands() []string {
	var names []string
	for _, c := range commands.All() {
		_, args := c.Declares()
		if c.NeedsDump && !c.Hidden && !c.Serves && !slices.ContainsFunc(args, func(a cli.Arg) bool { return !a.Optional }) {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return names
}

// isCommand reports whether a line starts with the name of a command.
func isCommand(line string) bool {
	name, _, _ := strings.Cut(line, " ")
	return slices.ContainsFunc(commands.All(), func(c cli.Command) bool { return c.Name == name })
}

// factCommands returns commands about a few objects and types in the manifest.
func factCommands(d *testdump.Dump) []string {
	var lines []string
	objects, types := d.Manifest.Objects(), d.Manifest.Types()
	for i := 0; i < len(objects); i += max(1, len(objects)/8) {
		a := objects[i].Addr.String()
		lines = append(lines, "dumpobj "+a, "gcwhere "+a, "listnearobj "+a)
	}
	if len(objects) > 0 {
		a := objects[0].Addr.String()
		lines = append(lines, "gcroot "+a, "objsize "+a)
	}
	for i := 0; i < len(types); i += max(1, len(types)/4) {
		lines = append(lines, "dumpmt -md "+types[i].Addr.String(), "dumpclass "+types[i].Addr.String())
	}
	return append(lines, "dumpheap -stat", "dumpheap -strings", "dumpstackobjects -all", "clrstack -all", "name2ee * System.String")
}

func mustRaw(t testing.TB, d *testdump.Dump) []byte {
	t.Helper()
	raw, err := d.Raw()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// firstDifference describes the first difference between two texts.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return "line " + strconv.Itoa(i+1) + ":\n  " + x[i] + "\n  " + y[i]
		}
	}
	return strconv.Itoa(len(x)) + " and " + strconv.Itoa(len(y)) + " lines"
}
