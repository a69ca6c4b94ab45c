package typetext

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// TestFileLayout: that an image lies as in its file is said only where it is known; so is that it does not.
func TestFileLayout(t *testing.T) {
	write := func(sos bool, flat answer.Maybe[bool]) string {
		var b bytes.Buffer
		moduleAttributes(report.NewPage(&b, sos, func(error) {}), &answer.Module{Flat: flat})
		return b.String()
	}
	const head = "Attributes:              PEFile "
	assert.Equal(t, head+"IsFileLayout \n", write(false, answer.Known(true)))
	assert.Equal(t, head+"\n", write(false, answer.Known(false)))
	assert.Equal(t, head+"IsFileLayout=<not in dump>\n", write(false, answer.Of(false, target.ErrNotInDump)))
	assert.Equal(t, head+"\n", write(true, answer.Of(false, target.ErrNotInDump)))
}
