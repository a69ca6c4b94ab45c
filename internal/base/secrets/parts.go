package secrets

import (
	"iter"
	"strings"
)

// Bounds for parts of values. What was reused holds the end of a longer text behind a new one, and a text that is cut begins or ends
// within a value.
const (
	leastPart = 12      // bytes that are masked: with fewer, a part of one value can be a part of another text
	gram      = 8       // bytes by which a part is found
	gramStep  = 4       // each part of gram+gramStep-1 bytes has a gram at a multiple of these
	mostGrams = 1 << 20 // of all values
	mostSame  = 8       // of one spelling
)

// A place is a position in a value.
type place struct {
	value string
	at    int
}

// parts finds parts of values in texts. Only parts that look generated count: words of a value are in other texts, too.
type parts struct {
	places map[string][]place // by their gram
	begin  beginnings         // of grams
	grams  int
}

// add adds a value.
func (p *parts) add(value string) {
	for at := 0; at+gram <= len(value) && p.grams < mostGrams; at += gramStep {
		g := value[at : at+gram]
		if list := p.places[g]; len(list) < mostSame {
			p.places[g] = append(list, place{value, at})
			p.begin.add(g)
			p.grams++
		}
	}
}

// in yields the parts of values in text, as start and end.
func (p *parts) in(text string) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		done := 0 // the end of the last part
		for i := 0; len(p.places) > 0 && i+gram <= len(text); i++ {
			if !p.begin.has(text[i:]) {
				continue
			}
			from, to, digits := 0, 0, false
			for _, at := range p.places[text[i:i+gram]] {
				if start, end := at.extent(text, i, done); end-start > to-from {
					from, to, digits = start, end, isHex(at.value)
				}
			}
			if to-from < leastPart || !looksGenerated(text[from:to]) && !(digits && isVaried(text[from:to])) {
				continue
			}
			if !yield(from, to) {
				return
			}
			done, i = to, to-1
		}
	}
}

// extent returns the longest part of the value in text around the gram at i, not before least.
func (l place) extent(text string, i, least int) (from, to int) {
	n := 0
	for i-n > least && l.at-n > 0 && text[i-n-1] == l.value[l.at-n-1] {
		n++
	}
	from = i - n
	for to, n = i+gram, l.at+gram; to < len(text) && n < len(l.value) && text[to] == l.value[n]; n++ {
		to++
	}
	return from, to
}

// leastHex is the number of hexadecimal digits of a GUID.
const leastHex = 32

// isHex reports whether a value is a GUID or as long in hexadecimal digits.
func isHex(value string) bool {
	value = strings.ReplaceAll(value, "-", "")
	return len(value) >= leastHex && strings.Trim(value, "0123456789abcdefABCDEF") == ""
}

// isVaried reports whether a part of a hexadecimal value has so many different digits that no other text has it by chance.
func isVaried(part string) bool {
	const least = 6
	seen := map[byte]bool{}
	for i := range len(part) {
		if part[i] != '-' {
			seen[part[i]] = true
		}
	}
	return len(seen) >= least
}

// LooksGenerated reports whether a text is long enough to be a part of a generated value, and hardly a word, a number or a name.
func LooksGenerated(text string) bool { return len(text) >= leastPart && looksGenerated(text) }

// looksGenerated reports whether a part of a value is hardly a word, a number or a name: it has digits and letters that alternate.
func looksGenerated(part string) bool {
	const leastDigits, leastLetters, perChange = 2, 4, 4
	digits, letters, changes, last := 0, 0, 0, 0
	for i := range len(part) {
		kind := 0
		switch c := part[i]; {
		case c >= '0' && c <= '9':
			kind = 1
			digits++
		case c >= 'a' && c <= 'z':
			kind = 2
			letters++
		case c >= 'A' && c <= 'Z':
			kind = 3
			letters++
		}
		if i > 0 && kind != last {
			changes++
		}
		last = kind
	}
	return digits >= leastDigits && letters >= leastLetters && changes*perChange >= len(part)
}
