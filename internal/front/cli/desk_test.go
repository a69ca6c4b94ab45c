package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/report"
)

type readOptions struct {
	Files []string `arg:"file" kind:"file" help:"it"`
}

// withDesk runs a command that has a desk over a fake dump.
func withDesk(t *testing.T, use func(d *Desk)) (closed int, stderr string) {
	t.Helper()
	commands := append(fakeCommands(),
		Command{Name: "desk", Group: GroupProcess, Summary: "ask others", NeedsDump: true, Ask: text(func(c *Context, _ *report.Page) error {
			d, err := c.Desk("allowed.dmp")
			if err == nil {
				use(d)
			}
			return err
		})},
		textWith(Command{Name: "reads", Group: GroupProcess, Summary: "read a file"}, func(_ *Context, o *readOptions, p *report.Page) error {
			p.Printf("read %s\n", o.Files)
			return nil
		}),
		textWith(Command{Name: "writes", Group: GroupProcess, Summary: "write a file"}, func(c *Context, o *fakeWord, _ *report.Page) error {
			return c.WriteFile(o.Word, New, func(io.Writer) error { return nil })
		}),
		Command{Name: "digs", Group: GroupProcess, Summary: "show progress", Ask: text(func(c *Context, _ *report.Page) error {
			c.Progress("digging").Set(1, 4)
			return nil
		})},
		Command{Name: "window", Group: GroupProcess, Summary: "rows", Result: report.Result[fakeRows](), Ask: func(*Context) (report.Answer, error) {
			return report.Say(fakeRows{Rows: []fakeRow{{1, 1}, {2, 2}, {3, 3}}}, func(*report.Page, fakeRows) {}), nil
		}},
	)
	var stdout, errs bytes.Buffer
	code := Main(t.Context(), []string{"-d", "x.dmp", "desk"}, strings.NewReader(""), &stdout, &errs, Env{Commands: commands,
		Open: func(context.Context, string, OpenOptions) (Dump, error) { return fakeDump{&closed}, nil }})
	assert.Zero(t, code, errs.String())
	return closed, errs.String()
}

func at(d *Desk, q Question) (out, errs string, code int) {
	var stdout, stderr bytes.Buffer
	code = d.Answer(context.Background(), q, &stdout, &stderr)
	return stdout.String(), stderr.String(), code
}

// TestDeskProgress checks that a question's Watch receives the command's progress.
func TestDeskProgress(t *testing.T) {
	_, errs := withDesk(t, func(d *Desk) {
		var reports []string
		var digging *Progress
		_, _, code := at(d, Question{Line: "digs", Watch: func(work string, p *Progress) {
			reports, digging = append(reports, work), p
		}})
		assert.Zero(t, code)
		require.Equal(t, []string{"digging"}, reports)
		done, total, runs := digging.At()
		assert.Equal(t, "1 4 false", fmt.Sprint(done, " ", total, " ", runs))
	})
	assert.Empty(t, errs)
}

// TestDesk: a desk answers lines and words, over a dump that stays open, each in a session of its own.
func TestDesk(t *testing.T) {
	closed, _ := withDesk(t, func(d *Desk) {
		out, _, code := at(d, Question{Words: []string{"obj", "10", "-n", "3"}})
		assert.Zero(t, code)
		assert.Contains(t, out, "n=3")
		out, _, _ = at(d, Question{Line: "lines 5 | head -n 2"})
		assert.Equal(t, "line 0\nline 1\n", out)
		_, errs, code := at(d, Question{Line: "obj $_"})
		assert.Equal(t, ExitUsage, code, "another question's address is not known")
		assert.Contains(t, errs, "no value yet")
		out, _, _ = at(d, Question{Words: []string{"window"}, JSON: true, Part: &report.Window{From: 1, Count: 1}})
		assert.JSONEq(t, `{"command":"window","schema":2,"result":{"rows":[{"address":"0x2","n":2}]},"lists":{"rows":{"from":1,"listed":1,"of":3}}}`, out)

		s := d.Seat()
		var b bytes.Buffer
		s.Answer(t.Context(), Question{Line: "obj 4711"}, &b, &b)
		b.Reset()
		s.Answer(t.Context(), Question{Line: "obj $_"}, &b, &b)
		assert.Contains(t, b.String(), "4711", "a seat remembers")
	})
	assert.Equal(t, 1, closed)
}

