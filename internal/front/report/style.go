package report

import (
	"strings"
	"unicode/utf8"

	"github.com/sosgo/sosgo/answer"
)

// A Screen is what a page may do on the terminal that shows it. The zero Screen is for files and pipes.
type Screen struct {
	Columns int  // the width at which sentences wrap; 0: they don't
	Color   bool // whether severities have colors
}

// The sequences that begin and end a color. Nothing else that a page writes has an escape character.
const (
	red     = "\x1b[1;31m"
	yellow  = "\x1b[33m"
	magenta = "\x1b[35m"
	plain   = "\x1b[0m"
)

// colors removes the sequences that begin and end colors.
var colors = strings.NewReplacer(red, "", yellow, "", magenta, "", plain, "")

// Plain returns text without colors.
func Plain(text string) string {
	if !strings.Contains(text, "\x1b") {
		return text
	}
	return colors.Replace(text)
}

// absences are the words that stand in place of missing values.
var absences = strings.NewReplacer(
	"<not in dump>", magenta+"<not in dump>"+plain, "<corrupt>", magenta+"<corrupt>"+plain,
	"<not supported>", magenta+"<not supported>"+plain, "<left out>", magenta+"<left out>"+plain)

// EscapeScreen escapes text for a terminal, except for the colors of a page. With color, the words in place of missing
// values have one, too.
func EscapeScreen(text string, color bool) string {
	if !color {
		return EscapeText(Plain(text))
	}
	if strings.ContainsRune(text, '<') {
		text = absences.Replace(text)
	}
	if !strings.Contains(text, "\x1b") {
		return EscapeText(text)
	}
	var b strings.Builder
	for text != "" {
		i := strings.IndexByte(text, '\x1b')
		if i < 0 {
			i = len(text)
		}
		b.WriteString(EscapeText(text[:i]))
		text = text[i:]
		if n := sequence(text); n > 0 {
			b.WriteString(text[:n])
			text = text[n:]
		} else if text != "" {
			b.WriteString(EscapeText(text[:1]))
			text = text[1:]
		}
	}
	return b.String()
}

// sequence returns the length of the color's sequence at the beginning of text, or 0.
func sequence(text string) int {
	for _, s := range [...]string{red, yellow, magenta, plain} {
		if strings.HasPrefix(text, s) {
			return len(s)
		}
	}
	return 0
}

// On sets what the page's terminal can do, and returns the page.
func (p *Page) On(s Screen) *Page {
	p.screen = s
	return p
}

// Masking sets the function that masks secrets in texts that a renderer cuts or changes. nil masks nothing.
func (p *Page) Masking(mask func(string) string) *Page {
	p.mask = mask
	return p
}

// Masked returns a text of the process as it may be cut or changed: afterwards a secret in it would not be known.
func (p *Page) Masked(text string) string {
	if p.mask == nil {
		return text
	}
	return p.mask(text)
}

// Severe returns text, in the color of a severity if the page has colors.
func (p *Page) Severe(s answer.Severity, text string) string {
	switch {
	case !p.screen.Color:
	case s == answer.SeverityWarning:
		return yellow + text + plain
	default:
		return red + text + plain
	}
	return text
}

// Sentence writes text as a line behind first. On a terminal, what does not fit wraps between words, and following
// lines are indented by hang columns. The text must be escaped.
func (p *Page) Sentence(first string, hang int, text string) {
	p.Print(Wrap(first+text, hang, p.screen.Columns) + "\n")
}

// MostIndent bounds how many levels deep lines begin. How deep things nest is the dump's to say, and a line for each of
// 100,000 levels would have gigabytes of blanks.
const MostIndent = 64

// Indent returns the blanks in front of a line at a depth, width for each level.
func Indent(depth, width int) string {
	return blanks[:min(width*max(min(depth, MostIndent), 0), len(blanks))]
}

var blanks = strings.Repeat(" ", 8*MostIndent)

// leastText is the least number of columns that a line has beside its indentation.
const leastText = 20

// Wrap breaks lines of text between words, so that they have at most columns columns, and indents the lines that follow
// a break by hang columns. A longer word stays whole. Without columns, Wrap returns text unchanged.
func Wrap(text string, hang, columns int) string {
	if columns <= 0 || width(text) <= columns {
		return text
	}
	hang = max(min(hang, columns-leastText), 0)
	indent := "\n" + strings.Repeat(" ", hang)
	var b strings.Builder
	at, word := 0, false // column, and whether the line has a word
	for text != "" {
		blanks := len(text) - len(strings.TrimLeft(text, " "))
		end := blanks + strings.IndexByte(text[blanks:]+" ", ' ')
		next := text[blanks:end]
		w := width(next)
		if word && at+blanks+w > columns && w > 0 {
			b.WriteString(indent)
			at = hang
		} else {
			b.WriteString(text[:blanks])
			at += blanks
		}
		b.WriteString(next)
		at, word, text = at+w, word || w > 0, text[end:]
	}
	return b.String()
}

// width returns the number of columns of text. Each character counts as one.
func width(text string) int { return utf8.RuneCountInString(Plain(text)) }
