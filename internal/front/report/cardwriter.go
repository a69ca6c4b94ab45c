package report

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// A cardWriter writes records.
type cardWriter struct{ p *Page }

// A cardNode is a line and the lines below it.
type cardNode struct {
	label, text string
	aligned     bool // its text is aligned with other aligned lines
	below       []cardNode
}

// longRecord is the minimum number of lines of a record surrounded by blank lines.
const longRecord = 5

// size returns the number of lines.
func (n *cardNode) size() int {
	lines := 1
	for i := range n.below {
		lines += n.below[i].size()
	}
	return lines
}

// root writes the record of an answer.
func (w cardWriter) root(r *record) {
	if line := r.line(); line != "" {
		w.p.PrintCells(escapeCells(line) + "\n")
	}
	for i := range r.verdicts {
		w.p.Verdict(&r.verdicts[i])
	}
	w.lines("", lineNodes(r.lines))
	long := false
	for i := range r.lists {
		for _, n := range r.lists[i].nodes(r.several > 1) {
			if long || n.size() >= longRecord && (i > 0 || len(r.verdicts) > 0) {
				w.p.Print("\n")
			}
			w.node("", &n, 0)
			long = n.size() >= longRecord
		}
		if l := &r.lists[i]; l.has("count") && len(l.records) > 0 {
			w.p.Print(Count(uint64(len(l.records)), singular(l.label()), l.label()) + "\n")
		}
	}
}

// none writes that all lists are empty, and whether some data is missing.
func (w cardWriter) none(lists []cardList, noted int) {
	names := make([]string, len(lists))
	for i := range lists {
		names[i] = lists[i].kind()
	}
	names = slices.Compact(names)
	list := strings.Join(names, " or ")
	if noted > 0 {
		w.p.Printf("Whether there are %s is not known: some data could not be read.\n", list)
		return
	}
	w.p.Printf("No %s found.\n", list)
}

// lines writes the lines below a record, with the texts of aligned lines in one column.
func (w cardWriter) lines(indent string, nodes []cardNode) {
	width := 0
	for i := range nodes {
		if nodes[i].aligned {
			width = max(width, utf8.RuneCountInString(nodes[i].label))
		}
	}
	for i := range nodes {
		w.node(indent, &nodes[i], width)
	}
}

func (w cardWriter) node(indent string, n *cardNode, width int) {
	label := n.label
	if n.aligned {
		label += strings.Repeat(" ", max(0, width-utf8.RuneCountInString(label)))
	}
	if label != "" {
		label += " "
	}
	w.p.PrintCells(strings.TrimRight(indent+label+escapeCells(n.text), " ") + "\n")
	w.lines(indent+"  ", n.below)
}

// line returns the head and the parts of a record.
func (r *record) line() string {
	parts := joined(r.parts)
	if r.head != "" && parts != "" {
		return r.head + ": " + parts
	}
	return r.head + parts
}

func joined(parts []Line) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = strings.TrimSpace(p.Label + " " + p.Text)
	}
	return strings.Join(texts, ", ")
}

// node returns the lines of a record.
func (r *record) node() cardNode {
	n := cardNode{text: r.line(), below: lineNodes(r.lines)}
	for i := range r.lists {
		l := &r.lists[i]
		n.below = append(n.below, l.nodes(l.titled || r.several > 1)...)
	}
	return n
}

// lineNodes returns aligned lines. A line without a label continues the previous one.
func lineNodes(lines []Line) []cardNode {
	nodes := make([]cardNode, len(lines))
	for i, l := range lines {
		nodes[i] = cardNode{label: l.Label, text: l.Text, aligned: l.Label != "" || i > 0 && nodes[i-1].aligned}
	}
	return nodes
}

// nodes returns the lines of a list, with a label if it is one of several lists.
func (l *cardList) nodes(labelled bool) []cardNode {
	var nodes []cardNode
	for _, row := range l.table {
		nodes = append(nodes, cardNode{text: row})
	}
	for i, r := range l.records {
		if i == l.number("first") {
			nodes = append(nodes, cardNode{text: Commas(uint64(len(l.records)-i)) + " more; --json lists them"})
			break
		}
		n := r.node()
		if labelled && !l.has("heading") {
			n.label, n.aligned = singular(l.label()), true
		}
		if n.text != "" || len(n.below) > 0 {
			nodes = append(nodes, n)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(l.hidden)) {
		n := uint64(l.hidden[why])
		nodes = append(nodes, cardNode{text: Count(n, singular(l.label()), l.label()) + " " + why})
	}
	if l.has("heading") && len(nodes) > 0 {
		return []cardNode{{text: l.label(), below: nodes}}
	}
	return nodes
}
