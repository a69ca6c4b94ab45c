package secrets

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/sosgo/sosgo/internal/encoding/utf16text"
)

// spelt are ways in which programs write values.
var spelt = map[string]func(string) string{
	"plain":      func(s string) string { return s },
	"capitals":   strings.ToUpper,
	"base64":     func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64 + 1": func(s string) string { return base64.StdEncoding.EncodeToString([]byte("a" + s)) },
	"base64 + 2": func(s string) string { return base64.StdEncoding.EncodeToString([]byte("ab" + s)) },
	"URL":        url.QueryEscape,
	"URL twice":  func(s string) string { return url.QueryEscape(url.QueryEscape(s)) },
	"JSON":       func(s string) string { return eachEscape(s, `\u%04x`) },
	"JSON twice": func(s string) string { return eachEscape(s, `\\u%04x`) },
	"C#":         func(s string) string { return eachByte(s, `\x%02x`) },
	"XML":        func(s string) string { return eachEscape(s, `&#%d;`) },
	"XML hex":    func(s string) string { return eachEscape(s, `&#x%x;`) },
	"XML twice":  func(s string) string { return eachEscape(s, `&amp;#%d;`) },
}

// eachEscape writes what is no letter and no digit in ASCII in a format for its units.
func eachEscape(s, format string) string {
	var b strings.Builder
	for _, unit := range utf16text.Units(s) {
		if unit < 0x80 && isAlphanumeric(byte(unit)) {
			b.WriteByte(byte(unit))
			continue
		}
		fmt.Fprintf(&b, format, unit)
	}
	return b.String()
}

func eachByte(s, format string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if isAlphanumeric(c) {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}

// TestCut cuts copies of values, as they are written in many ways, at each place, with each mark of a cut: no more than three bytes of
// a value may stay, and what a reader cuts without a mark (CutEnd) shows no more.
func TestCut(t *testing.T) {
	for _, value := range []string{"Rq7+Kx/92=Lm&Zt5%Wv8", "Gr\u00fcn&Stra\u00dfe=7741-Qp/x9", "kT9!vB3@nM6#xC8$wZ2^", "\u043f\u0430\u0440\u043e\u043b\u044c-\u0421\u0435\u043a-83"} {
		m := NewMasker()
		m.Add(value, KindNamed)
		for name, write := range spelt {
			whole := write(value)
			for _, before := range []string{"", "x: ", strings.Repeat(".", 40)} {
				for n := 1; n < len(whole); n++ {
					text := before + whole[:n]
					for _, mark := range []string{"…", `"...`, `\"… (300 characters)`, `&#34;…`} {
						if got := shownOf(value, strings.TrimPrefix(strings.TrimSuffix(m.Text(text+mark), mark), before), write); got > 3 {
							t.Errorf("%s: %q is shown as %q, with %d bytes of %q", name, text+mark, m.Text(text+mark), got, value)
						}
					}
					if got := CutEnd(text, m.Text); shownOf(value, strings.TrimPrefix(got, before), write) > 3 {
						t.Errorf("%s: the beginning %q is shown as %q", name, text, got)
					}
				}
			}
		}
	}
}

// shownOf returns how many bytes of a value begin a text, or a text that is written as write does.
func shownOf(value, text string, write func(string) string) int {
	n := 0
	for i := range value {
		if i > 0 && strings.HasPrefix(text, strings.TrimRight(write(value[:i]), "=")) {
			n = i
		}
	}
	if b, err := base64.RawStdEncoding.DecodeString(text[:len(text)&^3]); err == nil {
		for i := range value {
			if strings.Contains(string(b), value[:i]) {
				n = max(n, i)
			}
		}
	}
	return n
}

// TestCutEnd has texts that are cut where no value begins: they stay as they are.
func TestCutEnd(t *testing.T) {
	m := NewMasker()
	m.Add("Rq7+Kx/92=Lm", KindNamed)
	for _, text := range []string{"", "abc", "Rq7", "Rq7+Kx of it", "the end", `a\u00`, "100%", "a&"} {
		if got := CutEnd(text, m.Text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	if got := CutEnd("Rq7+Kx", nil); got != "Rq7+Kx" {
		t.Errorf("without masking: %q", got)
	}
	if got := CutEnd("Rq7+Kx/92=Lm, Rq7+K", m.Text); got != Mask+", "+Mask {
		t.Errorf("got %q", got)
	}
}
