package heap

import "github.com/sosgo/sosgo/target"

// Texts reads the texts of strings for one goroutine, without an allocation for each.
type Texts struct{ r textReader }

// Texts returns a reader of strings of h.
func (h *Heap) Texts() *Texts { return &Texts{textReader{win: target.NewWindow(h.mem)}} }

// Append appends at most limit UTF-16 units of the string at a to dst as UTF-8. whole reports whether that is all.
func (t *Texts) Append(dst []byte, a target.Addr, limit int) (_ []byte, whole bool, err error) {
	if t.r.win == nil {
		return dst, false, errNoHeap
	}
	n, err := t.r.length(a)
	if err != nil {
		return dst, false, err
	}
	return t.r.append(dst, a, n, limit)
}
