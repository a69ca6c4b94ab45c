package answer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// TestAwaited checks Awaited for three methods that await one task.
func TestAwaited(t *testing.T) {
	s := answer.AsyncStack{Frames: []answer.AsyncFrame{
		{Object: 1, Depth: 0},
		{Object: 2, Depth: 1}, {Object: 3, Depth: 2}, {Object: 4, Depth: 3},
		{Object: 5, Depth: 1}, {Object: 6, Depth: 2}, {Object: 7, Depth: 3},
		{Object: 8, Depth: 1},
	}}
	for object, want := range map[target.Addr][]target.Addr{1: {1}, 3: {3, 2, 1}, 6: {6, 5, 1}, 7: {7, 6, 5, 1}, 8: {8, 1}, 9: nil} {
		var got []target.Addr
		for _, f := range s.Awaited(object) {
			got = append(got, f.Object)
		}
		assert.Equal(t, want, got, "of %d", object)
	}
}
