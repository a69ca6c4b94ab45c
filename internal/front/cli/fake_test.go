package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

type fakeDump struct{ closed *int }

func (d fakeDump) Close() error {
	*d.closed++
	return nil
}

type fakeRow struct {
	Address target.Addr `json:"address" doc:"where it is"`
	N       int         `json:"n,omitempty" doc:"its number"`
}

type fakeRows struct {
	answer.Gaps
	Rows []fakeRow `json:"rows" doc:"the rows"`
}

// text makes a command of a function that only writes text.
func text(run func(*Context, *report.Page) error) func(*Context) (report.Answer, error) {
	return func(c *Context) (report.Answer, error) {
		return report.SayText(func(p *report.Page) { p.Fail(run(c, p)) }), nil
	}
}

// textWith makes a command with options of a function that only writes text.
func textWith[O any](c Command, run func(*Context, *O, *report.Page) error) Command {
	return Print(c, func(c *Context, o *O, p *report.Page) { p.Fail(run(c, o, p)) })
}

type fakeOptions struct {
	NoFields bool         `opt:"nofields" help:"short"`
	MT       *target.Addr `opt:"mt" help:"method table"`
	Min      uint64       `opt:"min" kind:"size" help:"smallest"`
	N        int          `opt:"n" help:"count"`
	Type     string       `opt:"type" kind:"type" help:"type"`
	Gen      string       `opt:"gen" choices:"gen0|loh" help:"generation"`
	Address  target.Addr  `arg:"address" help:"of the object"`
}

type fakeCount struct {
	N int `arg:"n" help:"how many"`
}

type fakeID struct {
	ID *uint32 `arg:"id,optional" help:"OS id"`
}

type fakeWord struct {
	Word string `arg:"word" help:"a word"`
}

// fakeCommands exercise everything that a command can ask of the framework.
func fakeCommands() []Command {
	return []Command{
		Do(Command{Name: "ask", Group: GroupObjects, Summary: "ask", Raw: true, Hidden: true}, func(*Context, *completed) (report.Answer, error) { return report.Answer{}, nil }),
		Do(Command{Name: "code", Group: GroupObjects, Summary: "print code", Hidden: true},
			func(*Context, *struct {
				A target.Addr `arg:"address" kind:"method" help:"method"`
			}) (report.Answer, error) {
				return report.Answer{}, nil
			}),
		textWith(Command{Name: "obj", Aliases: []string{"do"}, Group: GroupObjects, Summary: "print an address", NeedsDump: true},
			func(_ *Context, o *fakeOptions, p *report.Page) error {
				var mt target.Addr
				if o.MT != nil {
					mt = *o.MT
				}
				p.Printf("obj %s nofields=%t mt=%x/%t min=%d n=%d type=%q gen=%q\n",
					o.Address, o.NoFields, uint64(mt), o.MT != nil, o.Min, o.N, o.Type, o.Gen)
				return nil
			}),
		textWith(Command{Name: "lines", Group: GroupObjects, Summary: "print lines"}, func(c *Context, o *fakeCount, p *report.Page) error {
			for i := range o.N {
				if err := c.Context().Err(); err != nil {
					return err
				}
				p.Printf("line %d\n", i)
			}
			return nil
		}),
		{Name: "rows", Group: GroupObjects, Summary: "list rows", Result: report.Result[fakeRows](),
			Ask: func(*Context) (report.Answer, error) {
				rows := &fakeRows{Rows: []fakeRow{{0x1000, 0}, {0x1001, 1}}}
				rows.Note(fmt.Errorf("row 3: %w", target.ErrNotInDump))
				return report.Say(rows, func(*report.Page, *fakeRows) {}), nil
			}},
		textWith(Command{Name: "fail", Group: GroupProcess, Summary: "fail"}, func(c *Context, o *fakeWord, p *report.Page) error {
			p.Printf("before\n")
			switch o.Word {
			case "notindump":
				return fmt.Errorf("object: %w", &target.MemoryError{Addr: 0x10, Size: 8, Err: target.ErrNotInDump})
			case "corrupt":
				return target.Corruptf("bad \x1b[31mcount")
			case "unsupported":
				return target.Unsupportedf("strange")
			case "usage":
				return c.Usagef("wrong")
			}
			return errors.New("disk on fire")
		}),
		{Name: "warn", Group: GroupProcess, Summary: "warn", Ask: text(func(c *Context, p *report.Page) error {
			for i := range 3 {
				c.Warn(fmt.Errorf("part %d: %w", i/2, target.ErrNotInDump))
			}
			p.Printf("<not in dump>\n")
			return nil
		})},
		{Name: "wait", Group: GroupProcess, Summary: "wait for Ctrl-C", Ask: text(func(c *Context, p *report.Page) error {
			p.Printf("waiting\n")
			<-c.Context().Done()
			return c.Context().Err()
		})},
		textWith(Command{Name: "thread", Group: GroupThreads, Summary: "set or print the thread"}, func(c *Context, o *fakeID, p *report.Page) error {
			if o.ID != nil {
				c.Session.SetThread(*o.ID)
				return nil
			}
			id, ok := c.Session.Thread()
			p.Printf("thread %d %t\n", id, ok)
			return nil
		}),
		textWith(Command{Name: "put", Group: GroupProcess, Summary: "write a file", Hidden: true}, func(c *Context, o *putOptions, _ *report.Page) error {
			return c.WriteFile(o.Out, Replace, func(w io.Writer) error {
				_, err := io.WriteString(w, "put")
				return err
			})
		}),
		textWith(Command{Name: "info", Group: GroupProcess, Summary: "name a dump", DumpArg: true, NeedsDump: true},
			func(c *Context, _ *DumpFile, p *report.Page) error {
				p.Printf("info of %s\n", filepath.Base(c.Session.Path()))
				return nil
			}),
	}
}

