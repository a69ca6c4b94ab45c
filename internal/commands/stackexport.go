package commands

import (
	"errors"
	"fmt"
	"io"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/commands/ask"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/report/stackexport"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

func stacksCommand() cli.Command {
	return cli.Command{
		Name: "stacks", Group: cli.GroupThreads, NeedsDump: true,
		Summary: "write the stacks of all threads for other tools",
		Help: "folded is text for flame graphs, a line for each different stack with the number of its threads; " +
			"speedscope is for https://www.speedscope.app; pprof for \"go tool pprof\", with a sample for each thread; " +
			"json is the result that --json prints.",
		Options: []cli.Option{
			{Name: "export", Kind: cli.Str, Choices: []string{"folded", "speedscope", "pprof", "json"}, Value: "FORM", Summary: "the form; folded is the default"},
			{Name: "o", Aliases: []string{"out"}, Kind: cli.File, Value: "FILE", Summary: "write to that file, which must not exist"},
			{Name: "native", Summary: "native frames too"},
			{Name: "perthread", Summary: "folded: begin each stack with its thread"},
		},
		Examples: []cli.Example{
			{Line: "stacks --export folded | grep Socket", Text: "stacks with sockets in them, one a line"},
			{Line: "stacks --export speedscope -o stacks.json", Text: "a file for speedscope"},
			{Line: "stacks --export pprof -o stacks.pb.gz", Text: "a file for go tool pprof"},
		},
		Result: []report.Part{report.FieldOf[string]("file"), report.ListOf[exportedStack]("stacks")},
		Run:    runStacks,
	}
}

type exportedStack struct {
	OSID      uint32          `json:"osId" doc:"OS id of the thread"`
	ManagedID uint32          `json:"managedId,omitempty" doc:"its managed id"`
	Name      string          `json:"name,omitempty" doc:"its name"`
	Frames    []exportedFrame `json:"frames" doc:"the frames, from the leaf on"`
}

type exportedFrame struct {
	IP     report.Address `json:"ip" doc:"instruction pointer"`
	Name   string         `json:"name" doc:"the method, or the place in native code"`
	Module string         `json:"module,omitempty" doc:"file name of the module"`
	File   string         `json:"file,omitempty" doc:"source file"`
	Line   int            `json:"line,omitempty" doc:"line in it"`
}

func runStacks(c *cli.Context) error {
	form, _ := c.Str("export")
	name, toFile := c.Str("o")
	if c.JSON() != nil && !toFile {
		if c.Has("export") && form != "json" {
			return c.Usagef("-export %s makes no JSON result; give it a file with -o", form)
		}
	}
	p, err := collectStacks(c)
	if err != nil {
		return err
	}
	if !toFile {
		if c.JSON() != nil {
			return writeStacksJSON(c.JSON(), p)
		}
		return writeStacks(c, c.Out, p, form)
	}
	if err := writeNewFile(name, func(w io.Writer) error { return writeStacks(c, w, p, form) }); err != nil {
		return err
	}
	if e := c.JSON(); e != nil {
		return e.Field("file", name)
	}
	c.Printf("%s: the stacks of %d threads\n", report.Escape(name), len(p.Stacks))
	return nil
}

// writeNewFile is ask.NewFile.
func writeNewFile(name string, write func(io.Writer) error) error { return ask.NewFile(name, write) }

func writeStacks(c *cli.Context, w io.Writer, p *stackexport.Profile, form string) error {
	switch form {
	case "speedscope":
		return stackexport.Speedscope(w, p, target.BaseName(c.Session.Path()))
	case "pprof":
		return stackexport.Pprof(w, p)
	case "json":
		e := report.NewJSONEncoder(w, c.Command.Name)
		return errors.Join(writeStacksJSON(e, p), e.Close(nil, nil))
	}
	return stackexport.Folded(w, p, c.Bool("perthread"))
}

func writeStacksJSON(e *report.JSONEncoder, p *stackexport.Profile) error {
	if err := e.List("stacks"); err != nil {
		return err
	}
	for i := range p.Stacks {
		s := &p.Stacks[i]
		r := exportedStack{OSID: s.OSID, ManagedID: s.ManagedID, Name: s.Name, Frames: make([]exportedFrame, len(s.Frames))}
		for k, at := range s.Frames {
			f := &p.Frames[at]
			r.Frames[k] = exportedFrame{report.Address(f.IP), f.Name, f.Module, f.File, f.Line}
		}
		if err := e.Item("stacks", r); err != nil {
			return err
		}
	}
	return nil
}

// collectStacks walks the stacks of all managed threads.
func collectStacks(c *cli.Context) (*stackexport.Profile, error) {
	rt, err := runtimeOf(c)
	if err != nil {
		return nil, err
	}
	walker, err := viewOf(c).Walker()
	if err != nil {
		return nil, err
	}
	threads, err := allThreads(c)
	if err != nil {
		return nil, err
	}
	x := &stackCollector{c: c, symbols: dumpOf(c).Symbols(), known: map[stackPlace]int{}}
	for _, t := range runningThreads(c, rt, threads) {
		if err := c.Context().Err(); err != nil {
			return nil, err
		}
		x.add(t, walker)
	}
	return &x.profile, c.Context().Err()
}

// A stackPlace is what the name and the line of a frame depend on.
type stackPlace struct {
	ip    target.Addr
	exact bool
}

// A stackCollector makes a profile of walks.
type stackCollector struct {
	c       *cli.Context
	symbols *image.Symbols
	profile stackexport.Profile
	known   map[stackPlace]int
}

func (x *stackCollector) add(t *sosgo.Thread, walker *stackwalk.Walker) {
	s := stackexport.Stack{OSID: t.OS.ID, ManagedID: t.Managed.ManagedID, Name: threadName(x.c, t)}
	for f := range walker.Walk(x.c.Context(), t.Managed, t.OS.Registers, stackwalk.WalkOptions{Native: x.c.Bool("native")}) {
		if f.Err != nil {
			x.c.Warn(fmt.Errorf("stack of thread %#x ends at %#x: %w", t.OS.ID, uint64(f.SP), f.Err))
		}
		if f.Kind == stackwalk.FrameExplicit || f.Kind == stackwalk.FrameNative && !x.c.Bool("native") {
			continue
		}
		at := stackPlace{f.IP, f.Exact}
		i, ok := x.known[at]
		if !ok {
			i = x.profile.Frame(x.frame(&f))
			x.known[at] = i
		}
		s.Frames = append(s.Frames, i)
	}
	x.profile.Stacks = append(x.profile.Stacks, s)
}

// frame describes a frame of a walk.
func (x *stackCollector) frame(f *stackwalk.Frame) stackexport.Frame {
	out := stackexport.Frame{IP: uint64(f.IP)}
	if f.Kind == stackwalk.FrameNative {
		out.Name = nativeName(x.symbols, f.IP)
		out.Module = target.BaseName(f.Module.Path)
		return out
	}
	name, err := f.Name()
	out.Name = textOr(x.c, name, err)
	if m, err := f.Code.Method.Module(); err == nil {
		if file, err := m.File(); err == nil {
			out.Module = target.BaseName(file)
		}
	}
	if line, err := f.SourceLine(); err == nil {
		out.File, out.Line = line.File, line.Line
	}
	return out
}

// nativeName names an address in native code, or is the address.
func nativeName(symbols *image.Symbols, a target.Addr) string {
	if s, ok := symbols.At(a); ok {
		return s.String()
	}
	return report.Hex(a)
}
