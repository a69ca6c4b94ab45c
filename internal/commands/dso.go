package commands

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/stackscan"
	"github.com/sosgo/sosgo/target"
	"github.com/sosgo/sosgo/threads"
)

func dumpStackObjectsCommand() cli.Command {
	return cli.Command{
		Name: "dumpstackobjects", Aliases: []string{"dso"}, Group: cli.GroupThreads, NeedsDump: true,
		Summary: "list the objects that a thread's registers and stack refer to",
		Help: "Every word of the stack is looked at, also those that no longer matter. Only addresses count at which a " +
			"walk of the heap finds an object; where the dump lacks the heap, what looks like an object is marked (unproven). " +
			"With one argument that thread is taken (see threads for its numbers), with two the memory between them.",
		Usage: "[-verify | -precise] [-all | THREAD | TOP BOTTOM]",
		Args:  []cli.Arg{{Name: "what", Kind: cli.Str, Optional: true, Rest: true, Summary: "a thread, or the ends of a range of memory"}},
		Options: append(threadOptions(),
			cli.Option{Name: "verify", Summary: "leave out unproven and damaged objects"},
			cli.Option{Name: "precise", Summary: "only what the garbage collector takes for live, frame by frame"},
			cli.Option{Name: "all", Summary: "all threads, one after the other"}),
		Examples: []cli.Example{
			{Line: "dso", Text: "the current thread"},
			{Line: "dso -m 4", Text: "the thread with the managed id 4"},
			{Line: "dso 7ffc6db0bf70 7ffc6db0c370", Text: "a range of memory"},
		},
		Result: []report.Part{report.ListOf[stackObject]("objects")},
		Run:    runDumpStackObjects,
	}
}

type stackObject struct {
	OSID     uint32         `json:"osId,omitempty" doc:"OS id of the thread"`
	Slot     report.Address `json:"slot,omitempty" doc:"the word of the stack that refers to the object"`
	Register string         `json:"register,omitempty" doc:"the register that does"`
	Object   report.Address `json:"object" doc:"the object"`
	Type     string         `json:"type" doc:"its type"`
	Value    string         `json:"value,omitempty" doc:"text of a string, message of an exception"`
	Frame    report.Address `json:"frame,omitempty" doc:"with -precise: stack pointer of the frame that holds the reference"`
	Interior bool           `json:"interior,omitempty" doc:"with -precise: it may point into an object, or at none"`
	Pinned   bool           `json:"pinned,omitempty" doc:"with -precise: it keeps the object where it is"`
	Unproven bool           `json:"unproven,omitempty" doc:"no walk of the heap reaches the object: it looks like one"`
}

func runDumpStackObjects(c *cli.Context) error {
	rt, err := runtimeOf(c)
	if err != nil {
		return err
	}
	scanner, err := viewOf(c).Scanner()
	if err != nil {
		return err
	}
	threads, err := allThreads(c)
	if err != nil {
		return err
	}
	if c.JSON() != nil {
		if err := c.JSON().List("objects"); err != nil {
			return err
		}
	}
	p := &stackPrinter{c: c, rt: rt, scanner: scanner, objects: objects.New(rt), names: map[target.Addr]string{}}
	args := c.Strings("what")
	switch {
	case c.Bool("all"):
		return p.allThreads(threads)
	case len(args) == 2:
		return p.rangeOf(currentThread(c, threads), args[0], args[1])
	case len(args) > 2:
		return c.Usagef("give a thread, or the two ends of a range")
	}
	text := ""
	if len(args) == 1 {
		text = args[0]
	}
	t, err := chosenThread(c, threads, text)
	if err != nil {
		return err
	}
	return p.thread(t)
}

// A stackPrinter prints what scans find.
type stackPrinter struct {
	c       *cli.Context
	rt      *dac.Runtime
	scanner *stackscan.Scanner
	objects *objects.Reader
	names   map[target.Addr]string // of MethodTables
}

