package scrub

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"github.com/sosgo/sosgo/target"
)

// counts holds numbers of replaced bytes.
type counts struct {
	Strings, Arrays, Numbers, Codes, Free, Native, Stacks, Notes, Texts, Literals, Secrets atomic.Uint64
}

// A job replaces the memory of one dump.
type job struct {
	areas    areas
	mapped   []target.Range // memory that pointers may refer to, by address and joined
	marks    *marks
	disguise *disguise
	literals map[string]bool // texts of the class library, in UTF-16
	secrets  *patterns
	control  map[uint64]bool // instruction and stack pointers of threads
	counts   counts
	forms    sync.Map // forms of large texts, by address
}

// zero clears memory.
func (j *job) zero(b []byte, count *atomic.Uint64) {
	if !blank(b) {
		count.Add(uint64(len(b)))
		clear(b)
	}
}

// words replaces each byte of memory that is not zero, that no command read and that is not part of a pointer.
func (j *job) words(b []byte, a target.Addr, rest byte, count *atomic.Uint64) {
	for len(b) > 0 {
		p := j.marks.page(a)
		n := min(uint64(len(b)), keptPage-uint64(a)%keptPage)
		for w, at := b[:n], a; len(w) > 0; {
			k := min(uint64(len(w)), wordSize-uint64(at)%wordSize)
			if k < wordSize || !j.isPointer(binary.LittleEndian.Uint64(w)) {
				replaceUnmarked(w[:k], at, rest, p, count)
			}
			w, at = w[k:], at+target.Addr(k)
		}
		a, b = a+target.Addr(n), b[n:]
	}
}

func replaceUnmarked(b []byte, a target.Addr, rest byte, p *page, count *atomic.Uint64) {
	if blank(b) {
		return
	}
	var n uint64
	for i := range b {
		if b[i] != 0 && !p.isMarked(a+target.Addr(i)) {
			b[i] = rest
			n++
		}
	}
	count.Add(n)
}

// isPointer reports whether a word points into memory of the process.
func (j *job) isPointer(v uint64) bool {
	if len(j.mapped) == 0 || target.Addr(v) < j.mapped[0].Start || target.Addr(v) >= j.mapped[len(j.mapped)-1].End {
		return false
	}
	_, found := slices.BinarySearchFunc(j.mapped, target.Addr(v), func(r target.Range, a target.Addr) int {
		switch {
		case r.Start > a:
			return 1
		case r.End <= a:
			return -1
		}
		return 0
	})
	return found
}

// longestLiteral is the largest length in bytes of texts to compare with literals of the class library.
const longestLiteral = 256

// public reports whether a text is a literal of the class library and therefore not a secret. Commands
// recognize threads and settings by them.
func (j *job) public(text []byte) bool {
	return len(text) <= longestLiteral && j.literals[string(text)]
}

// A form describes the parts of a text that stay.
type form struct {
	used     int64 // bytes before the zeros at its end
	constant bool  // all elements are equal
}

// largeText is the smallest size in bytes of texts with cached forms.
const largeText = 1 << 16

// form returns the form of the text at a with elements of size bytes.
func (j *job) form(a target.Addr, text []byte, size int) form {
	if known, ok := j.forms.Load(a); ok && len(text) >= largeText {
		return known.(form)
	}
	f := form{used: int64(len(bytes.TrimRight(text, "\x00")))}
	if size > 1 {
		f.used = min((f.used+int64(size)-1)/int64(size)*int64(size), int64(len(text)))
	}
	f.constant = size > 0 && len(text) > size && bytes.Equal(text[size:], text[:len(text)-size])
	if len(text) >= largeText {
		j.forms.Store(a, f)
	}
	return f
}

// memory replaces b, the memory at a.
func (j *job) memory(b []byte, a target.Addr) {
	for len(b) > 0 {
		r := j.areas.at(a)
		n := r.through(a, len(b))
		switch part := b[:n]; r.kind {
		case areaWords:
			j.words(part, a, 0, &j.counts.Native)
		case areaStack:
			j.words(part, a, 0, &j.counts.Stacks)
		case areaZero:
			j.zero(part, &j.counts.Free)
		case areaHeap:
			r.heap.apply(j, part, a)
		}
		a, b = a+target.Addr(n), b[n:]
	}
}

// patterns are texts that must not remain, in UTF-8 and in UTF-16.
type patterns struct {
	heads   map[uint32][]pattern
	first   [1 << 16 / 64]uint64 // the first two bytes of each pattern
	longest int
}

type pattern struct{ text, fresh []byte }

// leastPattern is the least length in bytes of a pattern. mostPattern is the greatest: longer texts are
// searched in pieces.
const leastPattern, mostPattern = 5, 4096

// isName reports whether a secret could be part of the name of a type or a file, and be found there.
func isName(value string) bool {
	return strings.IndexFunc(value, func(r rune) bool { return !unicode.IsLetter(r) && r != '.' && r != '_' }) < 0
}

// newPatterns returns patterns for values, and others.
func newPatterns(values []string, others []pattern, d *disguise) *patterns {
	p := &patterns{heads: map[uint32][]pattern{}}
	for _, v := range values {
		p.value([]byte(v), false, d)
		p.value(wide(v), true, d)
	}
	for _, q := range others {
		p.add(q)
	}
	p.sort()
	return p
}

// sort puts the longest patterns with the same start first.
func (p *patterns) sort() {
	for _, list := range p.heads {
		slices.SortStableFunc(list, func(a, b pattern) int { return len(b.text) - len(a.text) })
	}
}

func (p *patterns) value(text []byte, wide bool, d *disguise) {
	for piece := range slices.Chunk(text, mostPattern) {
		if len(piece) < leastPattern {
			continue
		}
		fresh := slices.Clone(piece)
		d.replace(fresh, wide)
		p.add(pattern{slices.Clone(piece), fresh})
	}
}

// add adds a pattern of at least leastPattern bytes.
func (p *patterns) add(q pattern) {
	head := binary.LittleEndian.Uint32(q.text)
	p.heads[head] = append(p.heads[head], q)
	p.first[uint16(head)/64] |= 1 << (uint16(head) % 64)
	p.longest = max(p.longest, len(q.text))
}

// overwrite replaces the patterns in b and returns the number of bytes.
func (p *patterns) overwrite(b []byte) (n uint64) {
	if p == nil || len(p.heads) == 0 {
		return 0
	}
	for i := 0; i+leastPattern <= len(b); i++ {
		two := binary.LittleEndian.Uint16(b[i:])
		if p.first[two/64]>>(two%64)&1 == 0 {
			continue
		}
		for _, q := range p.heads[binary.LittleEndian.Uint32(b[i:])] {
			if bytes.HasPrefix(b[i:], q.text) {
				copy(b[i:], q.fresh)
				n += uint64(len(q.text))
				i += len(q.text) - 1
				break
			}
		}
	}
	return n
}
