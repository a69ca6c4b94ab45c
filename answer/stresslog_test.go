package answer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// TestStressLogAbout checks that messages without the address are omitted, but errors are kept.
func TestStressLogAbout(t *testing.T) {
	list := []answer.StressMessage{{OSID: 1, Arguments: []target.Addr{0x10, 0x20}}, {OSID: 2}, {OSID: 3, Arguments: []target.Addr{0x20}}, {OSID: 4, Arguments: []target.Addr{0x10}}}
	l := &answer.StressLog{Messages: func(yield func(answer.StressMessage, error) bool) {
		for i, m := range list {
			var err error
			if i == 1 {
				err = target.ErrCorrupt
			}
			if !yield(m, err) {
				return
			}
		}
	}}
	l.About(0x10)
	var got []uint32
	for m, err := range l.Messages {
		got = append(got, m.OSID)
		assert.Equal(t, m.OSID == 2, err != nil)
	}
	assert.Equal(t, []uint32{1, 2, 4}, got)
	for range l.Messages {
		break
	}
	(&answer.StressLog{}).About(1)
	(*answer.StressLog)(nil).About(1)
}
