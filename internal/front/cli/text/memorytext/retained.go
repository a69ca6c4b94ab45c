package memorytext

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// Retained is the text of retained.
func Retained(p *report.Page, r *answer.Retained) {
	heapParts(p, r.Live, r.Garbage, r.Frozen, r.Incomplete)
	for i := range r.Objects {
		retainedObject(p, &r.Objects[i])
	}
	if r.By == "" {
		return
	}
	header := []string{"Retained", "Share", "Count", "Own size", "Garbage", strings.ToUpper(r.By[:1]) + r.By[1:]}
	if r.OfGarbage {
		header[4] = ""
	}
	var rows [][]string
	for i := range r.Rows {
		row := &r.Rows[i]
		garbage := ""
		if row.Garbage.Objects > 0 {
			garbage = report.Commas(row.Garbage.Size)
		}
		name := row.Name.String()
		if name == "" {
			name = "(none)"
		}
		rows = append(rows, []string{report.Commas(row.Retained), report.Percent(row.Share), report.Commas(row.Count), report.Commas(row.Size), garbage, name})
	}
	if r.OfGarbage {
		for i := range rows {
			rows[i] = append(rows[i][:4], rows[i][5])
		}
		header = append(header[:4], header[5])
		p.Print("\nRetained by unreachable objects:\n")
	}
	wasteRows(p, header, rows, uint64(r.More))
}

// heapParts writes how much of the heap is live.
func heapParts(p *report.Page, live, garbage, frozen answer.HeapPart, incomplete bool) {
	name := "garbage"
	if incomplete {
		p.Print("Incomplete (see the warnings). Of what can be read:\n")
		name = "garbage or held by unreadable parts"
	}
	p.Printf("%s objects live, %s bytes (%s); %s: %s objects, %s bytes", report.Commas(live.Objects), report.Commas(live.Size), report.Size(live.Size), name,
		report.Commas(garbage.Objects), report.Commas(garbage.Size))
	if frozen.Objects > 0 {
		p.Printf("; frozen, never collected (such as literals): %s objects, %s bytes", report.Commas(frozen.Objects), report.Commas(frozen.Size))
	}
	p.Print("\n")
}

func retainedObject(p *report.Page, o *answer.RetainedObject) {
	p.Printf("\n%s\n", object(&o.Object))
	all := "live memory"
	if !o.Live {
		all = "unreachable memory"
	}
	if o.Dead != nil {
		p.Printf("%s\n", o.Dead.Text)
	}
	p.Printf("retains %s, %s bytes (%s): %s of %s\n", report.Count(o.Count, "object", "objects"), report.Commas(o.Retained), report.Size(o.Retained), report.Percent(o.Share), all)
	var rows [][]string
	for i := range o.Types {
		t := &o.Types[i]
		rows = append(rows, []string{report.Commas(t.Size), report.Commas(t.Count), t.Type.String()})
	}
	wasteRows(p, []string{"Size", "Count", "Type"}, rows, uint64(o.More))
}

// Dominators is the text of dominators.
func Dominators(p *report.Page, d *answer.Dominators) {
	if d.Object != nil {
		owned(p, d.Object)
		return
	}
	heapParts(p, d.Live, d.Garbage, d.Frozen, d.Incomplete)
	if d.Children != nil {
		ownedRows(p, d)
		return
	}
	p.Printf("Owners of at least %s bytes:\n\n", report.Commas(d.Least))
	dominatorRows(p, d.Tree, true)
}

// ownedRows writes the children of a node of the tree.
func ownedRows(p *report.Page, d *answer.Dominators) {
	p.Printf("\n")
	switch {
	case len(d.Children) > 0:
	case d.From > 0:
		p.Printf("No further objects are owned.\n")
	default:
		p.Printf("No objects are owned.\n")
	}
	dominatorRows(p, d.Children, false)
	if d.More > 0 {
		p.Printf("... and %s more; the next begin with -from %d\n", report.Commas(uint64(d.More)), d.From+len(d.Children))
	}
}