type putOptions struct {
	Out string `opt:"out" kind:"file" help:"to write"`
}

// fakeNames has the type Ns.Type with a static field, an instance field and a method, and a type with a name that is
// not text.
type fakeNames struct{}

func startingWith(prefix string, names ...string) []string {
	return slices.DeleteFunc(names, func(n string) bool { return !matches(n, prefix) })
}

func (fakeNames) Types(_ context.Context, prefix string, _ int) []string {
	if !strings.Contains(prefix, ".") {
		return startingWith(prefix, "Ns.", "String", "bad\x1b")
	}
	return startingWith(prefix, "Ns.Type")
}

func (fakeNames) Members(_ context.Context, path string, kind Members, _ int) []string {
	if !strings.HasPrefix(path, "Ns.Type.") {
		return nil
	}
	if kind == Methods {
		return startingWith(path, "Ns.Type.Run")
	}
	return startingWith(path, "Ns.Type.s_one")
}

func (fakeNames) Fields(_ context.Context, typeName, path string, _ int) []string {
	if typeName != "Ns.Type" {
		return nil
	}
	return startingWith(path, "_field")
}

type completed struct {
	Text   []string `arg:"text" kind:"expression" help:"expression"`
	Where  string   `opt:"where" kind:"expression" help:"condition"`
	Object Object   `opt:"object" help:"object"`
}

type outcome struct {
	code           int
	stdout, stderr string
	opened         []string
	closed         int
}

// runMain runs sosgo in dir with fake commands.
func runMain(t *testing.T, dir, stdin string, vars map[string]string, args ...string) outcome {
	t.Helper()
	var o outcome
	env := Env{
		Commands:  fakeCommands(),
		Dir:       dir,
		LookupEnv: func(n string) (string, bool) { v, ok := vars[n]; return v, ok },
		Open: func(_ context.Context, path string, _ OpenOptions) (Dump, error) {
			if strings.HasSuffix(path, "bad") {
				return nil, target.Corruptf("cut off")
			}
			if _, err := os.Stat(path); err != nil {
				return nil, err
			}
			o.opened = append(o.opened, path)
			return fakeDump{&o.closed}, nil
		},
		Names: func(Dump, string) Names { return fakeNames{} },
	}
	var stdout, stderr bytes.Buffer
	o.code = Main(t.Context(), args, strings.NewReader(stdin), &stdout, &stderr, env)
	o.stdout, o.stderr = stdout.String(), stderr.String()
	return o
}

// coreHeader is enough of an ELF core to be taken for one.
const coreHeader = "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x00\x3e\x00"

func dumpFolder(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, n := range names {
		require.NoError(t, os.WriteFile(filepath.Join(dir, n), []byte(coreHeader), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.dmp"), []byte("not a dump, whatever its name says"), 0o600))
	return dir
}

func fakeApp(t *testing.T, stdout io.Writer, interrupt chan os.Signal) *app {
	t.Helper()
	env := &Env{Commands: fakeCommands(), Interrupt: interrupt}
	return newApp(strings.NewReader(""), stdout, io.Discard, env)
}
