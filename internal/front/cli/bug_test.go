package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/internal/front/report"
)

// panicking returns commands that panic: in their own goroutine, in a worker, and in the middle of a list.
func panicking() []Command {
	type row struct {
		Bad badJSON `json:"bad" doc:"panics"`
	}
	type rows struct {
		Rows []row `json:"rows" doc:"rows"`
	}
	return []Command{
		{Name: "nil", Group: GroupProcess, Summary: "panic", NeedsDump: true, Ask: text(func(*Context, *report.Page) error {
			maps.Copy(map[string]int(nil), map[string]int{"x": 1})
			return nil
		})},
		{Name: "worker", Group: GroupProcess, Summary: "panic", NeedsDump: true, Ask: text(func(*Context, *report.Page) error {
			var g workers.Group
			for i := range 4 {
				g.Go(func() { _ = make([]int, 2)[i] })
			}
			g.Wait()
			return nil
		})},
		{Name: "row", Group: GroupProcess, Summary: "panic", NeedsDump: true, Result: report.Result[rows](),
			Ask: func(*Context) (report.Answer, error) {
				return report.Say(&rows{Rows: make([]row, 2)}, func(*report.Page, *rows) { panic("text") }), nil
			}},
	}
}

type badJSON struct{}

func (badJSON) MarshalJSON() ([]byte, error) { panic("JSON") }

// TestBug checks that a panic ends only its command, is reported as a bug of sosgo, and has its own exit code.
func TestBug(t *testing.T) {
	core := dumpFolder(t, "core.1") + "/core.1"
	opened, closed := 0, 0
	env := Env{Commands: append(fakeCommands(), panicking()...), Recover: true,
		Open: func(context.Context, string, OpenOptions) (Dump, error) { opened++; return fakeDump{&closed}, nil }}
	for _, name := range []string{"nil", "worker", "row"} {
		for _, form := range []string{"-sos=false", "-json"} {
			opened, closed = 0, 0
			var stdout, stderr bytes.Buffer
			code := Main(t.Context(), []string{"-d", core, form, "-c", name, "-c", "obj 1"}, strings.NewReader(""), &stdout, &stderr, env)
			assert.Equal(t, ExitBug, code, name)
			assert.Contains(t, stderr.String(), "this is a bug of sosgo", name)
			assert.Contains(t, stderr.String(), "cli/bug_test.go:", "where it happened: "+name)
			assert.Contains(t, stderr.String(), "/issues", "where to report it")
			assert.Contains(t, stdout.String(), "obj 0000000000000001", "the session lives on")
			assert.Equal(t, []int{2, 2}, []int{opened, closed}, "and opens the dump anew")
			if form == "-json" {
				docs := decodeAll(t, stdout.String())
				assert.Equal(t, "bug", docs[0].Error["kind"])
				assert.EqualValues(t, ExitBug, docs[0].Error["exit"])
			}
		}
	}
	env.Recover = false
	assert.Panics(t, func() {
		Main(t.Context(), []string{"-d", core, "nil"}, nil, &bytes.Buffer{}, &bytes.Buffer{}, env)
	}, "what panics shows in tests")
}

// TestPromptSurvivesBug checks panics in the prompt itself.
func TestPromptSurvivesBug(t *testing.T) {
	var out bytes.Buffer
	a := fakeApp(t, &out, nil)
	a.env.Recover = true
	a.env.Names = func(Dump, string) Names { panic("types") }
	a.session.dump = fakeDump{new(int)}
	got, _ := completer{a: a}.Do("do -type x")
	assert.Empty(t, got)

	a = fakeApp(t, &out, nil)
	a.env.Recover = true
	a.env.Open = nil
	a.session.path = "x"
	a.session.open = func(context.Context, string, OpenOptions) (Dump, error) { panic("opening") }
	err := a.openForPrompt(a.newContext(t.Context(), &Command{}, newParser(&Command{}, a.global), &sink{w: &out}))
	var bug *BugError
	require.ErrorAs(t, err, &bug)
	assert.Equal(t, ExitBug, ExitCode(err))
}

// TestFaultIsNoBug checks that a fault in a shrunk mapped file is not reported as a bug.
func TestFaultIsNoBug(t *testing.T) {
	a := fakeApp(t, &bytes.Buffer{}, nil)
	a.env.Recover = true
	err := a.protect(func() error { panic(fault{}) })
	assert.Equal(t, ExitOpen, ExitCode(err))
	assert.ErrorContains(t, err, "became shorter")
	assert.NotErrorIs(t, err, os.ErrNotExist)
	assert.False(t, errors.As(err, new(*BugError)))
	_, jsonErr := json.Marshal(problem(err))
	require.NoError(t, jsonErr)
}

type fault struct{}

func (fault) Error() string { return "unexpected fault address" }
func (fault) Addr() uintptr { return 0x7f000000 }