func (p *stackPrinter) allThreads(threads []sosgo.Thread) error {
	first := true
	for i := range threads {
		t := &threads[i]
		if t.OS == nil {
			continue
		}
		if !first && p.c.JSON() == nil {
			p.c.Printf("\n")
		}
		first = false
		if err := p.thread(t); errors.Is(err, target.ErrNotInDump) {
			p.c.Warn(err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (p *stackPrinter) rangeOf(t *sosgo.Thread, from, to string) error {
	a, err := cli.ParseAddress(from)
	if err != nil {
		return p.c.Usagef("%v", err)
	}
	b, err := cli.ParseAddress(to)
	if err != nil {
		return p.c.Usagef("%v", err)
	}
	if a > b {
		a, b = b, a
	}
	return p.scan(t, threads.Stack{Ranges: []target.Range{{Start: a &^ 7, End: alignUp(b)}}})
}

// alignUp is the next multiple of the pointer size, if there is one.
func alignUp(a target.Addr) target.Addr {
	if a > ^target.Addr(7) {
		return ^target.Addr(7)
	}
	return (a + 7) &^ 7
}

func (p *stackPrinter) thread(t *sosgo.Thread) error {
	if p.c.Bool("precise") {
		return p.precise(t)
	}
	stack, err := t.Stack(dumpOf(p.c).Target())
	if err != nil {
		return err
	}
	if p.c.SOS {
		p.extend(t, &stack)
	}
	return p.scan(t, stack)
}

// sosMargin is how far SOS scans behind the outermost frame where no thread
// environment block tells the base of the stack.
const sosMargin = 0x2000

// extend makes the stack as long as SOS takes it, which may be longer than it
// is: the rows from the memory behind it belong to something else.
func (p *stackPrinter) extend(t *sosgo.Thread, stack *threads.Stack) {
	if t.Managed == nil || t.OS.TEB != 0 || stack.Alternate {
		return
	}
	var last target.Addr
	for f, err := range p.rt.Frames(t.Managed) {
		if err != nil {
			break // as far as the chain goes
		}
		last = f.Addr
	}
	r := &stack.Ranges[0]
	if last >= r.Start && last < r.End {
		// Only as far as the dump goes: it is no part of the stack that could be missed.
		if more := last + sosMargin; more > r.End {
			r.End += target.Addr(min(uint64(more-r.End), uint64(len(p.rt.Target().Span(r.End)))))
		}
	}
}

func (p *stackPrinter) scan(t *sosgo.Thread, stack threads.Stack) error {
	c := p.c
	table := report.NewTable(c.Out, report.Column{Name: "SP/REG", Kind: report.Pointer}, report.Column{Name: "Object", Kind: report.Pointer},
		report.Column{Name: "Name", Kind: report.TypeName})
	if c.JSON() == nil {
		c.Printf("%s\n", threadHeading(t))
		if stack.Alternate {
			normal := stack.Ranges[1]
			c.Printf("Note: Thread appears to be on alternate signal stack. Also scanning normal thread stack %x-%x.\n",
				uint64(normal.Start), uint64(normal.End))
		}
		if err := table.Header(); err != nil {
			return err
		}
	}
	o := stackscan.Options{Ranges: stack.Ranges, Verify: c.Bool("verify")}
	if t.OS != nil {
		o.Registers = &t.OS.Registers
	}
	for slot, err := range p.scanner.Scan(c.Context(), o) {
		if c.Context().Err() != nil {
			return c.Context().Err()
		}
		if err != nil {
			c.Warn(fmt.Errorf("thread %#x: %w", t.ID(), err))
			continue
		}
		if err := p.row(t, table, &slot); err != nil {
			return err
		}
	}
	return table.Flush()
}

func (p *stackPrinter) row(t *sosgo.Thread, table *report.Table, s *stackscan.Slot) error {
	if j := p.c.JSON(); j != nil {
		r := stackObject{OSID: t.ID(), Slot: report.Address(s.Addr), Object: report.Address(s.Object), Type: p.name(s), Unproven: s.Unproven}
		if s.Source == stackscan.SourceRegister {
			r.Register = target.RegName(t.OS.Registers.Arch, s.Register)
		}
		r.Value, _ = p.value(s)
		return j.Item("objects", r)
	}
	if s.Source == stackscan.SourceRegister {
		table.Text(target.RegName(t.OS.Registers.Arch, s.Register))
	} else {
		table.Uint(uint64(s.Addr))
	}
	table.Uint(uint64(s.Object))
	name := p.name(s)
	if !p.c.SOS {
		if v, ok := p.value(s); ok {
			name += " " + v
		}
		if s.Unproven {
			name += " (unproven)"
		}
	}
	table.Text(name)
	return table.End()
}

func (p *stackPrinter) name(s *stackscan.Slot) string {
	if s.Free {
		return "Free"
	}
	if name, ok := p.names[s.Type.Addr]; ok {
		return name
	}
	name, err := p.rt.TypeName(s.Type.Addr, dac.NameManaged)
	if err != nil {
		p.c.Warn(err)
		name = "Unknown (MethodTable: " + report.Hex12(s.Type.Addr) + ")"
	}
	p.names[s.Type.Addr] = name
	return name
}

// maxInline is how many characters of a text are shown in a line.
const maxInline = 80

// value says in a few characters what is in the object: the text of a string,
// the message of an exception, a boxed value.
func (p *stackPrinter) value(s *stackscan.Slot) (string, bool) {
	if s.Free {
		return "", false
	}
	if ok, err := p.rt.IsException(s.Type); ok && err == nil {
		e, err := p.rt.Exception(s.Object)
		if err != nil || e.Message == 0 {
			return "", false
		}
		text, err := p.rt.StringAt(e.Message, maxInline+1)
		if err != nil {
			return notInDump, true
		}
		return answer.Quote(report.CutEnd(text, maxInline)), true
	}
	o, err := p.objects.Object(s.Object)
	if err != nil || !o.IsString() && !o.IsBoxed() {
		return "", false
	}
	if o.IsBoxed() {
		return o.Boxed().Plain(maxInline), true
	}
	return o.Inline(maxInline), true
}
