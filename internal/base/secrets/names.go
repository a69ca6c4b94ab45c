package secrets

import (
	"strings"
	"unicode"
)

// names are names of types of a process. They stay in all texts, so a value that is a part of one is masked only where a name or a form shows it.
type names struct {
	full  map[string]bool // with a namespace, as far as a mark of generic arguments or of an array
	words map[string]bool // identifiers
	text  strings.Builder // all of them
}

func (n *names) add(name string) {
	if n.full == nil {
		n.full, n.words = map[string]bool{}, map[string]bool{}
	}
	if head := beforeMarks(name); strings.Contains(head, ".") {
		n.full[head] = true
	}
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !n.words[word] {
			n.words[strings.Clone(word)] = true
			n.text.WriteString(word + "\n")
		}
	}
}

// beforeMarks returns a name of a type without the marks of generic arguments and of arrays, and what follows.
func beforeMarks(name string) string {
	if i := strings.IndexAny(name, "<["); i >= 0 {
		return name[:i]
	}
	return name
}

// is reports whether a text is the full name of a type, or begins with one that has arguments or elements.
func (n *names) is(text string) bool { return n.full[beforeMarks(text)] }

// has reports whether a value would be masked in the name of a type.
func (n *names) has(value string) bool {
	return n.is(value) || n.words[value] || len(value) >= leastWord && word(value) && strings.Contains(n.text.String(), value)
}

// AddName adds the name of a type of the process. What is a part of such a name is not masked everywhere, and a whole one nowhere. Names are
// added before values.
func (m *Masker) AddName(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.names.add(name)
}
