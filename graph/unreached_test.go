package graph

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
)

// TestUnreached checks that an object without a root is garbage only if all roots are read and it is not frozen.
func TestUnreached(t *testing.T) {
	for _, c := range []struct {
		generation string
		incomplete bool
		want       string
		strength   answer.Strength
	}{
		{"2", false, "it is garbage", answer.StrengthProved},
		{"2", true, "no readable root leads to it", answer.StrengthUnknown},
		{"frozen", false, "no root leads to it, but it is frozen: never collected", answer.StrengthProved},
		{"frozen", true, "no root leads to it, but it is frozen: never collected", answer.StrengthProved},
	} {
		v := unreached(&answer.PathObject{Generation: c.generation}, c.incomplete)
		assert.Equal(t, c.want, v.Text)
		assert.Equal(t, c.strength, v.Strength)
	}
}
