package answer_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// TestNoteOnce checks that many notes of one cause become one, where the first of them is.
func TestNoteOnce(t *testing.T) {
	g := &answer.Gaps{}
	g.NoteOnce(target.ErrInCollection)
	assert.Empty(t, g.Noted())
	g.Note(target.ErrNotInDump)
	for i := range 3 {
		g.Note(fmt.Errorf("place %d: %w", i, target.ErrInCollection))
		g.Note(target.ErrCorrupt)
	}
	g.NoteOnce(target.ErrInCollection)
	assert.Equal(t, []error{target.ErrNotInDump, target.ErrInCollection, target.ErrCorrupt, target.ErrCorrupt, target.ErrCorrupt}, g.Noted())
	(*answer.Gaps)(nil).NoteOnce(target.ErrCorrupt)
	assert.Equal(t, "<in collection>", answer.Absent(fmt.Errorf("a field: %w", target.ErrInCollection)))
	assert.Equal(t, target.ErrUnsupported, target.Kind(target.ErrInCollection))
}
