package stackwalk

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/target"
)

// TestOverflowed: only memory of an interrupted frame below the end of the stack holds nothing. Other missing memory is
// a gap.
func TestOverflowed(t *testing.T) {
	damaged := target.Corruptf("the process had no memory there")
	for _, c := range []struct {
		name   string
		frame  Frame
		at     target.Addr
		unread error
		want   bool
	}{
		{"in the frame", Frame{SP: 0xff0, CallerSP: 0x1030, Exact: true}, 0xff8, damaged, true},
		{"below the frame", Frame{SP: 0xff0, CallerSP: 0x1030, Exact: true}, 0xfe8, damaged, false},
		{"above the frame", Frame{SP: 0xff0, CallerSP: 0x1030, Exact: true}, 0x1030, damaged, false},
		{"of unknown caller", Frame{SP: 0xff0, Exact: true}, 0xff8, damaged, false},
		{"at a call", Frame{SP: 0xff0, CallerSP: 0x1030}, 0xff8, damaged, false},
		{"not in the dump", Frame{SP: 0xff0, CallerSP: 0x1030, Exact: true}, 0xff8, target.ErrNotInDump, false},
	} {
		assert.Equal(t, c.want, isOverflow(&c.frame, c.at, c.unread), c.name)
	}
}
