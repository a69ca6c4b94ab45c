package commands_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestDeskWritesNothing names a file to each command of a desk that may be named there, since it is another dump, and has gone
// meanwhile: no command writes it.
func TestDeskWritesNothing(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	opened, err := commands.Open(t.Context(), d.Path, cli.OpenOptions{Offline: true})
	require.NoError(t, err)
	defer opened.Close()
	gone := filepath.Join(t.TempDir(), "gone.dmp")
	desk := cli.NewDesk(cli.Env{Commands: commands.All(), Open: commands.Open}, opened, d.Path, "")
	desk.Files = []string{gone}
	base := fmt.Sprintf("%x", uint64(d.Target().Modules()[0].Base))
	tried := 0
	try := func(words []string) {
		var out bytes.Buffer
		desk.Answer(t.Context(), cli.Question{Words: words}, &out, &out)
		_, err := os.Lstat(gone)
		require.ErrorIs(t, err, os.ErrNotExist, "%v: %s", words, out.String())
		assert.NotContains(t, out.String(), "no file can be named", "%v", words)
		tried++
	}
	for _, command := range commands.All() {
		options, positional := command.Declares()
		var plain, files []string
		choices := []string{""}
		for _, a := range positional {
			switch {
			case a.Kind == cli.File:
				files = append(files, gone)
			case len(a.Choices) > 0:
				choices = a.Choices
			case a.Name == "address":
				plain = append(plain, base)
			}
		}
		for _, choice := range choices {
			words := []string{command.Name}
			if choice != "" {
				words = append(words, choice)
			}
			words = append(words, plain...)
			if len(files) > 0 {
				try(append(words[:len(words):len(words)], files...))
			}
			for _, o := range options {
				if o.Kind == cli.File {
					try(append(words[:len(words):len(words)], "-"+o.Name, gone))
				}
			}
		}
	}
	assert.Greater(t, tried, 40)
}

// TestDeskLooksAtNoFile names a file in each place of each command: whether it is there or is a dump is not looked at before it is
// known that it may be named.
func TestDeskLooksAtNoFile(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	opened, err := commands.Open(t.Context(), d.Path, cli.OpenOptions{Offline: true})
	require.NoError(t, err)
	defer opened.Close()
	there := filepath.Join(t.TempDir(), "there.dmp")
	require.NoError(t, os.WriteFile(there, []byte("MDMP and what follows"), 0o600))
	gone := there + ".gone"
	looked := 0
	desk := cli.NewDesk(cli.Env{Commands: commands.All(), Open: commands.Open, Stat: func(name string) (os.FileInfo, error) {
		looked++
		return os.Stat(name)
	}}, opened, d.Path, "")
	tried := 0
	for _, command := range commands.All() {
		options, _ := command.Declares()
		forms := [][]string{{"F"}, {"F", "F"}, {"F", "x"}, {"x", "F"}, {"-o", "x", "F"}, {"-o", "F"}}
		for _, o := range options {
			if o.Kind == cli.File {
				forms = append(forms, []string{"-" + o.Name, "F"}, []string{"F", "-" + o.Name, "F"}, []string{"-" + o.Name + "=F"})
			}
			forms = append(forms, []string{"/" + o.Name}, []string{"/" + o.Name, "F"})
		}
		if command.Serves || command.Live {
			continue
		}
		for _, form := range forms {
			var answers [2]string
			for i, file := range []string{there, gone} {
				words := []string{command.Name}
				for _, w := range form {
					words = append(words, strings.ReplaceAll(w, "F", file))
				}
				var out bytes.Buffer
				if i == 1 {
					desk.Answer(t.Context(), cli.Question{Words: words}, &out, &out)
				} else {
					desk.Answer(t.Context(), cli.Question{Line: strings.Join(words, " ")}, &out, &out)
				}
				answers[i] = out.String()
				assert.NotContains(t, answers[i], "is a dump", "%v", words)
				tried++
			}
			require.Zero(t, looked, "%s %v: %s", command.Name, form, answers)
		}
	}
	assert.Greater(t, tried, 1000)
}

