package commands_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
	"github.com/sosgo/sosgo/internal/front/cli/commands/reading"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestLiveCommandsStayHome: no desk runs the commands that ask processes, as servers, editors and agents have them, and
// no sandbox does. Programs in a page do not have them.
func TestLiveCommandsStayHome(t *testing.T) {
	var live []string
	for _, c := range commands.All() {
		if c.Live {
			live = append(live, c.Name)
		}
	}
	require.Equal(t, []string{"ps", "collect"}, live)
	for _, c := range reading.Commands() {
		assert.NotContains(t, live, c.Name)
		assert.False(t, c.Live)
	}
	d := testdump.Open(t, "net10-zoo")
	dump, err := commands.Open(t.Context(), d.Path, cli.OpenOptions{Offline: true})
	require.NoError(t, err)
	defer dump.Close()
	desk := cli.NewDesk(cli.Env{Commands: commands.All(), Open: commands.Open}, dump, d.Path, "")
	for _, q := range []cli.Question{{Line: "ps"}, {Line: "PS"}, {Line: "!ps"}, {Line: "collect -p 1"}, {Line: "triage -p 1"}, {Line: "triage --pid 1"},
		{Words: []string{"ps"}}, {Words: []string{"collect", "-name", "x"}}, {Words: []string{"ps"}, JSON: true}} {
		var out, errs bytes.Buffer
		assert.Equal(t, cli.ExitUsage, desk.Answer(t.Context(), q, &out, &errs), q)
		assert.Contains(t, errs.String(), "this is for the command line", q)
	}
	for _, line := range [][]string{{"ps"}, {"collect", "-p", "1"}, {"triage", "-p", "1"}, {"-c", "ps"}} {
		_, errs, code := sosgoAt(t, "", append([]string{"--sandbox"}, line...)...)
		assert.Equal(t, cli.ExitUsage, code, line)
		assert.Contains(t, errs, "with --sandbox no process can be asked", line)
	}
}

// TestCollectUsage rejects command lines that name no process, or options that exclude each other.
func TestCollectUsage(t *testing.T) {
	for line, text := range map[string]string{
		"collect":                                 "name the process",
		"collect -p 0":                            "less than 1",
		"collect -p 1 -name x":                    "-name",
		"collect -p 1 -delete":                    "-then",
		"collect -p 1 -pack -leave":               "-leave",
		"collect -p 1 -then triage -delete -pack": "-pack",
		"collect -p 1 -type small":                "heap",
	} {
		_, errs, code := sosgoAt(t, "", strings.Fields(line)...)
		assert.Equal(t, cli.ExitUsage, code, line)
		assert.Contains(t, errs, text, line)
	}
	_, errs, code := sosgoAt(t, "", "collect", "-p", "2147483647")
	assert.Equal(t, cli.ExitOpen, code)
	assert.Contains(t, errs, "no .NET process with the id 2147483647 was found")
}
