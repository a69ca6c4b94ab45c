package heap

import "github.com/sosgo/sosgo/target"

// Texts reads the texts of many strings for one goroutine, without an allocation for each.
type Texts struct{ r textReader }

// Texts returns a reader of the texts of strings of h.
func (h *Heap) Texts() *Texts { return &Texts{textReader{win: target.NewWindow(h.mem)}} }

// Append appends the text of the string at a to dst in UTF-8, at most limit characters (UTF-16 units) of it, and tells whether
// that is all.
func (t *Texts) Append(dst []byte, a target.Addr, limit int) (_ []byte, whole bool, err error) {
	n, err := t.r.length(a)
	if err != nil {
		return dst, false, err
	}
	return t.r.append(dst, a, n, limit)
}
