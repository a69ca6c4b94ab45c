package memorytext

import (
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// wasteTitles say what a kind of waste is.
var wasteTitles = map[answer.WasteForm]string{
	answer.WasteStrings:          "Duplicate strings",
	answer.WasteSparse:           "Arrays of mostly null references",
	answer.WasteZeros:            "Arrays of zeros",
	answer.WasteConstant:         "Arrays of one repeated value",
	answer.WasteTails:            "Arrays with trailing zeros",
	answer.WasteEmptyArrays:      "Duplicate empty arrays",
	answer.WasteEmptyCollections: "Empty collections",
	answer.WasteUnderfilled:      "Oversized collections",
	answer.WasteBoxes:            "Duplicate boxed values",
	answer.WasteZeroObjects:      "Objects with all fields null or zero",
}

// Waste is the text of waste: what each kind of waste takes, then its types and holders.
func Waste(p *report.Page, w *answer.Waste) {
	what := "objects"
	if w.Live {
		what = "objects live"
	}
	p.Printf("%s %s, %s; at least %s of it wasted (%s)\n\n", report.Commas(w.Objects), what, report.Size(w.Size), report.Size(w.Wasted), report.Percent(w.Share))
	var rows [][]string
	for i := range w.Kinds {
		k := &w.Kinds[i]
		rows = append(rows, []string{string(k.Kind), report.Commas(k.Objects), report.Size(k.Wasted), report.Percent(k.Share), wasteTitles[k.Kind]})
	}
	p.Fail(report.Summary(p, []string{"Kind", "Objects", "Wasted", "Share", ""}, rows))
	for i := range w.Kinds {
		if k := &w.Kinds[i]; k.Objects > 0 {
			wasteKind(p, k)
		}
	}
	freeSpaces(p, w.Free)
	for i := range w.Unknown {
		u := &w.Unknown[i]
		p.Printf("\nnot examined: %s objects of %s: %s\n", report.Commas(u.Objects), report.Escape(u.Type.String()), report.Escape(u.Reason))
	}
}

func wasteKind(p *report.Page, k *answer.WasteKind) {
	p.Printf("\n%s (%s): %s objects, %s wasted", wasteTitles[k.Kind], k.Kind, report.Commas(k.Objects), report.Size(k.Wasted))
	if k.All > 0 {
		p.Printf("; all %s take %s", report.Commas(k.All), report.Size(k.AllSize))
	}
	p.Print("\n")
	repeatedStrings(p, k)
	wasteTypes(p, k)
	var rows [][]string
	for i := range k.Holders {
		h := &k.Holders[i]
		rows = append(rows, []string{report.Size(h.Wasted), report.Commas(h.References), h.Holder.String()})
	}
	wasteRows(p, []string{"Wasted", "References", "Held by"}, rows, uint64(k.MoreHolders))
}

// wasteRows writes a table and the number of further rows.
func wasteRows(p *report.Page, header []string, rows [][]string, more uint64) {
	if len(rows) > 0 {
		p.Print("\n")
		p.Fail(report.Summary(p, header, rows))
		if more > 0 {
			p.Printf("... and %s more\n", report.Commas(more))
		}
	}
}

func repeatedStrings(p *report.Page, k *answer.WasteKind) {
	var rows [][]string
	for i := range k.Strings {
		s := &k.Strings[i]
		var holders []string
		for j := range s.Holders {
			holders = append(holders, s.Holders[j].Holder.String())
		}
		rows = append(rows, []string{report.Size(s.Wasted), report.Commas(s.Count), report.Hex12(s.Address), quoted(s.Text), strings.Join(holders, ", ")})
	}
	wasteRows(p, []string{"Wasted", "Strings", "First", "Content", "Held by"}, rows, k.MoreStrings)
}

// wasteChars is how much of a string is shown.
const wasteChars = 40

func quoted(t answer.Text) string {
	if t.Err != nil {
		return t.String()
	}
	if start, _ := answer.CutText(t.S, wasteChars); start != t.S {
		return answer.Quote(start) + "..."
	}
	return answer.Quote(t.S)
}

func wasteTypes(p *report.Page, k *answer.WasteKind) {
	header := []string{"Wasted", "Objects", "Example", "Type"}
	boxed := k.Kind == answer.WasteBoxes
	collections := k.Kind == answer.WasteUnderfilled || k.Kind == answer.WasteEmptyCollections
	switch {
	case boxed:
		header = []string{"Wasted", "Objects", "All", "Size", "Example", "Type"}
	case collections:
		header = []string{"Wasted", "Objects", "All", "Filled", "Example", "Type"}
	}
	var rows [][]string
	for i := range k.Types {
		t := &k.Types[i]
		row := []string{report.Size(t.Wasted), report.Commas(t.Objects)}
		switch {
		case boxed:
			row = append(row, report.Commas(t.All), report.Size(t.AllSize))
		case collections:
			row = append(row, report.Commas(t.All), report.Share(t.Elements, t.Capacity))
		}
		example := "-"
		if t.Example != 0 {
			example = report.Hex12(t.Example)
		}
		rows = append(rows, append(row, example, t.Type.String()))
	}
	wasteRows(p, header, rows, uint64(k.MoreTypes))
}

func freeSpaces(p *report.Page, list []answer.FreeSpace) {
	var rows, pins [][]string
	more := uint64(0)
	for i := range list {
		f := &list[i]
		rows = append(rows, []string{f.Generation, report.Size(f.Free), report.Share(f.Free, f.Free+f.Objects), report.Commas(f.Blocks), report.Size(f.Largest)})
		for j := range f.Pins {
			n := &f.Pins[j]
			pins = append(pins, []string{f.Generation, report.Commas(n.Objects), report.Size(n.Size), report.Commas(n.Handles) + " " + n.Handle, report.Hex12(n.Example), n.Type.String()})
		}
		more += uint64(f.MorePins)
	}
	if len(rows) > 0 {
		p.Print("\nFree blocks between objects, by generation:\n\n")
		p.Fail(report.Summary(p, []string{"Gen", "Free", "Share", "Blocks", "Largest"}, rows))
	}
	if len(pins) > 0 {
		p.Print("\nObjects beside free blocks that handles pin:\n")
		wasteRows(p, []string{"Gen", "Objects", "Size", "Handles", "Example", "Type"}, pins, more)
	}
}
