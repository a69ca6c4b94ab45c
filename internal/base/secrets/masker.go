package secrets

import (
	"bytes"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
)

// The bounds of values that are masked wherever they appear. A shorter one is masked where its name or form shows it alone.
const (
	leastKnown = 5  // characters
	leastWord  = 12 // letters; a shorter word of nothing else is masked only where no letter or digit is beside it
	cutKnown   = 4  // characters of a value before an ellipsis that are masked as its beginning
)

// A Masker replaces secrets in texts: those that their forms show, and those that it knows, wherever their bytes appear. It is safe for concurrent use.
type Masker struct {
	mu    sync.RWMutex
	known map[string]Kind
	heads map[string][]string // values by their first cutKnown bytes, the longest first
	first [256]bool           // bytes that one of them begins with
	count atomic.Uint64
}

// NewMasker returns a Masker that knows no value.
func NewMasker() *Masker { return &Masker{known: map[string]Kind{}, heads: map[string][]string{}} }

// Learn makes the Masker know the values in a text by their forms.
func (m *Masker) Learn(text string) {
	for _, s := range Find(text) {
		m.Add(text[s.Start:s.End], s.Kind)
	}
	if Generated(text) {
		m.Add(text, KindGenerated)
	}
}

// LearnSetting makes the Masker know the secrets of a setting: those that its value has by their forms, or else the value, if its name is that of a secret.
func (m *Masker) LearnSetting(name, value string) {
	found := Find(value)
	for _, s := range found {
		m.Add(value[s.Start:s.End], s.Kind)
	}
	if len(found) == 0 && Hides(name, value) && (Strong(name) || !word(value)) {
		m.Add(value, KindNamed)
	}
}

