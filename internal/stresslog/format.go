package stresslog

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

type text struct {
	s   string
	err error
}

// stringAt reads a zero-terminated string of an image. It reads each string once, as few formats make most messages.
func (l *Log) stringAt(a target.Addr) (string, error) {
	t, ok := l.strings[a]
	if !ok {
		t.s, t.err = target.CString(l.mem, a, limits.StressLogText)
		if len(l.strings) < limits.StressLogStrings {
			l.strings[a] = t
		}
	}
	return t.s, t.err
}

// format returns the text of a message.
func (l *Log) format(at target.Addr, args []uint64) (string, error) {
	if at == 0 {
		return "", target.Corruptf("no image has the format string")
	}
	format, err := l.stringAt(at)
	if err != nil {
		return "", fmt.Errorf("format string: %w", err)
	}
	var b strings.Builder
	for format != "" {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			b.WriteString(format)
			break
		}
		b.WriteString(format[:i])
		s, rest := parseSpec(format[i:])
		format = rest
		switch {
		case s.verb == '%':
			b.WriteByte('%')
			continue
		case s.verb == 0:
			b.WriteString(s.text)
			continue
		}
		if s.starWidth {
			s.width, args = takeInt(args)
		}
		if s.starPrecision {
			s.precision, args = takeInt(args)
		}
		if len(args) == 0 {
			b.WriteString(s.text) // the message has fewer arguments than its format
			continue
		}
		l.write(&b, &s, args[0])
		args = args[1:]
	}
	return strings.TrimRight(b.String(), "\r\n"), nil
}

func takeInt(args []uint64) (int, []uint64) {
	if len(args) == 0 {
		return 0, nil
	}
	return min(max(int(int32(args[0])), -maxWidth), maxWidth), args[1:]
}

// maxWidth bounds the widths and precisions of a format.
const maxWidth = 1000

// A spec is a conversion of a format: %-08I64x.
type spec struct {
	text                     string
	flags                    string
	width, precision         int // precision is -1 if absent
	starWidth, starPrecision bool
	bytes                    int // of the value
	verb, suffix             byte
}

// parseSpec parses the conversion at the start of format. It accepts the lengths of Windows and of C.
func parseSpec(format string) (s spec, rest string) {
	s.precision, s.bytes = -1, 4
	i := 1
	for i < len(format) && strings.IndexByte("-+ #0", format[i]) >= 0 {
		i++
	}
	s.flags = format[1:i]
	s.width, s.starWidth, i = number(format, i)
	if i < len(format) && format[i] == '.' {
		s.precision, s.starPrecision, i = number(format, i+1)
	}
	for _, m := range [...]struct {
		text  string
		bytes int
	}{{"I64", 8}, {"I32", 4}, {"ll", 8}, {"hh", 1}, {"h", 2}, {"l", 8}, {"z", 8}, {"I", 8}, {"j", 8}, {"t", 8}, {"w", 4}} {
		if strings.HasPrefix(format[i:], m.text) {
			s.bytes, i = m.bytes, i+len(m.text)
			break
		}
	}
	if i == len(format) || strings.IndexByte("diuxXocpsSeEfFgG%", format[i]) < 0 {
		s.text = format[:i]
		return s, format[i:]
	}
	s.verb = format[i]
	i++
	if s.verb == 'p' && i < len(format) && strings.IndexByte("MTVK", format[i]) >= 0 {
		s.suffix = format[i]
		i++
	}
	s.text = format[:i]
	return s, format[i:]
}

// number reads the width or precision at format[i:].
func number(format string, i int) (n int, star bool, end int) {
	if i < len(format) && format[i] == '*' {
		return 0, true, i + 1
	}
	for i < len(format) && format[i] >= '0' && format[i] <= '9' {
		n = min(n*10+int(format[i]-'0'), maxWidth)
		i++
	}
	return n, false, i
}

// write appends an argument formatted by its conversion.
func (l *Log) write(b *strings.Builder, s *spec, arg uint64) {
	shift := 64 - 8*min(s.bytes, 8)
	switch s.verb {
	case 'd', 'i':
		s.pad(b, strconv.FormatInt(int64(arg)<<shift>>shift, 10), true)
	case 'u':
		s.pad(b, strconv.FormatUint(arg<<shift>>shift, 10), true)
	case 'x', 'X', 'o':
		base := 16
		if s.verb == 'o' {
			base = 8
		}
		digits := strconv.FormatUint(arg<<shift>>shift, base)
		if s.verb == 'X' {
			digits = strings.ToUpper(digits)
		}
		if strings.Contains(s.flags, "#") && base == 16 && arg != 0 {
			digits = "0x" + digits
		}
		s.pad(b, digits, true)
	case 'c':
		s.pad(b, string(rune(byte(arg))), false)
	case 'p':
		s.pad(b, fmt.Sprintf("%016x", arg), false)
		if name := l.nameOf(s.suffix, target.Addr(arg)); name != "" {
			b.WriteString(" (" + name + ")")
		}
	case 's', 'S':
		s.pad(b, l.argumentText(s, target.Addr(arg)), false)
	default:
		precision := s.precision
		if precision < 0 {
			precision = 6
		}
		s.pad(b, strconv.FormatFloat(math.Float64frombits(arg), s.verb|0x20, precision, 64), true)
	}
}

// argumentText returns the string that an argument points to. A constant of an image is reliable; other memory may have
// changed since.
func (l *Log) argumentText(s *spec, a target.Addr) string {
	if a == 0 {
		return "(null)"
	}
	read := l.stringAt
	if s.verb == 'S' {
		read = func(a target.Addr) (string, error) { return target.UTF16String(l.mem, a, limits.StressLogText) }
	}
	t, err := read(a)
	if err != nil {
		return fmt.Sprintf("<text at %016x>", uint64(a))
	}
	if s.precision >= 0 && s.precision < len(t) {
		t = t[:s.precision]
	}
	return t
}

// nameOf returns the name of what an argument points to, or "".
func (l *Log) nameOf(suffix byte, a target.Addr) string {
	var name string
	var err error
	switch {
	case a == 0 || suffix == 0:
		return ""
	case suffix == 'T':
		name, err = l.typeName(a&^l.mark, dac.NameNative)
	case suffix == 'M':
		name, err = l.names.Method(a)
	default:
		name, err = l.names.Code(a)
	}
	if err != nil {
		return ""
	}
	return name
}

// pad appends text padded to the width of the conversion. Numbers may be padded with zeros, and have at least as many
// digits as the precision.
func (s *spec) pad(b *strings.Builder, text string, number bool) {
	sign := ""
	if number {
		if strings.HasPrefix(text, "-") {
			sign, text = "-", text[1:]
		} else if strings.Contains(s.flags, "+") {
			sign = "+"
		}
		if !strings.Contains(text, ".") && len(text) < s.precision {
			text = strings.Repeat("0", s.precision-len(text)) + text
		}
	}
	width, left := s.width, strings.Contains(s.flags, "-")
	if width < 0 {
		width, left = -width, true
	}
	fill := max(width-len(sign)-len(text), 0)
	switch {
	case left:
		b.WriteString(sign + text + strings.Repeat(" ", fill))
	case number && strings.Contains(s.flags, "0") && (s.precision < 0 || strings.Contains(text, ".")):
		b.WriteString(sign + strings.Repeat("0", fill) + text)
	default:
		b.WriteString(strings.Repeat(" ", fill) + sign + text)
	}
}
