package secrets

import (
	"bytes"
	"encoding/base64"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/sosgo/sosgo/internal/encoding/utf16text"
)

// Bounds for values that are masked everywhere. A shorter value is masked only where its name or
// form shows it.
const (
	leastKnown = 5  // characters
	leastWord  = 12 // letters; a shorter word is masked only if no letter or digit is next to it
	cutKnown   = 4  // minimum number of characters of a value before an ellipsis that are masked
)

// A Masker replaces secrets in texts: secrets recognized by their form, and known values wherever
// their bytes appear. It is safe for concurrent use.
type Masker struct {
	mu    sync.RWMutex
	known map[string]Kind
	heads map[string][]string // values by their first cutKnown bytes, the longest first
	begin beginnings          // of all values
	parts parts
	names names
	count atomic.Uint64
}

// NewMasker returns a Masker that knows no values.
func NewMasker() *Masker {
	return &Masker{known: map[string]Kind{}, heads: map[string][]string{}, parts: parts{places: map[string][]place{}}}
}

// Learn adds the secrets in a text that are recognized by their form.
func (m *Masker) Learn(text string) {
	for _, s := range Find(text) {
		m.Add(text[s.Start:s.End], s.Kind)
	}
	if Generated(text) {
		m.Add(text, KindGenerated)
	}
}

// LearnSetting adds the secrets in a setting: those in the value that are recognized by their form,
// otherwise the whole value if the name is a name of a secret.
func (m *Masker) LearnSetting(name, value string) {
	found := Find(value)
	for _, s := range found {
		m.Add(value[s.Start:s.End], s.Kind)
	}
	if len(found) == 0 && IsSetting(name, value) {
		kind := KindNamed
		if lastWord(name) == "cookie" && strings.Contains(value, "=") {
			kind = KindCookie
		}
		m.Add(value, kind)
	}
}

// IsSetting reports whether the whole value is a secret by the name of its setting. A word is one only beside a name that means a secret in
// any context, and names of secrets are none.
func IsSetting(name, value string) bool {
	return Hides(name, value) && (Strong(name) || !word(value)) && !namesItself(name, value) && !isSecretsName(value)
}

// namesItself reports whether a value only repeats its name, as constants for names do: HeaderNames.Authorization = "Authorization".
func namesItself(name, value string) bool {
	letters := func(s string) string {
		return strings.Map(func(r rune) rune {
			if !unicode.IsLetter(r) {
				return -1
			}
			return unicode.ToLower(r)
		}, s)
	}
	return strings.IndexFunc(value, unicode.IsDigit) < 0 && letters(name) == letters(value)
}

// wholeStrong matches what is nothing but a name of a secret.
var wholeStrong = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?i:` + strong + `)$`) })

// isSecretsName reports whether a value is a name of a secret itself, as in a table of the keywords of connection strings: "pwd" means "Password".
func isSecretsName(value string) bool {
	return wholeStrong().MatchString(strings.ReplaceAll(value, " ", ""))
}

// word reports whether a value consists of letters. For a name such as AuthMode, a word is probably
// a choice and not a secret.
func word(value string) bool {
	return strings.IndexFunc(value, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
}

// leastCookie is the minimum length in bytes of a cookie's value to be masked everywhere.
const leastCookie = 8

// attributes are what a cookie has besides its name and its value.
var attributes = []string{"expires", "max-age", "domain", "path", "samesite", "version", "comment", "priority"}

// Add adds a secret. A cookie header may contain several, each with a name. Credentials in a header may be a user and a password in base64.
func (m *Masker) Add(value string, kind Kind) {
	if kind == KindCookie {
		for pair := range strings.SplitSeq(value, ";") {
			if name, v, ok := strings.Cut(pair, "="); ok && len(v) >= leastCookie && !slices.Contains(attributes, strings.ToLower(strings.TrimSpace(name))) {
				m.add(v, kind)
			}
		}
		return
	}
	m.add(value, kind)
	if kind == KindPair {
		m.addUndoubled(value)
	}
	if kind == KindHeader {
		m.add(passwordIn(value), kind)
	}
}

// addUndoubled adds what a value of a connection string stands for: without braces, and without the second of two quotes or braces.
func (m *Masker) addUndoubled(value string) {
	if inner, ok := inBraces(value); ok {
		m.add(inner, KindPair)
		m.add(strings.ReplaceAll(inner, "}}", "}"), KindPair)
	}
	bare := plain(value)
	for _, quote := range []string{`"`, "'"} {
		if s := strings.ReplaceAll(bare, quote+quote, quote); s != bare {
			m.add(s, KindPair)
		}
	}
}