// word reports whether a value is a word of letters alone: of a name such as AuthMode it is likelier a choice than a secret.
func word(value string) bool {
	return strings.IndexFunc(value, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
}

// leastCookie is the least length in bytes of a cookie's value that is masked wherever it appears.
const leastCookie = 8

// Add makes the Masker know a secret. A cookie header has several, each with a name.
func (m *Masker) Add(value string, kind Kind) {
	if kind == KindCookie {
		for pair := range strings.SplitSeq(value, ";") {
			if _, v, ok := strings.Cut(pair, "="); ok && len(v) >= leastCookie {
				m.add(v, kind)
			}
		}
		return
	}
	m.add(value, kind)
}

func (m *Masker) add(value string, kind Kind) {
	value = strings.TrimSpace(value)
	if shown[strings.ToLower(value)] || len(value) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.known[value]; ok {
		return
	}
	m.known[value] = kind
	if !everywhere(value) {
		return
	}
	for _, form := range written(value) {
		head := form[:cutKnown]
		list := m.heads[head]
		at, there := slices.BinarySearchFunc(list, form, func(a, b string) int {
			if len(a) != len(b) {
				return len(b) - len(a)
			}
			return strings.Compare(a, b)
		})
		if !there {
			m.first[head[0]] = true
			m.heads[head] = slices.Insert(list, at, form)
		}
	}
}

// everywhere reports whether a value can be masked wherever it appears: a short number and a word such as "sa" are in every text.
func everywhere(value string) bool {
	if len(value) < leastKnown {
		return false
	}
	digits := strings.IndexFunc(value, func(r rune) bool { return !unicode.IsDigit(r) }) < 0
	return !digits || len(value) >= 2*leastKnown
}

// written returns a value as texts, JSON documents and URLs write it.
func written(value string) []string {
	out := []string{value}
	add := func(s string) {
		if len(s) >= leastKnown && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	if text, err := json.Marshal(value); err == nil {
		add(string(text[1 : len(text)-1]))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(value) == nil {
		add(strings.Trim(b.String(), "\"\n"))
	}
	add(url.QueryEscape(value))
	add(url.PathEscape(value))
	if lines := strings.Split(value, "\n"); len(lines) > 1 {
		for _, l := range lines {
			if l = strings.TrimSpace(l); len(l) >= 16 && !strings.HasPrefix(l, "-----") {
				add(l)
			}
		}
	}
	return out
}

// Known returns how many values of each kind the Masker knows.
func (m *Masker) Known() map[Kind]int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	out := map[Kind]int{}
	for _, k := range m.known {
		out[k]++
	}
	return out
}

// Values returns the values that the Masker masks wherever they appear, sorted.
func (m *Masker) Values() []string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var out []string
	for v := range m.known {
		if everywhere(v) {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

// Masked returns how many places were masked so far.
func (m *Masker) Masked() uint64 { return m.count.Load() }

// Text returns a text with its secrets replaced by Mask. What a Masker has written before stays as it is.
func (m *Masker) Text(text string) string {
	var spans []Span
	for _, s := range Find(text) {
		from, to := whole(text, s.Start, s.End)
		spans = insert(spans, Span{from, to, s.Kind})
	}
	m.mu.RLock()
	for i := 0; len(m.heads) > 0 && i+cutKnown <= len(text); i++ {
		if !m.first[text[i]] {
			continue
		}
		list := m.heads[text[i:i+cutKnown]]
		if n := longest(list, text, i); n > 0 {
			from, to := whole(text, i, i+n)
			spans = insert(spans, Span{from, to, KindNamed})
			i += n - 1
		}
	}
	m.mu.RUnlock()
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	last := 0
	for _, s := range spans {
		b.WriteString(text[last:s.Start])
		b.WriteString(Mask)
		last = s.End
	}
	b.WriteString(text[last:])
	m.count.Add(uint64(len(spans)))
	return b.String()
}

// whole extends a part of a text by the escapes at its ends that it is in: \n and \u0041 of JSON stay whole.
func whole(text string, from, to int) (int, int) {
	const long = len(`\u0041`)
	for i := from - 1; i >= 0 && i > from-long; i-- {
		if text[i] != '\\' {
			continue
		}
		if odd := backslashes(text[:i+1])%2 == 1; odd && (i == from-1 || text[i+1] == 'u') {
			from = i
		}
		break
	}
	for i := to - 1; i >= from && i > to-long; i-- {
		if text[i] != '\\' {
			continue
		}
		if backslashes(text[:i+1])%2 == 1 {
			switch n := min(i+long, len(text)); {
			case i == to-1 && to < len(text) && text[to] != 'u':
				to++
			case i+1 < len(text) && text[i+1] == 'u':
				to = n
			}
		}
		break
	}
	return from, to
}

// backslashes returns how many of them end a text.
func backslashes(text string) int { return len(text) - len(strings.TrimRight(text, `\`)) }

// longest returns how many bytes of text from i on are a value of the list, or the beginning of one that an ellipsis cuts; 0 for none.
func longest(list []string, text string, i int) int {
	for _, v := range list {
		if strings.HasPrefix(text[i:], v) {
			if len(v) >= leastWord || !word(v) || alone(text, i, i+len(v)) {
				return len(v)
			}
			continue
		}
		n := cutKnown
		for n < len(v) && i+n < len(text) && v[n] == text[i+n] {
			n++
		}
		if rest := text[i+n:]; strings.HasPrefix(rest, "…") || strings.HasPrefix(rest, "...") || strings.HasPrefix(rest, `\u2026`) {
			return n
		}
	}
	return 0
}

// alone reports whether neither a letter nor a digit is beside a part of a text.
func alone(text string, from, to int) bool {
	inWord := func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
	}
	return (from == 0 || !inWord(text[from-1])) && (to == len(text) || !inWord(text[to]))
}

// The sizes of what a Writer holds back, in bytes.
const (
	mostHeld = 1 << 20  // that have no line feed
	keptHeld = 32 << 10 // of these, that are held for what follows
)

// A Writer masks what is written, line by line. Close writes the last one.
type Writer struct {
	mask func(string) string
	w    io.Writer
	held []byte
}

// NewWriter returns a Writer on w that masks texts with mask, such as Masker.Text.
func NewWriter(mask func(string) string, w io.Writer) *Writer { return &Writer{mask: mask, w: w} }

// Write masks the whole lines of p and holds the rest.
func (w *Writer) Write(p []byte) (int, error) {
	w.held = append(w.held, p...)
	end := bytes.LastIndexByte(w.held, '\n') + 1
	if end == 0 && len(w.held) > mostHeld {
		end = len(w.held) - keptHeld
		if i := bytes.LastIndexAny(w.held[:end], " ,;\t}"); i > 0 {
			end = i + 1
		}
	}
	if end == 0 {
		return len(p), nil
	}
	_, err := io.WriteString(w.w, w.mask(string(w.held[:end])))
	w.held = append(w.held[:0], w.held[end:]...)
	return len(p), err
}

// Close writes what is held. It does not close the writer below.
func (w *Writer) Close() error {
	_, err := io.WriteString(w.w, w.mask(string(w.held)))
	w.held = nil
	return err
}
