package report

import "bytes"

// A Window selects a part of a document's lists: the result, or lists in the result's fields. It does not apply to
// lists inside items. Lists are still counted to their end, since fields after them may hold their sums.
type Window struct {
	From  int // items skipped at the start
	Count int // maximum number of items
	// Last counts From from the end of a list, if the length is known before the list is written. Such lists end with
	// the largest items. The order of items stays. Other lists ignore Last.
	Last bool
	List string // the only list to cut; empty for all
}

// bounds returns the selected range of a list with n items.
func (w Window) bounds(n int) (from, end int) {
	if w.Last {
		end = max(0, n-w.From)
		return max(0, end-w.Count), end
	}
	from = min(w.From, n)
	return from, from + min(w.Count, n-from)
}

// A ListPart describes the part of a list in a document.
type ListPart struct {
	From   int `json:"from" doc:"items that are left out at the start"`
	Listed int `json:"listed" doc:"items that are there"`
	Of     int `json:"of" doc:"items of the whole list"`
}

// SetWindow cuts the lists to w. The envelope records each list's part under "lists", by name; the result itself has
// the name "". SetWindow must be called before the result is written.
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

// wanted keeps the rows that are in the window, of rows that are separated by a comma and a line feed, as rowStreamer
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
