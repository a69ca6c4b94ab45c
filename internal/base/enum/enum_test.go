package enum_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/base/enum"
)

type color uint8

func (c color) String() string { return enum.Name([]string{"red", "", "blue"}, c, "Color") }

// TestName: a number without a name is no empty text, and the method does not call itself.
func TestName(t *testing.T) {
	for c, want := range []string{"red", "Color(1)", "blue", "Color(3)"} {
		assert.Equal(t, want, color(c).String())
	}
}
