package memorytext_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/text/memorytext"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

func text(t *testing.T, write func(*report.Page)) string {
	var b bytes.Buffer
	p := report.NewPage(&b, false, func(error) {})
	write(p)
	require.NoError(t, p.Err())
	return b.String()
}

// TestHeapMapSigns checks the signs for each quarter, for free blocks, for unused and for unreadable memory.
func TestHeapMapSigns(t *testing.T) {
	cells := []answer.MapCell{{Size: 100, Used: 1}, {Size: 100, Used: 25}, {Size: 100, Used: 50}, {Size: 100, Used: 75, Unread: 25}, {Size: 100, Used: 100},
		{Size: 100, Free: 100}, {Size: 100, Unread: 60, Used: 40}, {Size: 100}}
	m := &answer.HeapMap{CellSize: 100, Parts: []answer.MapPart{{Generation: "0", Cells: cells}}}
	m.Parts[0].Pinned = answer.Missing[uint64](target.ErrNotInDump)
	m.Generations = []answer.MapGeneration{{Generation: "2", MapSizes: answer.MapSizes{Unread: 100, Err: target.ErrNotInDump}},
		{Generation: "large", MapSizes: answer.MapSizes{Objects: 12, Used: 100, Unread: 100, Err: target.ErrCorrupt}}}
	m.Lost = []answer.LostSegment{{Address: 0x1000, Generation: "2", Err: target.ErrCorrupt}}
	ascii := text(t, func(p *report.Page) { memorytext.HeapMap(p, m, memorytext.HeapMapOptions{}) })
	assert.Contains(t, ascii, "<not in dump>  -+*##.?_\n")
	assert.Contains(t, ascii, "segment 0x1000 of generation 2, heap 0: <corrupt>; not counted\n")
	assert.NotContains(t, ascii, "█")
	assert.Regexp(t, `\n2 +0 +<not in dump>  <not in dump>  <not in dump>  - `, ascii)
	assert.Regexp(t, `\nlarge +0 +12\+ +100 B\+ +0 B\+ +0.0% `, ascii)
	blocks := text(t, func(p *report.Page) { memorytext.HeapMap(p, m, memorytext.HeapMapOptions{Blocks: true}) })
	assert.Contains(t, blocks, "░▒▓██·?_\n")
}

// TestHeapMapDead checks the sign for mostly dead cells, and that sums are in a column.
func TestHeapMapDead(t *testing.T) {
	cells := []answer.MapCell{{Size: 100, Used: 100, Dead: 51}, {Size: 100, Used: 100, Dead: 50}, {Size: 100}}
	m := &answer.HeapMap{Reachable: true, CellSize: 100, Parts: []answer.MapPart{{Generation: "0", Cells: cells}}, Total: answer.MapSizes{Used: 2048, Dead: 1024}}
	out := text(t, func(p *report.Page) { memorytext.HeapMap(p, m, memorytext.HeapMapOptions{}) })
	assert.Contains(t, out, "  x#_\n")
	assert.Contains(t, out, "x mostly dead objects.")
	assert.Regexp(t, `Used +Dead +Free`, out)
	assert.Regexp(t, `2.0 KB +1.0 KB +0 B`, out)
}

// TestHeapMapLines checks that long parts continue on the next line and small parts share lines.
func TestHeapMapLines(t *testing.T) {
	long := answer.MapPart{Generation: "large", Cells: make([]answer.MapCell, 65), MapSizes: answer.MapSizes{Pinned: answer.Known[uint64](0)}}
	m := &answer.HeapMap{CellSize: 1, Parts: []answer.MapPart{long}, PinsPartial: true}
	out := text(t, func(p *report.Page) { memorytext.HeapMap(p, m, memorytext.HeapMapOptions{}) })
	assert.Contains(t, out, " "+strings.Repeat("_", 64)+"\n")
	assert.Contains(t, out, " _\n")
	assert.Contains(t, out, "0+")
	m = &answer.HeapMap{CellSize: 1}
	for range 65 {
		m.Parts = append(m.Parts, answer.MapPart{Generation: "2", Cells: make([]answer.MapCell, 31)})
	}
	out = text(t, func(p *report.Page) { memorytext.HeapMap(p, m, memorytext.HeapMapOptions{}) })
	two := strings.Repeat("_", 31) + " " + strings.Repeat("_", 31)
	assert.Equal(t, 32, strings.Count(out, two), "two parts a line")
	assert.Contains(t, out, "65 parts")
}
