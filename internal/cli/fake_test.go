package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/report"
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

// fakeCommands exercise everything that a command can ask of the framework.
func fakeCommands() []Command {
	return []Command{
		{Name: "obj", Aliases: []string{"do"}, Group: GroupObjects, Summary: "print an address", NeedsDump: true,
			Args: []Arg{{Name: "address", Kind: Address, Summary: "of the object"}},
			Options: []Option{
				{Name: "nofields", Summary: "short"},
				{Name: "mt", Kind: Address, Summary: "method table"},
				{Name: "min", Kind: Size, Summary: "smallest"},
				{Name: "n", Kind: Int, Summary: "count"},
				{Name: "type", Kind: TypeName, Summary: "type"},
				{Name: "gen", Kind: Str, Choices: []string{"gen0", "loh"}, Summary: "generation"},
			},
			Ask: text(func(c *Context, p *report.Page) error {
				a, _ := c.Addr("address")
				mt, hasMT := c.Addr("mt")
				size, _ := c.Size("min")
				n, _ := c.Int("n")
				typ, _ := c.Str("type")
				gen, _ := c.Str("gen")
				p.Printf("obj %s nofields=%t mt=%x/%t min=%d n=%d type=%q gen=%q\n",
					a, c.Bool("nofields"), uint64(mt), hasMT, size, n, typ, gen)
				return nil
			})},
		{Name: "lines", Group: GroupObjects, Summary: "print lines",
			Args: []Arg{{Name: "n", Kind: Int, Summary: "how many"}},
			Ask: text(func(c *Context, p *report.Page) error {
				n, _ := c.Int("n")
				for i := range n {
					if err := c.Context().Err(); err != nil {
						return err
					}
					p.Printf("line %d\n", i)
				}
				return nil
			})},
		{Name: "rows", Group: GroupObjects, Summary: "list rows", Result: report.Result[fakeRows](),
			Ask: func(*Context) (report.Answer, error) {
				rows := &fakeRows{Rows: []fakeRow{{0x1000, 0}, {0x1001, 1}}}
				rows.Note(fmt.Errorf("row 3: %w", target.ErrNotInDump))
				return report.Say(rows, func(*report.Page, *fakeRows) {}), nil
			}},
		{Name: "fail", Group: GroupProcess, Summary: "fail", Args: []Arg{{Name: "how", Kind: Str, Summary: "kind"}},
			Ask: text(func(c *Context, p *report.Page) error {
				how, _ := c.Str("how")
				p.Printf("before\n")
				switch how {
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
			})},
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
		{Name: "thread", Group: GroupThreads, Summary: "set or print the thread",
			Args: []Arg{{Name: "id", Kind: Int, Optional: true, Summary: "OS id"}},
			Ask: text(func(c *Context, p *report.Page) error {
				if id, ok := c.Int("id"); ok {
					c.Session.SetThread(uint32(id))
					return nil
				}
				id, ok := c.Session.Thread()
				p.Printf("thread %d %t\n", id, ok)
				return nil
			})},
		{Name: "put", Group: GroupProcess, Summary: "write a file", Hidden: true, Options: []Option{{Name: "out", Kind: File, Summary: "to write"}},
			Ask: text(func(c *Context, p *report.Page) error {
				name, _ := c.Str("out")
				return c.WriteFile(name, Replace, func(w io.Writer) error {
					_, err := io.WriteString(w, "put")
					return err
				})
			})},
		{Name: "misuse", Group: GroupProcess, Summary: "read what is not declared", Hidden: true,
			Ask: text(func(c *Context, p *report.Page) error { c.Bool("nothere"); return nil })},
		{Name: "info", Group: GroupProcess, Summary: "name a dump", DumpArg: true, NeedsDump: true,
			Args: []Arg{{Name: "file", Kind: File, Optional: true, Summary: "the dump"}},
			Ask: text(func(c *Context, p *report.Page) error {
				p.Printf("info of %s\n", filepath.Base(c.Session.Path()))
				return nil
			})},
	}
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
		TypeNames: func(_ Dump, _, prefix string, _ int) []string { return []string{prefix + ".String", "bad\x1bname"} },
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
