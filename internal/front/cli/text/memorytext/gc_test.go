package memorytext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// TestSharedSegment: a generation without a segment of its own has no committed bytes of its own, and not 0 of them.
func TestSharedSegment(t *testing.T) {
	list := []answer.GenerationSize{{Generation: "0", Live: 10}, {Generation: "2", Committed: 4096, Live: 20}, {Generation: "large"}, {Generation: answer.Ephemeral, Committed: 8192, Live: 10}}
	write := func() []string {
		var b strings.Builder
		p := report.NewPage(&b, false, func(error) {})
		gcGenerations(p, list)
		assert.NoError(t, p.Err())
		return strings.Split(strings.TrimSpace(b.String()), "\n")
	}
	lines := write()
	assert.Equal(t, []string{"0", "10", "0", "0.0%"}, strings.Fields(lines[1]))
	assert.Equal(t, []string{"2", "4,096", "20", "0", "0.0%"}, strings.Fields(lines[2]))
	assert.Equal(t, []string{"large", "0", "0", "0"}, strings.Fields(lines[3]))
	list[3].Committed = 0
	assert.Equal(t, []string{"0", "0", "10", "0", "0.0%"}, strings.Fields(write()[1]), "with regions no segment is shared")
}
