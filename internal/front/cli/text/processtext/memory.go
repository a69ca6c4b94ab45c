package processtext

import (
	"fmt"
	"slices"
	"unicode/utf16"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// MemoryOptions change the text of memory.
type MemoryOptions struct {
	Prefix bool // 0x before each element
	Text   bool // the characters that the elements stand for, beside each row
}

// Memory is the text of d, db, dc and the others that show numbers.
func Memory(p *report.Page, m *answer.Memory, o MemoryOptions) {
	prefix := ""
	if o.Prefix {
		prefix = "0x"
	}
	var line []byte
	for r := range report.Each(p, m.Rows) {
		line = fmt.Appendf(line[:0], "%016x:", uint64(r.Address))
		for i := range m.Width {
			switch {
			case i >= len(r.Elements):
				line = fmt.Appendf(line, " %*s", 2*m.Length+len(prefix), "")
			case r.Elements[i] == nil:
				line = fmt.Appendf(line, " %*s%.*s", len(prefix), "", 2*m.Length, "????????????????")
			default:
				line = fmt.Appendf(line, " %s%0*x", prefix, 2*m.Length, uint64(*r.Elements[i]))
			}
		}
		for _, w := range r.What {
			if w != "" {
				line = append(line, "  "+report.Escape(w)...)
			}
		}
		if o.Text {
			line = append(line, "  "...)
			for _, e := range r.Elements {
				line = append(line, printable(e))
			}
		}
		p.Write(append(line, '\n'))
	}
}

// printable returns the ASCII character of an element, or a full stop.
func printable(e *answer.Hex) byte {
	switch {
	case e == nil:
		return '?'
	case *e < 0x20 || *e > 0x7e:
		return '.'
	}
	return byte(*e)
}

// MemoryText is the text of da and du. SOS shows characters outside ASCII as full stops.
func MemoryText(p *report.Page, t *answer.MemoryText) {
	text := t.Text
	if p.SOS {
		units := slices.Clone(t.Units)
		for i, u := range units {
			if u < 0x20 || u > 0x7e {
				units[i] = '.'
			}
		}
		text = string(utf16.Decode(units))
	}
	p.Print("Text: '" + report.Escape(text) + "'\n")
}
