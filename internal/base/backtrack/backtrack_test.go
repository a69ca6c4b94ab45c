package backtrack

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/base/limits"
)

// TestExponential checks patterns that are known to take exponential time, and like ones that take none: a mandatory separator, a fixed number, an
// anchor that allows one way alone.
func TestExponential(t *testing.T) {
	for _, pattern := range []string{
		`^(a+)+$`, `^([a-z]+)+@[a-z]+$`, `(\w+\s?)+$`, `(?:\d+)+x`, `(.*a)+b`, `(\s*\w+\s*)*;`, `^(([a-z])+.)+[A-Z]([a-z])+$`, `(x|[a-z]+)*!`, `(?<name>\w+)*=`,
		`([a-zA-Z0-9]+){10,}:`, `((a+)b?)+c`,
	} {
		assert.True(t, Exponential(pattern), pattern)
	}
	for _, pattern := range []string{
		``, `abc`, `a+`, `(\d+,)+`, `(\w+\s)+$`, `([a-z]+\d)+`, `(\b\w+\b)+`, `(ab)+`, `(a+){3}`, `(a{2})+`, `\w+@\w+\.com`, `(?=a+)+`, `(a+)\1+`, `(?>a+)+`, `("[^"]*")*`, `(a+`,
		`^\d{4}-\d{2}$`, `([^,]*,)*`,
	} {
		assert.False(t, Exponential(pattern), pattern)
	}
}

// FuzzExponential checks that a pattern behind a text is as exponential as the pattern alone.
func FuzzExponential(f *testing.F) {
	f.Add(`^([a-z]+)+@$`)
	f.Add(`(x|[a-z]+)*!`)
	f.Fuzz(func(t *testing.T, pattern string) {
		if len(pattern) < limits.Pattern/2 && Exponential(pattern) {
			assert.True(t, Exponential("abc"+pattern), pattern)
		}
	})
}
