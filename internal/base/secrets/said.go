package secrets

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// mostSaid is the number of bytes of texts that a Said holds.
const mostSaid = 16 << 20

// A Said holds texts that come from the user: words that were typed, and what expressions make of them and of masked texts. A secret
// in them was guessed, so it is shown: whoever guesses would else learn from the mask that the guess is right. It is safe for
// concurrent use.
type Said struct {
	mu    sync.RWMutex
	texts []string
	own   []string // with single spaces
	size  int
}

// AddOwn adds words of the user, or of sosgo, that stand beside each other in the answer, such as the heads of columns. There, a
// name beside a word is not a secret: the heads "Bearer" and "Length".
func (s *Said) AddOwn(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size += len(text); s.size <= mostSaid {
		s.own = append(s.own, singleSpaces(text))
	}
}

// isOwn reports whether a text stands in one of AddOwn, with as many spaces between its words as there may be.
func (s *Said) isOwn(text string) bool {
	if s == nil {
		return false
	}
	text = strings.TrimLeft(text, `"'[({,:=`) // which forms match before a name
	text = strings.TrimRight(text, `\`)       // the beginning of an escape
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.ContainsFunc(s.own, func(own string) bool {
		return strings.Contains(own, singleSpaces(text)) || strings.Contains(own, singleSpaces(plain(text)))
	})
}

func singleSpaces(text string) string { return strings.Join(strings.Fields(text), " ") }

// Add adds a text. It reports false if there are too many.
func (s *Said) Add(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, form := range slices.Compact([]string{text, plain(text)}) {
		if s.size += len(form); s.size > mostSaid {
			return false
		}
		s.texts = append(s.texts, form)
	}
	return true
}

// has reports whether a text has the value.
func (s *Said) has(value string) bool {
	if s == nil {
		return false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.ContainsFunc(s.texts, func(text string) bool { return strings.Contains(text, value) })
}

type saidKey struct{}

// WithSaid returns a context for expressions with results that are shown beside the texts of s.
func WithSaid(ctx context.Context, s *Said) context.Context {
	return context.WithValue(ctx, saidKey{}, s)
}

// SaidOf returns the texts that WithSaid added to a context, or nil.
func SaidOf(ctx context.Context) *Said {
	s, _ := ctx.Value(saidKey{}).(*Said)
	return s
}
