package processcmd

import (
	"reflect"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/processtext"
	"github.com/sosgo/sosgo/internal/hexdump"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/target"
)

// A memoryFormat is how one of the commands shows memory.
type memoryFormat struct {
	name, summary string
	aliases       []string
	shape         hexdump.Shape
	text          bool // characters beside a row
}

// The commands and their formats are dotnet-dump's; a row has 32 bytes unless
// the format says otherwise.
var (
	memoryFormats = []memoryFormat{
		{name: "d", aliases: []string{"readmemory"}, summary: "show memory", shape: hexdump.Shape{Length: 4, Count: 32}},
		{name: "db", summary: "show memory as bytes and ASCII", shape: hexdump.Shape{Length: 1, Count: 128, Width: 16}, text: true},
		{name: "dc", summary: "show memory as UTF-16 code units and text", shape: hexdump.Shape{Length: 2, Count: 64, Width: 8}, text: true},
		{name: "dw", summary: "show memory as 16-bit words", shape: hexdump.Shape{Length: 2, Count: 128}},
		{name: "dd", summary: "show memory as 32-bit words", shape: hexdump.Shape{Length: 4, Count: 64}},
		{name: "dp", summary: "show memory as pointers", shape: hexdump.Shape{Length: 8, Count: 32}},
		{name: "dq", summary: "show memory as 64-bit words", shape: hexdump.Shape{Length: 8, Count: 32}},
	}
	stringFormats = []memoryFormat{
		{name: "da", summary: "show a zero-terminated ASCII string", shape: hexdump.Shape{Length: 1}},
		{name: "du", summary: "show a zero-terminated UTF-16 string", shape: hexdump.Shape{Length: 2}},
	}
)

const rowBytes = 32

func memoryCommands() []cli.Command {
	var out []cli.Command
	for _, f := range memoryFormats {
		out = append(out, f.command(report.Result[answer.Memory](), f.askRows))
	}
	for _, f := range stringFormats {
		out = append(out, f.command(report.Result[answer.MemoryText](), f.askText))
	}
	return out
}

func (f memoryFormat) command(result reflect.Type, do func(*cli.Context) (report.Answer, error)) cli.Command {
	return cli.Command{Name: f.name, Aliases: f.aliases, Group: cli.GroupProcess, Summary: f.summary,
		Help: "Without an address the memory behind the last address is shown.",
		Args: []cli.Arg{{Name: "address", Kind: cli.Address, Optional: true, Summary: "where to start"},
			{Name: "upto", Kind: cli.Str, Optional: true, Summary: "L and a number of elements in hexadecimal, or where to end, as in WinDbg"}},
		Options: []cli.Option{
			{Name: "end", Aliases: []string{"e"}, Kind: cli.Address, Summary: "where to end, instead of a count"},
			{Name: "count", Aliases: []string{"c"}, Kind: cli.Int, Summary: "number of elements"},
			{Name: "length", Aliases: []string{"l"}, Kind: cli.Int, Summary: "bytes of an element: 1, 2, 4 or 8"},
			{Name: "width", Aliases: []string{"w"}, Kind: cli.Int, Summary: "elements of a row"},
			{Name: "hex-prefix", Aliases: []string{"h"}, Summary: "write 0x before each element"},
		},
		Result:   result,
		Examples: []cli.Example{{Line: f.name + " 7f1c19821510", Text: f.summary}}, NeedsDump: true, Ask: do}
}

func (f memoryFormat) askRows(c *cli.Context) (report.Answer, error) {
	a, shape, err := f.options(c)
	if err != nil {
		return report.Answer{}, err
	}
	m, err := hexdump.Rows(c.Context(), ask.Dump(c).Memory(), a, shape)
	if err != nil {
		return report.Answer{}, err
	}
	c.Session.SetLast(a + target.Addr(shape.Count*shape.Length))
	o := processtext.MemoryOptions{Prefix: c.Bool("hex-prefix"), Text: f.text}
	return report.Say(m, func(p *report.Page, m *answer.Memory) { processtext.Memory(p, m, o) }), nil
}

func (f memoryFormat) askText(c *cli.Context) (report.Answer, error) {
	a, shape, err := f.options(c)
	if err != nil {
		return report.Answer{}, err
	}
	t, err := hexdump.Text(ask.Dump(c).Memory(), a, shape.Length)
	if err != nil {
		return report.Answer{}, err
	}
	return report.Say(t, processtext.MemoryText), nil
}

// options returns where to start, and the format's shape as the user changed it.
func (f memoryFormat) options(c *cli.Context) (target.Addr, hexdump.Shape, error) {
	s := f.shape
	a, ok := c.Addr("address")
	if !ok {
		if a, ok = c.Session.Last(); !ok {
			return 0, s, c.Usagef("an address is needed: there is no last one yet")
		}
	}
	for _, o := range []struct {
		name string
		dst  *int
		max  int64
	}{{"count", &s.Count, limits.MemoryElements}, {"length", &s.Length, 8}, {"width", &s.Width, limits.MemoryWidth}} {
		if n, ok := c.Int(o.name); ok {
			if n <= 0 || n > o.max {
				return 0, s, c.Usagef("-%s: %d is not between 1 and %d", o.name, n, o.max)
			}
			*o.dst = int(n)
		}
	}
	switch s.Length {
	case 1, 2, 4, 8:
	default:
		return 0, s, c.Usagef("-length: elements are 1, 2, 4 or 8 bytes")
	}
	end, ok := c.Addr("end")
	if text, given := c.Str("upto"); given && !ok {
		count, isCount := strings.CutPrefix(strings.ToUpper(text), "L")
		n, err := cli.ParseAddress(strings.TrimPrefix(count, "?"))
		switch {
		case err != nil || isCount && (n == 0 || n > limits.MemoryElements):
			return 0, s, c.Usagef("%s is neither L and a number of elements nor an address", text)
		case isCount:
			s.Count = int(n)
		default:
			end, ok = n+target.Addr(s.Length), true // the last address that is shown
		}
	}
	if ok {
		if end <= a || uint64(end-a)/uint64(s.Length) > limits.MemoryElements {
			return 0, s, c.Usagef("-end: %016x is not behind %016x, or too far", uint64(end), uint64(a))
		}
		s.Count = int(uint64(end-a) / uint64(s.Length))
	}
	if s.Width == 0 {
		s.Width = rowBytes / s.Length
	}
	return a, s, nil
}