// TestDeskStaysMasked asks a desk that masks secrets with the options that would show them, also in the blocks and pipes of a line.
func TestDeskStaysMasked(t *testing.T) {
	opened, err := commands.Open(t.Context(), secretsDump, cli.OpenOptions{Offline: true})
	require.NoError(t, err)
	defer opened.Close()
	p := findPlanted(t)
	at := fmt.Sprintf("%x", p.object)
	desk := cli.NewDesk(cli.Env{Commands: commands.All(), Open: commands.Open, Mask: commands.Mask}, opened, secretsDump, "")
	for _, redact := range []bool{true, false} {
		desk.Redact = redact
		shown := 0
		try := func(q cli.Question) {
			var out bytes.Buffer
			desk.Answer(t.Context(), q, &out, &out)
			if p.shows(out.String()) != "" {
				shown++
				assert.False(t, redact, "%v %s", q.Words, q.Line)
			}
		}
		for _, option := range []string{"-redact=false", "--redact=false", "-REDACT=0", "-redact=no", "/redact=false", "-redact=f"} {
			for _, command := range []string{"dumpstring", "dumpobj", "db", "listnearobj"} {
				try(cli.Question{Words: []string{command, option, at}})
				try(cli.Question{Words: []string{command, at, option}})
				try(cli.Question{Words: []string{option, command, at}})
				try(cli.Question{Words: []string{command, at, option}, JSON: true})
				try(cli.Question{Line: command + " " + at + " " + option})
			}
			try(cli.Question{Line: ".foreach (x {.echo " + at + "}) {dumpstring " + option + " ${x}}"})
			try(cli.Question{Line: ".echo " + at + " | foreach dumpstring " + option})
			try(cli.Question{Line: "dumpheap -strings " + option + " | head -n 1000"})
		}
		if !redact {
			assert.Greater(t, shown, 10)
		}
	}
}

// TestDeskNamesNoFile: web, dap and mcp ask a desk. From there no option and no argument of any command that is a file names one, whatever its type,
// and no command serves.
func TestDeskNamesNoFile(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	opened, err := commands.Open(t.Context(), d.Path, cli.OpenOptions{Offline: true})
	require.NoError(t, err)
	defer opened.Close()
	desk := cli.NewDesk(cli.Env{Commands: commands.All(), Open: commands.Open}, opened, d.Path, "")
	files := []string{"/etc/passwd", "/proc/self/environ", "../../../etc/passwd", "/dev/zero", "http://127.0.0.1:1/x", "s3://bucket/x", filepath.Join(t.TempDir(), "new")}
	named, serve := 0, 0
	refused := func(words ...string) {
		var out bytes.Buffer
		code := desk.Answer(t.Context(), cli.Question{Words: words}, &out, &out)
		assert.Equal(t, cli.ExitUsage, code, "%v: %s", words, out.String())
	}
	for _, command := range commands.All() {
		options, positional := command.Declares()
		words := []string{command.Name}
		if command.Serves {
			serve++
			refused(words...)
			continue
		}
		for _, o := range options {
			if o.Required {
				words = append(words, "-"+o.Name, "1")
			}
		}
		for _, a := range positional { // before the files, what a command needs
			if a.Kind == cli.File {
				for _, file := range files {
					refused(append(words[:len(words):len(words)], file)...)
				}
				named++
				break
			}
			if !a.Optional {
				words = append(words, append(a.Choices, "1")[0])
			}
		}
		for _, o := range options {
			if o.Kind != cli.File {
				continue
			}
			for _, file := range files {
				refused(append(words[:len(words):len(words)], "-"+o.Name, file)...)
				refused(append(words[:len(words):len(words)], "-"+o.Name+"="+file)...)
			}
			named++
		}
	}
	assert.Greater(t, named, 15)
	assert.GreaterOrEqual(t, serve, 3)
}
