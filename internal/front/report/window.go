package report

import "bytes"

// A Window is the part of a document's lists that is wanted. It holds for each list that is the result or a field of
// it, not for lists inside of their items. The lists are counted whole: a list whose end nobody wants is not left
// early, because what follows it in the document may be the sums of it.
type Window struct {
	From  int // items that are left out at the start
	Count int // items at most
	// Last counts From from the end of lists whose length is known before they are written: of lists that have the
	// largest at the end. Items stay in their order. Other lists are as without it.
	Last bool
	List string // the only list that is cut; empty for all
}

// bounds returns the items of a list that are wanted, of n.
func (w Window) bounds(n int) (from, end int) {
	if w.Last {
		end = max(0, n-w.From)
		return max(0, end-w.Count), end
	}
	from = min(w.From, n)
	return from, from + min(w.Count, n-from)
}

// A ListPart says which part of a list a document has.
type ListPart struct {
	From   int `json:"from" doc:"items that are left out at the start"`
	Listed int `json:"listed" doc:"items that are there"`
	Of     int `json:"of" doc:"items of the whole list"`
}

// SetWindow omits from the lists everything outside of w. The envelope records under "lists", by the name of each list, which part is
// present. The list that is the result has the name "". SetWindow must be called before the result is written.
func (e *JSONEncoder) SetWindow(w Window) { e.window, e.parts = &w, map[string]*ListPart{} }

func (e *JSONEncoder) cuts(list string) bool {
	return e.window != nil && (e.window.List == "" || e.window.List == list)
}

// wants counts an item of the list and reports whether it is in the window.
func (e *JSONEncoder) wants(list string) bool {
	if !e.cuts(list) {
		return true
	}
	p := e.parts[list]
	if e.counted {
		p.Listed++
		return true
	}
	p.Of++
	if p.Of <= e.window.From || p.Listed >= e.window.Count {
		return false
	}
	p.Listed++
	return true
}

// startPart begins to count a list.
func (e *JSONEncoder) startPart(list string) {
	if e.cuts(list) {
		e.parts[list] = &ListPart{From: e.window.From}
	}
}

// wantedOf returns the items of a list of n that are to be written, which then are all that there is for wants.
func (e *JSONEncoder) wantedOf(list string, n int) (from, end int) {
	if !e.cuts(list) {
		return 0, n
	}
	from, end = e.window.bounds(n)
	e.parts[list] = &ListPart{From: from, Of: n}
	return from, end
}

// wanted keeps the rows that are in the window, of rows that are separated by a comma and a line feed, as RowStreamer
// has them: a line feed does not stand inside of JSON's strings.
func (e *JSONEncoder) wanted(list string, rows []byte) []byte {
	if !e.cuts(list) {
		return rows
	}
	var kept []byte
	for row := range bytes.SplitSeq(rows, []byte(",\n")) {
		if !e.wants(list) {
			continue
		}
		if len(kept) > 0 {
			kept = append(kept, ",\n"...)
		}
		kept = append(kept, row...)
	}
	return kept
}
