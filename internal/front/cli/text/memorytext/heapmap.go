package memorytext

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// HeapMapOptions choose the form of heapmap.
type HeapMapOptions struct {
	// Blocks draws with the blocks of Unicode instead of ASCII.
	Blocks bool
}

const (
	mapLine  = 64 // cells on a line
	mapLines = 64 // parts that have a line of their own each; more share lines
)

// mapSigns are how cells are drawn, by what is in them.
type mapSigns struct {
	used                 [4]string // by quarters that objects fill: the last is nearly all
	free, empty, unread  string
	dead                 string
	between, description string
}

var (
	blockSigns = mapSigns{used: [...]string{"░", "▒", "▓", "█"}, free: "·", empty: "_", unread: "?", dead: "×", between: " ",
		description: "█ ▓ ▒ ░ used: full, 3/4, 1/2, less; · free blocks only; _ unused; ? unreadable"}
	asciiSigns = mapSigns{used: [...]string{"-", "+", "*", "#"}, free: ".", empty: "_", unread: "?", dead: "x", between: " ",
		description: "# * + - used: full, 3/4, 1/2, less; . free blocks only; _ unused; ? unreadable"}
)

// HeapMap is the text of heapmap: a picture of each segment, what its signs mean, and sums.
func HeapMap(p *report.Page, m *answer.HeapMap, o HeapMapOptions) {
	t := mapText{p: p, m: m, signs: &asciiSigns}
	if o.Blocks {
		t.signs = &blockSigns
	}
	t.picture()
	p.Printf("\nA cell is %s: %s", report.Size(m.CellSize), t.signs.description)
	if m.Reachable {
		p.Printf("; %s mostly dead objects", t.signs.dead)
	}
	p.Print(".\n\n")
	t.sums()
	for i := range m.Lost {
		l := &m.Lost[i]
		p.Printf("segment %s of generation %s, heap %d: %s; not counted\n", report.Hex(l.Address), l.Generation, l.Heap, answer.Absent(l.Err))
	}
}

type mapText struct {
	p     *report.Page
	m     *answer.HeapMap
	signs *mapSigns
}

// picture draws the parts of each heap.
func (t *mapText) picture() {
	rows := [][]string{}
	for list := t.m.Parts; len(list) > 0; {
		n := 1
		if len(t.m.Parts) > mapLines {
			for n < len(list) && list[n].Heap == list[0].Heap && list[n].Generation == list[0].Generation {
				n++
			}
		}
		rows = append(rows, t.group(list[:n])...)
		list = list[n:]
	}
	if len(rows) > 0 {
		t.p.Fail(report.Summary(t.p, []string{"Heap", "Gen", "Start", "Committed", "Used", "Pinned", "Map"}, rows))
	}
}

// group draws parts of one generation: on one line if there is room, and their sums in front.
func (t *mapText) group(list []answer.MapPart) [][]string {
	sizes := answer.MapSizes{Pinned: answer.Known[uint64](0)}
	for i := range list {
		sizes.Add(&list[i].MapSizes)
	}
	start := report.Hex12(list[0].Memory.Start)
	if len(list) > 1 {
		start = fmt.Sprintf("%d parts", len(list))
	}
	var rows [][]string
	for i, line := range t.lines(list) {
		row := []string{"", "", "", "", "", "", line}
		if i == 0 {
			row = []string{strconv.Itoa(list[0].Heap), list[0].Generation, start, report.Size(sizes.Committed), t.known(&sizes, report.Share(sizes.Used, sizes.Committed)),
				t.pins(&sizes), line}
		}
		rows = append(rows, row)
	}
	return rows
}

// lines returns the cells of parts, a line at a time, at least one.
func (t *mapText) lines(list []answer.MapPart) []string {
	var lines []string
	var line strings.Builder
	n := 0 // cells on it
	for i := range list {
		cells := list[i].Cells
		if n > 0 && n+1+len(cells) > mapLine {
			lines, n = append(lines, line.String()), 0
			line.Reset()
		} else if n > 0 {
			line.WriteString(t.signs.between)
			n++
		}
		for k := range cells {
			if n == mapLine {
				lines, n = append(lines, line.String()), 0
				line.Reset()
			}
			line.WriteString(t.sign(&cells[k]))
			n++
		}
	}
	return append(lines, line.String())
}

// sign returns the character for a cell. A cell that is mostly unreadable is marked as such.
func (t *mapText) sign(c *answer.MapCell) string {
	switch {
	case c.Unread > c.Used+c.Free:
		return t.signs.unread
	case c.Dead > c.Used/2:
		return t.signs.dead
	case c.Used > 0:
		return t.signs.used[min(4*c.Used/max(c.Size, 1), 3)]
	case c.Free > 0:
		return t.signs.free
	case c.Unread > 0:
		return t.signs.unread
	}
	return t.signs.empty
}

// sums writes a line for each generation, and one for all.
func (t *mapText) sums() {
	var rows [][]string
	for i := range t.m.Generations {
		g := &t.m.Generations[i]
		rows = append(rows, t.sum(g.Generation, g.Parts, &g.MapSizes))
	}
	rows = append(rows, t.sum("total", len(t.m.Parts), &t.m.Total))
	parts := "Segments"
	if t.m.Regions {
		parts = "Regions"
	}
	header := []string{"Gen", parts, "Objects", "Used", "Free", "Fragmented", "Unread", "Committed", "Reserved", "Pinned"}
	if t.m.Reachable {
		header = slices.Insert(header, deadColumn, "Dead")
	}
	t.p.Fail(report.Summary(t.p, header, rows))
}

func (t *mapText) sum(name string, parts int, s *answer.MapSizes) []string {
	row := []string{name, strconv.Itoa(parts), t.known(s, report.Commas(s.Objects)), t.known(s, report.Size(s.Used)), t.known(s, report.Size(s.Free)),
		report.Share(s.Free, s.Used+s.Free), report.Size(s.Unread), report.Size(s.Committed), report.Size(s.Reserved), t.pins(s)}
	if t.m.Reachable {
		row = slices.Insert(row, deadColumn, t.known(s, report.Size(s.Dead)))
	}
	return row
}

// deadColumn is the index of the column with dead objects.
const deadColumn = 4

// known returns a number, with a plus if some memory is unreadable, or the reason if all of it is.
func (t *mapText) known(s *answer.MapSizes, number string) string {
	switch {
	case s.Err == nil:
		return number
	case s.Used+s.Free == 0:
		return answer.Absent(s.Err)
	}
	return number + "+"
}

// pins returns a number of pinned handles, with a plus where there may be more.
func (t *mapText) pins(s *answer.MapSizes) string {
	switch {
	case s.Pinned.Err() != nil:
		return answer.Absent(s.Pinned.Err())
	case t.m.PinsPartial:
		return report.Commas(s.Pinned.Value) + "+"
	}
	return report.Commas(s.Pinned.Value)
}
