package commands

import (
	"encoding/binary"
	"fmt"
	"io"
	"unicode/utf16"

	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

// A memoryFormat is how one of the commands shows memory.
type memoryFormat struct {
	name, summary string
	aliases       []string
	length        int // bytes of an element
	count         int // elements, unless the user says
	width         int // elements of a row, 0: 32 bytes
	text          int // bytes of a character shown beside a row, 0: none
	asString      bool
}

// The commands and their formats are dotnet-dump's.
var memoryFormats = []memoryFormat{
	{name: "d", aliases: []string{"readmemory"}, summary: "show memory", length: 4, count: 32},
	{name: "db", summary: "show memory as bytes and ASCII", length: 1, count: 128, width: 16, text: 1},
	{name: "dc", summary: "show memory as UTF-16 code units and text", length: 2, count: 64, width: 8, text: 2},
	{name: "da", summary: "show a zero-terminated ASCII string", length: 1, count: 128, asString: true},
	{name: "du", summary: "show a zero-terminated UTF-16 string", length: 2, count: 128, asString: true},
	{name: "dw", summary: "show memory as 16-bit words", length: 2, count: 128},
	{name: "dd", summary: "show memory as 32-bit words", length: 4, count: 64},
	{name: "dp", summary: "show memory as pointers", length: 8, count: 32},
	{name: "dq", summary: "show memory as 64-bit words", length: 8, count: 32},
}

// Bounds on what one command shows.
const (
	maxMemoryElements = 1 << 28
	maxMemoryWidth    = 1 << 12
	maxMemoryString   = 16 << 20 // characters of da and du
)

func memoryCommands() []cli.Command {
	var out []cli.Command
	for _, f := range memoryFormats {
		out = append(out, cli.Command{Name: f.name, Aliases: f.aliases, Group: cli.GroupProcess, Summary: f.summary,
			Help: "Without an address the memory behind the last address is shown.",
			Args: []cli.Arg{{Name: "address", Kind: cli.Address, Optional: true, Summary: "where to start"}},
			Options: []cli.Option{
				{Name: "end", Aliases: []string{"e"}, Kind: cli.Address, Summary: "where to end, instead of a count"},
				{Name: "count", Aliases: []string{"c"}, Kind: cli.Int, Summary: "number of elements"},
				{Name: "length", Aliases: []string{"l"}, Kind: cli.Int, Summary: "bytes of an element: 1, 2, 4 or 8"},
				{Name: "width", Aliases: []string{"w"}, Kind: cli.Int, Summary: "elements of a row"},
				{Name: "hex-prefix", Aliases: []string{"h"}, Summary: "write 0x before each element"},
			},
			Result:   []report.Part{report.FieldOf[report.Address]("address"), report.ListOf[memoryRow]("rows"), report.FieldOf[string]("string")},
			Examples: []cli.Example{{Line: f.name + " 7f1c19821510", Text: f.summary}}, NeedsDump: true,
			Run: func(c *cli.Context) error { return runMemory(c, f) }})
	}
	return out
}

// memoryRow is a row of the JSON result: an element that the dump does not hold
// is null.
type memoryRow struct {
	Address  report.Address    `json:"address" doc:"of the first element"`
	Elements []*report.Address `json:"elements" doc:"the row's elements; null for one that the dump does not hold"`
}

func runMemory(c *cli.Context, f memoryFormat) error {
	a, ok := c.Addr("address")
	if !ok {
		if a, ok = c.Session.Last(); !ok {
			return c.Usagef("an address is needed: there is no last one yet")
		}
	}
	if err := f.options(c, a); err != nil {
		return err
	}
	if c.JSON() != nil {
		if err := c.JSON().Field("address", report.Address(a)); err != nil {
			return err
		}
	}
	if f.asString {
		return f.showString(c, a)
	}
	if err := f.rows(c, a); err != nil {
		return err
	}
	c.Session.SetLast(a + target.Addr(f.count*f.length))
	return nil
}

// options applies what the user asked for.
func (f *memoryFormat) options(c *cli.Context, a target.Addr) error {
	for _, o := range []struct {
		name string
		dst  *int
		max  int64
	}{{"count", &f.count, maxMemoryElements}, {"length", &f.length, 8}, {"width", &f.width, maxMemoryWidth}} {
		if n, ok := c.Int(o.name); ok {
			if n <= 0 || n > o.max {
				return c.Usagef("-%s: %d is not between 1 and %d", o.name, n, o.max)
			}
			*o.dst = int(n)
		}
	}
	switch f.length {
	case 1, 2, 4, 8:
	default:
		return c.Usagef("-length: elements are 1, 2, 4 or 8 bytes")
	}
	if end, ok := c.Addr("end"); ok {
		if end <= a || uint64(end-a)/uint64(f.length) > maxMemoryElements {
			return c.Usagef("-end: %016x is not behind %016x, or too far", uint64(end), uint64(a))
		}
		f.count = int(uint64(end-a) / uint64(f.length))
	}
	if f.width == 0 {
		f.width = 32 / f.length
	}
	return nil
}

// rows shows count elements from a on. It fails only if the dump holds none of
// them.
func (f *memoryFormat) rows(c *cli.Context, a target.Addr) error {
	mem := dumpOf(c).Memory()
	var missing error
	held := 0
	for n := 0; n < f.count; n += f.width {
		if c.Context().Err() != nil {
			return c.Context().Err()
		}
		at := a + target.Addr(n*f.length)
		row := make([]*report.Address, 0, f.width)
		for i := range min(f.width, f.count-n) {
			b, err := target.Bytes(mem, at+target.Addr(i*f.length), f.length)
			if err != nil {
				missing = err
				row = append(row, nil)
				continue
			}
			held++
			v := report.Address(littleEndian(b))
			row = append(row, &v)
		}
		if err := f.show(c, memoryRow{report.Address(at), row}); err != nil {
			return err
		}
	}
	if held == 0 {
		return missing
	}
	if missing != nil {
		c.Warn(missing)
	}
	return nil
}

func littleEndian(b []byte) uint64 {
	var w [8]byte
	copy(w[:], b)
	return binary.LittleEndian.Uint64(w[:])
}

func (f *memoryFormat) show(c *cli.Context, r memoryRow) error {
	if c.JSON() != nil {
		return c.JSON().Item("rows", r)
	}
	prefix := [2]string{"", "0x"}[trueIndex(c.Bool("hex-prefix"))]
	line := make([]byte, 0, 128)
	line = fmt.Appendf(line, "%016x:", uint64(r.Address))
	for i := range f.width {
		switch {
		case i >= len(r.Elements):
			line = fmt.Appendf(line, " %*s", 2*f.length+len(prefix), "")
		case r.Elements[i] == nil:
			line = fmt.Appendf(line, " %*s%.*s", len(prefix), "", 2*f.length, "????????????????")
		default:
			line = fmt.Appendf(line, " %s%0*x", prefix, 2*f.length, uint64(*r.Elements[i]))
		}
	}
	if f.text != 0 {
		line = append(line, "  "...)
		for _, e := range r.Elements {
			line = append(line, printable(e))
		}
	}
	_, err := c.Out.Write(append(line, '\n'))
	return err
}

// printable is the character that an element stands for, a full stop for those
// outside ASCII.
func printable(e *report.Address) byte {
	switch {
	case e == nil:
		return '?'
	case *e < 0x20 || *e > 0x7e:
		return '.'
	}
	return byte(*e)
}

// showString shows the characters from a to the first zero. SOS shows those
// outside ASCII as full stops.
func (f *memoryFormat) showString(c *cli.Context, a target.Addr) error {
	units, err := f.characters(dumpOf(c).Memory(), a)
	if err != nil && len(units) == 0 {
		return err
	}
	if err != nil {
		c.Warn(err)
	}
	text := string(utf16.Decode(units))
	if c.JSON() != nil {
		return c.JSON().Field("string", text)
	}
	if c.SOS {
		for i, u := range units {
			if u < 0x20 || u > 0x7e {
				units[i] = '.'
			}
		}
		text = string(utf16.Decode(units))
	}
	_, err = io.WriteString(c.Out, "Text: '"+report.Escape(text)+"'\n")
	return err
}

func (f *memoryFormat) characters(mem target.Memory, a target.Addr) ([]uint16, error) {
	w := target.NewWindow(mem)
	var units []uint16
	for len(units) < maxMemoryString {
		b, err := w.Bytes(a, f.length)
		if err != nil {
			return units, err
		}
		u := uint16(littleEndian(b))
		if u == 0 {
			return units, nil
		}
		units = append(units, u)
		a += target.Addr(f.length)
	}
	return units, target.Corruptf("string without an end in the first %d characters", maxMemoryString)
}
