package agreement

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lineEnds are the characters, besides \n, that end a line: SOS prints strings of the program,
// which may contain them.
const lineEnds = "\n\v\f\r\x1c\x1d\x1e\u0085\u2028\u2029"

// lines splits text at every line end. \r\n is one line end.
func lines(text string) []string {
	var out []string
	for text != "" {
		i := strings.IndexAny(text, lineEnds)
		if i < 0 {
			return append(out, text)
		}
		out = append(out, text[:i])
		if strings.HasPrefix(text[i:], "\r\n") {
			text = text[i+2:]
			continue
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		text = text[i+size:]
	}
	return out
}

// chatter lists the beginnings of SOS's messages about itself.
var chatter = []string{
	"Loading core dump", "pImport is ", "DAC: ", "SOS Version", "Caching GC roots", "Subsequent runs of this command", "Scanning heap",
	"Loading ", "You may need", "Symbol ", "Symbols ", "[WARNING", "WARNING: ",
}

// Normalise returns the lines of text to compare. Hexadecimal numbers are lower case without
// leading zeros, and runs of blanks are one blank. Blank lines and SOS's messages about itself are
// dropped.
func Normalise(text string) []string {
	var out []string
	for _, line := range lines(string([]rune(text))) { // an invalid byte becomes U+FFFD
		if line = tidy(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

func tidy(line string) string {
	line = strings.TrimFunc(line, blank)
	for _, start := range chatter {
		if strings.HasPrefix(line, start) {
			return ""
		}
	}
	line = strings.ReplaceAll(line, "`", "")
	var b strings.Builder
	for rest := line; rest != ""; {
		n := strings.IndexFunc(rest, func(r rune) bool { return !wordRune(r) })
		switch {
		case n < 0:
			n = len(rest)
			fallthrough
		case n > 0:
			b.WriteString(number(rest[:n]))
		default:
			var r rune
			if r, n = utf8.DecodeRuneInString(rest); blank(r) {
				n = len(rest) - len(strings.TrimLeftFunc(rest, blank))
				b.WriteByte(' ')
			} else {
				b.WriteString(rest[:n])
			}
		}
		rest = rest[n:]
	}
	return strings.TrimFunc(b.String(), blank)
}

func wordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }

func blank(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// number shortens a word that is a hexadecimal number of 5 to 16 digits, with or without 0x.
func number(word string) string {
	digits := strings.TrimPrefix(word, "0x")
	if len(digits) < 5 || len(digits) > 16 || strings.Trim(digits, "0123456789abcdefABCDEF") != "" {
		return word
	}
	short := strings.TrimLeft(strings.ToLower(digits), "0")
	if short == "" {
		short = "0"
	}
	return word[:len(word)-len(digits)] + short
}