// passwordIn returns the password in the credentials of a Basic header, or "".
func passwordIn(credentials string) string {
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(credentials, "="))
	_, password, found := strings.Cut(string(b), ":")
	if err != nil || !found || !utf8.Valid(b) || bytes.ContainsFunc(b, unicode.IsControl) {
		return ""
	}
	return password
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
	if !m.everywhere(value) {
		return
	}
	plain := spellings(value)
	for i, form := range append(plain, encodings(value)...) {
		head := form[:cutKnown]
		list := m.heads[head]
		at, there := slices.BinarySearchFunc(list, form, func(a, b string) int {
			if len(a) != len(b) {
				return len(b) - len(a)
			}
			return strings.Compare(a, b)
		})
		if !there {
			m.begin.add(head)
			m.heads[head] = slices.Insert(list, at, form)
			if i < len(plain) {
				m.parts.add(form)
			}
		}
	}
}

// everywhere reports whether a value can be masked everywhere. Short numbers, and words such as
// "sa", are in every text.
func everywhere(value string) bool {
	if len(value) < leastKnown {
		return false
	}
	digits := strings.IndexFunc(value, func(r rune) bool { return !unicode.IsDigit(r) }) < 0
	return !digits || len(value) >= 2*leastKnown
}

// everywhere is the function for a value of the process: what is a part of its names stays.
func (m *Masker) everywhere(value string) bool { return everywhere(value) && !m.names.has(value) }

// longLine is the length in bytes of a line of a secret that is masked alone.
const longLine = 16

// isMixed reports whether a line is one word of digits and letters, which is hardly in another text.
func isMixed(line string) bool {
	return strings.ContainsFunc(line, unicode.IsDigit) && strings.ContainsFunc(line, unicode.IsLetter) && !strings.ContainsFunc(line, unicode.IsSpace)
}

// beginnings is a set of the first cutKnown bytes of values. It may have others, too.
type beginnings [1 << 12]uint64

func (b *beginnings) place(text string) (word, bit uint32) {
	const factor, keep = 2654435761, 14 // of Fibonacci hashing
	_ = text[cutKnown-1]
	h := (uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16 | uint32(text[3])<<24) * factor >> keep
	return h >> 6, h & 63
}

func (b *beginnings) add(text string) {
	word, bit := b.place(text)
	b[word] |= 1 << bit
}

// has reports whether a text may begin as a value does. It has cutKnown bytes at least.
func (b *beginnings) has(text string) bool {
	word, bit := b.place(text)
	return b[word]>>bit&1 != 0
}

// Bounds for copies of a value in other letters or in base64.
const (
	leastCased   = 8   // bytes
	leastEncoded = 8   // bytes
	mostEncoded  = 512 // bytes
)

// encodings returns what each text in base64 has that has the value in it: of its UTF-8 and UTF-16, wherever it begins among three bytes.
func encodings(value string) (out []string) {
	if len(value) < leastEncoded || len(value) > mostEncoded {
		return nil
	}
	const group, bits = 3, 6 // bytes of a group, bits of a character
	var wide []byte
	for _, unit := range utf16text.Units(value) {
		wide = append(wide, byte(unit), byte(unit>>8))
	}
	for _, b := range [][]byte{[]byte(value), wide} {
		for skip := range group {
			text := base64.RawStdEncoding.EncodeToString(append(make([]byte, skip), b...))
			from, to := (8*skip+bits-1)/bits, 8*(skip+len(b))/bits
			std := text[from:to]
			out = append(out, std)
			if url := strings.NewReplacer("+", "-", "/", "_").Replace(std); url != std {
				out = append(out, url)
			}
		}
	}
	return out
}