// dominatorRows writes rows. Rows of a tree are indented by depth.
func dominatorRows(p *report.Page, list []answer.DominatorRow, indent bool) {
	width := len("Retained")
	for i := range list {
		width = max(width, len(report.Commas(list[i].Retained)))
	}
	for i := range list {
		r := &list[i]
		depth := 0
		if indent {
			depth = r.Depth
		}
		p.Printf("%*s %6s  %s%s\n", width, report.Commas(r.Retained), report.Percent(r.Share), report.Indent(depth, 2), dominatorName(r))
	}
}

// dominatorName describes the subject of a row.
func dominatorName(r *answer.DominatorRow) string {
	var name string
	switch {
	case r.Object != nil:
		name = report.Hex12(r.Object.Address) + " " + report.Escape(r.Object.Type.String())
	case !r.Root.IsZero():
		name = report.Escape(r.Root.String())
	case !r.Folded.IsZero():
		name = fmt.Sprintf("... %s %s", report.Commas(r.Count), report.Escape(r.Folded.String()))
	case r.Types > 0:
		name = fmt.Sprintf("... %s objects of %s", report.Commas(r.Count), report.Count(uint64(r.Types), "other type", "other types"))
	default:
		name = fmt.Sprintf("... %s objects in a row", report.Commas(r.Count))
	}
	if r.Owns > 0 {
		name += fmt.Sprintf(" (owns %s)", report.Commas(uint64(r.Owns)))
	}
	if r.Deeper > 0 {
		name += fmt.Sprintf(" (and %s deeper)", report.Commas(uint64(r.Deeper)))
	}
	return name
}

func owned(p *report.Page, o *answer.Owned) {
	p.Printf("%s, retains %s bytes\n", object(&o.Object), report.Commas(o.Retained))
	if o.Dead != nil {
		p.Printf("\n%s\nOwners among unreachable objects, outermost first:\n\n", o.Dead.Text)
	} else {
		p.Print("\nOwners, from the root down:\n\n")
	}
	dominatorRows(p, o.Chain, true)
	if o.Shared {
		p.Print("\nNo single owner: several independent paths hold it.\n")
	}
	for i := range o.Holders {
		p.Printf("\n%s\n", report.Escape(rootName(&o.Holders[i].Root)))
		steps(p, o.Holders[i].Objects)
	}
	if len(o.Owns)+len(o.Others) == 0 {
		p.Print("\nIt owns no other objects.\n")
		return
	}
	p.Print("\nOwned objects:\n\n")
	dominatorRows(p, o.Owns, false)
	dominatorRows(p, o.Others, false)
}

// Links is the text of referrers and referents.
func Links(p *report.Page, l *answer.Links) {
	p.Printf("%s\n", object(&l.Object))
	switch {
	case len(l.List)+len(l.Types) > 0:
	case l.Referrers && len(l.Noted()) > 0:
		p.Print("Nothing readable references it.\n")
	case l.Referrers:
		p.Print("Nothing references it.\n")
	case len(l.Noted()) > 0:
		p.Print("It references nothing readable.\n")
	default:
		p.Print("It references nothing.\n")
	}
	var rows [][]string
	for i := range l.Types {
		t := &l.Types[i]
		rows = append(rows, []string{report.Commas(t.Count), report.Commas(t.References), report.Commas(t.Live), report.Commas(t.Size), t.Type.String()})
	}
	wasteRows(p, []string{"Count", "References", "Live", "Size", "Type"}, rows, 0)
	rows = nil
	for i := range l.List {
		rows = append(rows, link(&l.List[i]))
	}
	header := []string{"Retained", "Size", "By", "Object"}
	wasteRows(p, header, rows, l.More)
}

func link(n *answer.Link) []string {
	by := edge(n.Edge)
	if n.Strength != answer.LinkStrong {
		by += " (" + string(n.Strength) + ")"
	}
	if n.Root != nil {
		name := rootName(n.Root)
		if n.Count > 1 {
			name += fmt.Sprintf(" and %s more", report.Commas(uint64(n.Count-1)))
		}
		return []string{"", "", "root", name}
	}
	if n.Object == nil {
		return []string{"", "", by, "null"}
	}
	retained := ""
	if n.Retained.Err() == nil {
		retained = report.Commas(n.Retained.Value)
	}
	name := report.Hex12(n.Object.Address) + " " + n.Object.Type.String()
	if !n.Live {
		name += " (garbage)"
	}
	return []string{retained, report.Commas(n.Object.Size), by, name}
}
