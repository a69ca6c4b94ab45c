package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// verify runs the commands on the slice.
func (j *job) verify(ctx context.Context, small []byte, want [][]byte) error {
	open := func() (*sosgo.Dump, error) {
		return sosgo.OpenReaderAt(target.BytesSource(small), int64(len(small)), sosgo.Options{NoLocalFiles: true})
	}
	differ := 0
	for i, got := range answers(ctx, open, j.commands) {
		if !bytes.Equal(got, want[i]) && !slices.Contains(moreThanWanted, j.commands[i]) {
			if differ++; differ <= 10 {
				fmt.Fprintf(os.Stderr, "differs: %s\n%s\n", j.commands[i], firstDifference(want[i], got))
			}
		}
	}
	if differ > 0 {
		return fmt.Errorf("%d of %d commands print something else", differ, len(j.commands))
	}
	return nil
}

func firstDifference(want, got []byte) string {
	w, g := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range max(len(w), len(g)) {
		if i >= len(w) || i >= len(g) {
			return fmt.Sprintf("  %d lines, want %d", len(g), len(w))
		}
		if w[i] != g[i] {
			return fmt.Sprintf("  want %s\n  got  %s", w[i], g[i])
		}
	}
	return ""
}

type markOptions struct {
	Line int `arg:"line" help:"the number of the line"`
}

// answers runs command lines in one session and returns the output of each, including warnings and
// errors.
func answers(ctx context.Context, open func() (*sosgo.Dump, error), lines []string) [][]byte {
	var out bytes.Buffer
	ends := make([]int, len(lines))
	mark := cli.Print(cli.Command{Name: "slicedumpmark", Group: cli.GroupShell, Summary: "notes where an answer ends", Hidden: true},
		func(_ *cli.Context, o *markOptions, _ *report.Page) { ends[o.Line] = out.Len() })
	args := []string{"-d", "dump"}
	for i, line := range lines {
		args = append(args, "-c", line, "-c", mark.Name+" "+strconv.Itoa(i))
	}
	env := cli.Env{
		Commands: append(commands.All(), mark, inventory()),
		Open: func(context.Context, string, cli.OpenOptions) (cli.Dump, error) {
			d, err := open()
			if err != nil {
				return nil, err
			}
			return d.Dump, nil
		},
	}
	cli.Main(ctx, args, strings.NewReader(""), &out, &out, env)
	parts, start := make([][]byte, len(lines)), 0
	for i, end := range ends {
		parts[i] = out.Bytes()[start:max(start, end)]
		start = max(start, end)
	}
	return parts
}

// inventory returns a command that prints everything that the library finds.
func inventory() cli.Command {
	return cli.Print(cli.Command{Name: inventoryName, Group: cli.GroupShell, Summary: "prints what the library finds", Hidden: true, NeedsDump: true},
		func(c *cli.Context, _ *cli.None, p *report.Page) { p.Fail(writeInventory(p, c.Dump().(*process.Dump))) })
}

func writeInventory(p *report.Page, d *process.Dump) error {
	for _, inst := range d.Runtimes() {
		p.Printf("runtime %s %v\n", inst.Version(), inst.Module.Base)
	}
	rt, err := d.Runtime()
	if err != nil {
		return err
	}
	threads, err := rt.Threads()
	for _, t := range threads {
		p.Printf("thread %v %d %#x %v\n", t.Addr, t.ManagedID, t.OSID, t.LastThrown)
	}
	p.Printf("%v\n", err)
	modules, err := rt.KnownModules()
	for _, m := range modules {
		name, nameErr := m.SimpleName()
		p.Printf("module %v %s %v\n", m.Addr, name, nameErr)
	}
	p.Printf("%v\n", err)
	h, err := d.Heap()
	if err != nil {
		return err
	}
	for o, err := range h.Objects() {
		if err != nil {
			p.Printf("%v\n", err)
			continue
		}
		name, nameErr := rt.TypeName(o.Type.Addr, dac.NameNative)
		p.Printf("%v %v %d %s %v\n", o.Addr, o.Type.Addr, o.Size, name, nameErr)
	}
	return nil
}
