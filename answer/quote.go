package answer

import (
	"strconv"
	"unicode/utf8"
)

// Quote is s in double quotes, with control characters, invisible ones and quotes escaped.
func Quote(s string) string { return string(AppendQuote(make([]byte, 0, len(s)+2), s)) }

// AppendQuote appends what Quote returns.
func AppendQuote(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < 0x7f {
			if c == '"' || c == '\\' {
				b = append(b, '\\')
			}
			b = append(b, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if r == utf8.RuneError || strconv.IsPrint(r) {
			b = utf8.AppendRune(b, r)
			continue
		}
		q := strconv.QuoteRune(r)
		b = append(b, q[1:len(q)-1]...)
	}
	return append(b, '"')
}
