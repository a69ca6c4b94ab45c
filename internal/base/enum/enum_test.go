package enum_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/base/enum"
)

type color uint8

func (c color) String() string { return enum.Name([]string{"red", "", "blue"}, c, "Color") }

// TestName: a value without a name is formatted as a number.
func TestName(t *testing.T) {
	for c, want := range []string{"red", "Color(1)", "blue", "Color(3)"} {
		assert.Equal(t, want, color(c).String())
	}
}