// TestDeskIsReadOnly: what a desk runs names no file but those that were allowed, writes none, and asks no desk.
func TestDeskIsReadOnly(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out")
	withDesk(t, func(d *Desk) {
		for _, line := range []string{"reads /etc/passwd", "reads allowed.dmp /etc/passwd", "writes " + file, "lines 3 > " + file, "lines 3 >> " + file, "analyze", "desk", "analyze x.dmp"} {
			out, errs, code := at(d, Question{Line: line})
			assert.Equal(t, ExitUsage, code, "%s: %s%s", line, out, errs)
		}
		out, _, code := at(d, Question{Line: "reads allowed.dmp"})
		assert.Zero(t, code)
		assert.Equal(t, "read [allowed.dmp]\n", out)
	})
	_, err := os.Stat(file)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestDeskAtOnce: many ask at a time.
func TestDeskAtOnce(t *testing.T) {
	withDesk(t, func(d *Desk) {
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				out, _, _ := at(d, Question{Line: "lines 3"})
				assert.Equal(t, "line 0\nline 1\nline 2\n", out)
			})
		}
		wg.Wait()
	})
}

// TestDeskStops: the end of the context ends the command.
func TestDeskStops(t *testing.T) {
	withDesk(t, func(d *Desk) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var b bytes.Buffer
		assert.Equal(t, ExitInterrupted, d.Answer(ctx, Question{Line: "lines 1000000"}, &b, &b))
	})
}

// TestOpenDesk: a command may have desks over dumps that it opens, with options of its own; they complete lines.
func TestOpenDesk(t *testing.T) {
	closed := 0
	var opened []string
	var list []string
	commands := append(fakeCommands(), Command{Name: "desk", Group: GroupProcess, Summary: "ask others", Ask: text(func(c *Context, _ *report.Page) error {
		in, out := c.Streams()
		b, err := io.ReadAll(in)
		require.NoError(t, err)
		_, err = io.WriteString(out, string(b)+"\x1b")
		require.NoError(t, err)
		_, _, err = c.OpenDesk(t.Context(), "-", func(*OpenOptions) {})
		require.ErrorAs(t, err, new(*OpenError))
		_, _, err = c.OpenDesk(t.Context(), "bad", func(*OpenOptions) {})
		require.ErrorAs(t, err, new(*OpenError))
		d, dump, err := c.OpenDesk(t.Context(), "y.dmp", func(o *OpenOptions) { o.Modules = append(o.Modules, "m") })
		require.NoError(t, err)
		seat := d.Seat()
		var n int
		list, n = seat.Complete("wai")
		assert.Equal(t, 3, n)
		again, _ := seat.Complete("wai")
		assert.Equal(t, list, again)
		return dump.Close()
	})})
	var stdout, errs bytes.Buffer
	code := Main(t.Context(), []string{"desk"}, strings.NewReader("in"), &stdout, &errs, Env{Commands: commands,
		Open: func(_ context.Context, path string, o OpenOptions) (Dump, error) {
			if path == "bad" {
				return nil, io.EOF
			}
			opened = append(append(opened, path), o.Modules...)
			return fakeDump{&closed}, nil
		}})
	assert.Zero(t, code, errs.String())
	assert.Equal(t, "in\x1b", stdout.String())
	assert.Equal(t, []string{"y.dmp", "m"}, opened)
	assert.Equal(t, 1, closed)
	assert.Equal(t, []string{"wait "}, list)
}