// spellings returns the spellings of a value with which texts are compared, as they are and without their escapes: the value, the value
// without escapes of its own, with the plus signs of forms in URLs for its spaces, in capitals and in small letters if it has digits, and its
// lines, since output is masked line by line.
func spellings(value string) []string {
	out := []string{value}
	add := func(s string) {
		if len(s) >= leastKnown && everywhere(s) && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	bare := plain(value)
	add(bare)
	add(strings.ReplaceAll(bare, " ", "+"))
	if isMixed(bare) && len(bare) >= leastCased {
		add(strings.ToUpper(bare))
		add(strings.ToLower(bare))
	}
	if lines := strings.Split(value, "\n"); len(lines) > 1 {
		for _, l := range lines {
			if l = strings.TrimSpace(l); (len(l) >= longLine || isMixed(l)) && !strings.HasPrefix(l, "-----") {
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

// Values returns the values that the Masker masks everywhere, sorted.
func (m *Masker) Values() []string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var out []string
	for v := range m.known {
		if m.everywhere(v) {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

// Masked returns the number of places that were masked.
func (m *Masker) Masked() uint64 { return m.count.Load() }

// Text returns a text with its secrets replaced by Mask. Text that a Masker has written stays
// unchanged.
func (m *Masker) Text(text string) string { return m.text(text) }

// Besides returns Text for answers to a user: a known value that a text of said has whole is not masked.
func (m *Masker) Besides(said ...*Said) func(text string) string {
	return func(text string) string { return m.text(text, said...) }
}

// Document returns Besides for a document of JSON, which stays one: a text may end where a secret begins (value="), and the mask ends with the text.
func (m *Masker) Document(said ...*Said) func(text string) string {
	return func(text string) string {
		spans := m.endings(text, said, func(from, to int) int { return stringEnd(text, from, to) })
		return m.replace(text, inStrings(text, m.learnt(text, spans, said)))
	}
}

// Cells returns Besides for a line of text, in which cells lists where the texts of the process begin and end, in order. A cell may end where a secret
// begins, and the mask ends with the cell. A secret in one cell may have its name in another.
func (m *Masker) Cells(said ...*Said) func(text string, cells []int) string {
	return func(text string, cells []int) string {
		spans := m.endings(text, said, func(from, to int) int { return cellEnd(cells, from, to) })
		return m.replace(text, m.learnt(text, slices.DeleteFunc(spans, func(s Span) bool { return isAfterCell(text, cells, s) }), said))
	}
}

// isAfterCell reports whether a secret that would begin in a cell is what stands between that and the next one: the cell ends with a quote.
func isAfterCell(text string, cells []int, s Span) bool {
	if strings.Trim(text[s.Start:s.End], " \t\r\n\"'\\") == "" {
		return true
	}
	i, there := slices.BinarySearch(cells, s.Start)
	return there && i%2 == 1 && i+1 < len(cells) && cells[i+1] == s.End
}

// cellEnd returns where what begins at from ends: with its cell, or where the next cell begins. It is to at most. Cells without anything between
// them are one.
func cellEnd(cells []int, from, to int) int {
	i, _ := slices.BinarySearch(cells, from+1) // the first end, or beginning, behind from
	for i+1 < len(cells) && cells[i] == cells[i+1] {
		i += 2
	}
	if i < len(cells) {
		return min(cells[i], to)
	}
	return to
}

// stringEnd returns where the string of JSON ends that has from in it. It is to at most.
func stringEnd(text string, from, to int) int {
	for i := from; i < to; i++ {
		if text[i] == '"' && backslashes(text[:i])%2 == 0 {
			return i
		}
	}
	return to
}

// inStrings returns parts of a document of JSON, cut where the string that they are in ends.
func inStrings(text string, spans []Span) []Span {
	out := spans[:0]
	for _, s := range spans {
		s.End = stringEnd(text, s.Start, s.End)
		if s.Start < s.End && (!isBetween(text[s.Start:s.End]) || isNumber(text, s.Start, s.End)) {
			out = append(out, s)
		}
	}
	return out
}

// isBetween reports whether a part of a document of JSON is what stands between two strings.
func isBetween(part string) bool {
	rest := strings.TrimLeft(part, " \t\r\n,:{}[]")
	return rest == "" || len(rest) < len(part) && strings.Trim(rest, " \t\r\n,:{}[]+-.0123456789eE") == ""
}

// Errors returns a function for errors and warnings: sosgo's own words, and the user's words in them, are not masked although they may look like secrets
// ("Password is neither a name nor a type"). Known values that are not said are masked.
func (m *Masker) Errors(said ...*Said) func(text string) string {
	return func(text string) string { return m.replace(text, m.learnt(text, nil, said)) }
}

// isName reports whether a text is the name of a type, as the line of a field has it.
func (m *Masker) isName(text string) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.names.is(text)
}

func (m *Masker) text(text string, said ...*Said) string {
	return m.replace(text, m.spans(text, said))
}

// spans returns the secrets in a text, which may overlap.
func (m *Masker) spans(text string, said []*Said) []Span {
	return m.learnt(text, m.endings(text, said, func(_, to int) int { return to }), said)
}

// mostSearches bounds how often a text is searched again behind a secret that ends before its expression does.
const mostSearches = 32

// endings returns the secrets in a text that have their form. end returns where one ends that begins within a part of the text; what the expression took
// behind that is searched again.
func (m *Masker) endings(text string, said []*Said, end func(from, to int) int) []Span {
	var spans []Span
	for at, n := 0, 0; at < len(text) && n < mostSearches; n++ {
		again := len(text)
		for _, s := range find(text[at:], func(matched string) bool {
			return slices.ContainsFunc(said, func(s *Said) bool { return s.isOwn(matched) })
		}) {
			s.Start, s.End = s.Start+at, s.End+at
			to := end(s.Start, s.End)
			if to < s.End {
				again = min(again, max(to, at+1))
			}
			if s.End = to; s.Start == s.End || m.isName(text[s.Start:s.End]) {
				continue
			}
			from, to := whole(text, s.Start, s.End)
			spans = append(spans, Span{from, to, s.Kind})
		}
		at = again
	}
	return spans
}

// learnt appends the known values in a text.
func (m *Masker) learnt(text string, spans []Span, said []*Said) []Span {
	isSaid := func(value string) bool {
		return len(said) > 0 && slices.ContainsFunc(said, func(s *Said) bool { return s.has(value) })
	}
	m.mu.RLock()
	if len(m.heads) > 0 {
		m.knownIn(text, func(from, to int) {
			if !isSaid(text[from:to]) && !isSaid(plain(text[from:to])) {
				from, to = whole(text, from, to)
				spans = append(spans, Span{from, to, KindNamed})
			}
		})
		u, ok := unescape(text, nil)
		for i := 0; ok && i < mostUnescapes; i++ {
			m.knownIn(u.text, func(from, to int) {
				start, end := u.place(from, to)
				if !isSaid(u.text[from:to]) && !isSaid(text[start:end]) {
					spans = append(spans, Span{start, end, KindNamed})
				}
			})
			u, ok = unescape(u.text, u.at)
		}
	}
	m.mu.RUnlock()
	return spans
}

// replace masks parts of a text.
func (m *Masker) replace(text string, spans []Span) string {
	if len(spans) == 0 {
		return text
	}
	spans = disjoint(spans)
	var b strings.Builder
	last := 0
	for _, s := range spans {
		b.WriteString(text[last:s.Start])
		if isNumber(text, s.Start, s.End) {
			b.WriteString(`"` + Mask + `"`)
		} else {
			b.WriteString(Mask)
		}
		last = s.End
	}
	b.WriteString(text[last:])
	m.count.Add(uint64(len(spans)))
	return b.String()
}

// knownIn calls found with the start and end of each known value in text, and of each part of one.
func (m *Masker) knownIn(text string, found func(from, to int)) {
	for i := 0; i+cutKnown <= len(text); i++ {
		if !m.begin.has(text[i:]) {
			continue
		}
		list := m.heads[text[i:i+cutKnown]]
		if n := longest(list, text, i); n > 0 {
			found(i, i+n)
			i += n - 1
		}
	}
	for from, to := range m.parts.in(text) {
		found(from, to)
	}
}

// isNumber reports whether a part of a text is a number, true or false of a JSON document: its mask must be a string there.
func isNumber(text string, from, to int) bool {
	const blank = " \t\r\n"
	before, after := strings.TrimRight(text[:from], blank), strings.TrimLeft(text[to:], blank)
	if n := len(before); n < 2 || before[n-1] != ':' || before[n-2] != '"' || backslashes(before[:n-2])%2 == 1 {
		return false
	}
	return after == "" || strings.IndexByte(",}]", after[0]) >= 0
}

// whole extends the part of a text to include escapes that it begins or ends in, such as \n and
// \u0041 of JSON.
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
			_, n := escapeAt(nil, text[i:])
			to = max(to, i+n)
		}
		break
	}
	return from, to
}

// backslashes returns the number of backslashes at the end of a text.
func backslashes(text string) int { return len(text) - len(strings.TrimRight(text, `\`)) }

// longest returns the length of the value of the list that is in text at i, or of the beginning of
// a value before an ellipsis, or 0.
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
		if end, ok := cutWithin(text[i:], n); ok {
			return end
		}
	}
	return 0
}

// cutWithin returns where a text was cut after n bytes that it shares with a value. The last of these may begin an escape: a value may have an
// ampersand itself.
func cutWithin(text string, n int) (end int, ok bool) {
	for at := n; at >= max(cutKnown, n-longestEntity); at-- {
		if at < n && strings.IndexByte(escapeChars, text[at]) < 0 {
			continue
		}
		if part, ok := cutOff(text[at:]); ok {
			return at + part, true
		}
	}
	return 0, false
}

// cutOff reports whether a text ends before rest because it was cut: a mark of that follows, perhaps behind a quote. part is the length of the
// beginning of an escape before the mark, such as \u00.
func cutOff(rest string) (part int, ok bool) {
	const marks = "\\%&\"." + "\u2026" // what follows begins with one of their bytes
	if rest == "" || strings.IndexByte(marks, rest[0]) < 0 {
		return 0, false
	}
	for _, part := range []int{0, escapeBegun(rest)} {
		end := rest[part:]
		for _, quote := range []string{`\"`, `"`, "&#34;", "&quot;"} {
			if behind, ok := strings.CutPrefix(end, quote); ok {
				end = behind
				break
			}
		}
		if strings.HasPrefix(end, "\u2026") || strings.HasPrefix(end, "...") || strings.HasPrefix(end, `\u2026`) {
			return part, true
		}
	}
	return 0, false
}

// escapeBegun returns the length of the beginning of an escape, or of an escape of its first character (%25, \\), at the start of a text.
func escapeBegun(text string) int {
	hex := func(at, most int) int {
		for end := min(at+most, len(text)); at < end; at++ {
			if _, ok := hexAt(text, at, 1); !ok {
				break
			}
		}
		return at
	}
	n := 1
	switch text[0] {
	case '%':
		for strings.HasPrefix(text[n:], "25") {
			n += len("25")
		}
		return hex(n, 1)
	case '&':
		for strings.HasPrefix(text[n:], "amp;") {
			n += len("amp;")
		}
		for n < min(len(text), longestEntity) && (text[n] == '#' || isAlphanumeric(text[n])) {
			n++
		}
		return n
	case '\\':
		n = escapes(text, 0)
		if n == len(text) {
			return n
		}
		switch text[n] {
		case 'u':
			return hex(n+1, 3)
		case 'x':
			return hex(n+1, 1)
		case 'U':
			return hex(n+1, 7)
		}
		return n
	}
	return 0
}

// alone reports whether no letter or digit is next to a part of a text.
func alone(text string, from, to int) bool {
	inWord := func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
	}
	return (from == 0 || !inWord(text[from-1])) && (to == len(text) || !inWord(text[to]))
}

// Sizes of what a Writer holds back, in bytes.
const (
	mostHeld = 1 << 20  // without a line feed
	keptHeld = 32 << 10 // bytes of these to keep for what follows
)

// A Writer masks text line by line, so that what stands in other lines and columns stays. Only a private key has several
// lines. Close writes the last line.
type Writer struct {
	mask  func(text string, cells []int) string
	w     io.Writer
	held  []byte
	end   int   // of the last whole line in held
	cells []int // where the cells of held begin and end, in order
}

// NewWriter returns a Writer on w that masks texts with mask, such as Masker.Text.
func NewWriter(mask func(string) string, w io.Writer) *Writer {
	return NewCellWriter(func(text string, _ []int) string { return mask(text) }, w)
}

// NewCellWriter returns a Writer on w that masks lines with mask, as Masker.Cells does.
func NewCellWriter(mask func(text string, cells []int) string, w io.Writer) *Writer {
	return &Writer{mask: mask, w: w}
}

// Mask masks what is held, and then uses another function.
func (w *Writer) Mask(mask func(string) string) error {
	err := w.Close()
	w.mask = func(text string, _ []int) string { return mask(text) }
	return err
}

// Write masks whole lines and holds the rest, and a part of them.
func (w *Writer) Write(p []byte) (int, error) {
	if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
		w.end = len(w.held) + i + 1
	}
	w.held = append(w.held, p...)
	return len(p), w.flush()
}

// WriteCell writes a cell, or another text of the process, in a line.
func (w *Writer) WriteCell(text string) error {
	from := len(w.held)
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		w.end = from + i + 1
	}
	w.held = append(w.held, text...)
	w.cells = append(w.cells, from, len(w.held))
	return w.flush()
}

// flush masks whole lines if there are enough. A private key waits for its last line.
func (w *Writer) flush() error {
	if len(w.held) < keptHeld || w.end == 0 && len(w.held) <= mostHeld {
		return nil
	}
	end := w.end
	if key := bytes.LastIndex(w.held[:end], []byte("-----BEGIN ")); key >= 0 {
		begin := 1 + bytes.LastIndexByte(w.held[:key], '\n')
		if rest := w.held[key:end]; keyBegins(string(w.held[begin:end])) && bytes.Count(rest, []byte("\n")) <= mostKeyLines && len(rest) <= mostHeld {
			if end = begin; end == 0 {
				return nil
			}
		}
	}
	if end == 0 {
		end = len(w.held) - keptHeld
		if i := bytes.LastIndexAny(w.held[:end], " ,;\t}"); i > 0 {
			end = i + 1
		}
	}
	return w.write(end)
}

// write masks the first bytes of what is held.
func (w *Writer) write(end int) error {
	_, err := io.WriteString(w.w, w.lines(string(w.held[:end])))
	w.held = append(w.held[:0], w.held[end:]...)
	w.end = max(w.end-end, 0)
	w.cells = append(w.cells[:0], within(w.cells, end, end+len(w.held))...)
	return err
}

// Close writes the last line. It does not close the underlying writer.
func (w *Writer) Close() error {
	err := w.write(len(w.held))
	w.held = nil
	return err
}

// mostKeyLines is the maximum number of lines of a private key.
const mostKeyLines = 200

// lines masks each line of the beginning of held, and the lines of a private key together.
func (w *Writer) lines(text string) string {
	var b strings.Builder
	for at := 0; at < len(text); {
		n := at + lineEnd(text[at:])
		if keyBegins(text[at:n]) {
			for i := 0; i < mostKeyLines && n < len(text); i++ {
				from := n
				if n += lineEnd(text[n:]); strings.Contains(text[from:n], "-----END ") {
					break
				}
			}
		}
		b.WriteString(w.mask(text[at:n], within(w.cells, at, n)))
		at = n
	}
	return b.String()
}

// within returns the cells, and parts of cells, between two places in a text, as places behind the first.
func within(cells []int, from, to int) []int {
	i, _ := slices.BinarySearch(cells, from)
	j, _ := slices.BinarySearch(cells, to)
	if i == j && i%2 == 0 {
		return nil
	}
	var out []int
	if i%2 == 1 {
		out = append(out, 0)
	}
	for _, at := range cells[i:j] {
		out = append(out, at-from)
	}
	if len(out)%2 == 1 {
		out = append(out, to-from)
	}
	return out
}

// lineEnd returns the length of the first line of text, with its end.
func lineEnd(text string) int {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return len(text)
}

// keyBegins reports whether a line begins a private key that goes on in other lines.
func keyBegins(line string) bool {
	_, key, found := strings.Cut(line, "-----BEGIN ")
	return found && strings.Contains(key, "PRIVATE KEY") && !strings.Contains(key, "-----END ")
}
