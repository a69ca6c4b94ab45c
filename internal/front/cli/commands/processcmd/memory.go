package processcmd

import (
	"cmp"
	"fmt"
	"iter"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/resolve"
	"github.com/sosgo/sosgo/internal/base/hexdump"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/processtext"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// A memoryFormat is the format of one memory command.
type memoryFormat struct {
	name, summary string
	aliases       []string
	shape         hexdump.Shape
	text          bool // print characters next to each row
	described     bool // say what each element is the address of
}

// The commands and their formats are dotnet-dump's. Unless the format sets a width, a row has 32 bytes.
var (
	memoryFormats = []memoryFormat{
		{name: "d", aliases: []string{"readmemory"}, summary: "show memory", shape: hexdump.Shape{Length: 4, Count: 32}},
		{name: "db", summary: "show memory as bytes and ASCII", shape: hexdump.Shape{Length: 1, Count: 128, Width: 16}, text: true},
		{name: "dc", summary: "show memory as UTF-16 code units and text", shape: hexdump.Shape{Length: 2, Count: 64, Width: 8}, text: true},
		{name: "dw", summary: "show memory as 16-bit words", shape: hexdump.Shape{Length: 2, Count: 128}},
		{name: "dd", summary: "show memory as 32-bit words", shape: hexdump.Shape{Length: 4, Count: 64}},
		{name: "dp", summary: "show memory as pointers", shape: hexdump.Shape{Length: 8, Count: 32}},
		{name: "dq", summary: "show memory as 64-bit words", shape: hexdump.Shape{Length: 8, Count: 32}},
		{name: "dps", summary: "show memory as pointers, with what each refers to", shape: hexdump.Shape{Length: 8, Count: 32, Width: 1}, described: true},
	}
	stringFormats = []memoryFormat{
		{name: "da", summary: "show a zero-terminated ASCII string", shape: hexdump.Shape{Length: 1}},
		{name: "du", summary: "show a zero-terminated UTF-16 string", shape: hexdump.Shape{Length: 2}},
	}
)

// rowBytes is the number of bytes in a row.
const rowBytes = 32

type memoryOptions struct {
	End    *target.Addr `opt:"end,e" excludes:"upto" help:"where to end, instead of a count"`
	Count  int          `opt:"count,c" range:"1:0x10000000" help:"number of elements"`
	Length int          `opt:"length,l" choices:"1|2|4|8" help:"bytes of an element"`
	Width  int          `opt:"width,w" range:"1:4096" help:"elements of a row"`
	Prefix bool         `opt:"hex-prefix,h" help:"write 0x before each element"`
	Start  *target.Addr `arg:"address,optional" help:"where to start"`
	UpTo   upTo         `arg:"upto,optional" help:"L and a number of elements in hexadecimal, or where to end, as in WinDbg"`
}

// An upTo is the end of the memory to show, as in WinDbg: a number of elements, or the address of the last one.
type upTo struct {
	count int
	last  *target.Addr
	place string // a register with what is added to it, in place of last
}

// UnmarshalText parses L and a hexadecimal number, an address, or a register.
func (u *upTo) UnmarshalText(text []byte) error {
	count, isCount := strings.CutPrefix(strings.ToUpper(string(text)), "L")
	n, err := cli.ParseAddress(strings.TrimPrefix(count, "?"))
	switch place := cli.RegisterSum(string(text)); {
	case err != nil && place != "":
		u.place = place
	case err != nil || isCount && (n == 0 || n > limits.MemoryElements):
		return fmt.Errorf("%s is neither L and a number of elements nor an address", text)
	case isCount:
		u.count = int(n)
	default:
		u.last = &n
	}
	return nil
}

func memoryCommands() []cli.Command {
	var out []cli.Command
	for _, f := range memoryFormats {
		out = append(out, cli.AskWith(f.command(), f.askRows, func(p *report.Page, m *answer.Memory, o *memoryOptions) {
			processtext.Memory(p, m, processtext.MemoryOptions{Prefix: o.Prefix, Text: f.text})
		}))
	}
	for _, f := range stringFormats {
		out = append(out, cli.Ask(f.command(), f.askText, processtext.MemoryText))
	}
	return out
}

func (f memoryFormat) command() cli.Command {
	return cli.Command{Name: f.name, Aliases: f.aliases, Bytes: true, Summary: f.summary, Help: "Without an address, show the memory after the last one.",
		Examples: []cli.Example{{Line: f.name + " 7f079cc00b4c", Text: f.summary}}}
}

func (f memoryFormat) askRows(c *cli.Context, o *memoryOptions) (*answer.Memory, error) {
	a, shape, err := f.shaped(c, o)
	if err != nil {
		return nil, err
	}
	m, err := hexdump.Rows(c.Context(), ask.Dump(c).Memory(), a, shape)
	if err != nil {
		return nil, err
	}
	c.Session.SetLast(a + target.Addr(shape.Count*shape.Length))
	if f.described {
		m.Rows = described(c, m.Rows)
	}
	return m, nil
}

// described adds to each row of rows what its elements refer to.
func described(c *cli.Context, rows iter.Seq2[answer.MemoryRow, error]) iter.Seq2[answer.MemoryRow, error] {
	return func(yield func(answer.MemoryRow, error) bool) {
		for r, err := range rows {
			for _, e := range r.Elements {
				what := ""
				if e != nil {
					if a := resolve.Address(c.Context(), ask.View(c), target.Addr(*e)); a.Kind == answer.AddressModule || !a.Kind.Nameless() {
						what = strings.TrimPrefix(ask.Describe(a), "is ")
					}
				}
				r.What = append(r.What, what)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func (f memoryFormat) askText(c *cli.Context, o *memoryOptions) (*answer.MemoryText, error) {
	a, shape, err := f.shaped(c, o)
	if err != nil {
		return nil, err
	}
	return hexdump.Text(ask.Dump(c).Memory(), a, shape.Length)
}

// shaped returns the start address, and the format's shape as modified by the options.
func (f memoryFormat) shaped(c *cli.Context, o *memoryOptions) (target.Addr, hexdump.Shape, error) {
	s := hexdump.Shape{Length: cmp.Or(o.Length, f.shape.Length), Count: cmp.Or(o.UpTo.count, o.Count, f.shape.Count)}
	s.Width = cmp.Or(o.Width, f.shape.Width, rowBytes/s.Length)
	start, ok := c.Session.Last() // the argument, if it was given
	if !ok {
		return 0, s, c.Usagef("an address is needed: there is no last one yet")
	}
	end := o.End
	if o.UpTo.place != "" {
		last, err := ask.Place(c, o.UpTo.place)
		if err != nil {
			return 0, s, err
		}
		o.UpTo.last = &last
	}
	if last := o.UpTo.last; last != nil {
		behind := *last + target.Addr(s.Length)
		end = &behind
	}
	if end != nil {
		if *end <= start || uint64(*end-start)/uint64(s.Length) > limits.MemoryElements {
			return 0, s, c.Usagef("-end: %016x is not after %016x, or too far", uint64(*end), uint64(start))
		}
		s.Count = int(uint64(*end-start) / uint64(s.Length))
	}
	return start, s, nil
}

type addressOptions struct {
	Address target.Addr `arg:"address" help:"any address"`
}

func lnCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "ln", Aliases: []string{"whatis"},
		Summary:  "describe an address: an object, a type, a method, code, a stack, an image",
		Examples: []cli.Example{{Line: "ln 7f07a5a9a5f0", Text: "what is at this address?"}},
	}, func(c *cli.Context, o *addressOptions) (*answer.Address, error) {
		return resolve.Address(c.Context(), ask.View(c), o.Address), nil
	}, func(p *report.Page, a *answer.Address) {
		p.Printf("%016x %s\n", uint64(a.Address), report.Escape(ask.Describe(a)))
	})
}
