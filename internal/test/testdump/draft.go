package testdump

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// A Draft is an open dump in memory that is overwritten in place, many times. Reading it is as fast
// as reading an undamaged dump. Cached data, such as types, does not change.
type Draft struct {
	*sosgo.Dump
	raw    []byte
	memory target.Memory // lends raw
	undo   []Damage
}

// OpenDraft opens the file of a canned dump, compressed or not, as a Draft.
func OpenDraft(t testing.TB, path string, o sosgo.Options) *Draft {
	t.Helper()
	raw, err := (&testcase.Case{Path: testcase.Plain(path)}).Raw()
	if err != nil {
		t.Fatal(err)
	}
	return newDraft(t, raw, o)
}

func newDraft(t testing.TB, raw []byte, o sosgo.Options) *Draft {
	t.Helper()
	d := &Draft{raw: raw}
	o.WrapMemory = func(m target.Memory) target.Memory { d.memory = m; return m }
	var err error
	if d.Dump, err = sosgo.OpenReaderAt(target.BytesSource(raw), int64(len(raw)), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// Set undoes the last call and applies the damage. If several overwrite one address, the last one
// wins.
func (d *Draft) Set(damage ...Damage) {
	for _, w := range slices.Backward(d.undo) {
		copy(d.memory.Span(w.At), w.Bytes)
	}
	d.undo = d.undo[:0]
	for _, w := range damage {
		for len(w.Bytes) > 0 {
			b := d.memory.Span(w.At)
			if len(b) == 0 {
				break
			}
			b = b[:min(len(b), len(w.Bytes))]
			d.undo = append(d.undo, Damage{At: w.At, Bytes: slices.Clone(b)})
			n := copy(b, w.Bytes)
			w.At, w.Bytes = w.At+target.Addr(n), w.Bytes[n:]
		}
	}
}

// Thin opens a copy of a dump in which the walk of the heap meets few objects: the objects that
// keep selects, with free blocks between them. The other objects stay in memory for code that has
// their addresses. Fuzzing a walk of the heap is faster by the number of omitted objects. Thin
// returns the remaining objects.
func Thin(t testing.TB, path string, o sosgo.Options, keep func(v *sosgo.View, o *heap.Object) bool) (*Draft, []heap.Object) {
	t.Helper()
	whole := OpenDraft(t, path, o)
	v, err := whole.View("")
	if err != nil {
		t.Fatal(err)
	}
	h, err := v.Heap()
	if err != nil {
		t.Fatal(err)
	}
	free, err := h.Runtime().MethodTable(h.Runtime().WellKnown().Free)
	if err != nil {
		t.Fatal(err)
	}
	var kept []heap.Object
	var blocks []Damage
	var from, to target.Addr // the last free block
	for o, err := range h.Objects() {
		if err != nil {
			continue
		}
		if !o.Free && keep(v, &o) {
			kept = append(kept, o)
			continue
		}
		if to != o.Addr || h.Segment(from) != h.Segment(o.Addr) {
			blocks, from = append(blocks, Damage{}), o.Addr
		}
		to = o.Next()
		blocks[len(blocks)-1] = Words(from, uint64(free.Addr), uint64(to-from)-uint64(free.BaseSize))
	}
	if len(kept) == 0 || len(blocks) == 0 {
		t.Fatalf("%s: %d objects are kept, with %d free blocks between them", filepath.Base(path), len(kept), len(blocks))
	}
	whole.Set(blocks...)
	return newDraft(t, whole.raw, o), kept // a new one, because the first has cached the heap
}

// FewOf returns a keep function for Thin: it selects the first few objects of each type with a
// matching name.
func FewOf(few int, match func(name string) bool) func(v *sosgo.View, o *heap.Object) bool {
	count := map[*dac.MethodTable]int{}
	return func(v *sosgo.View, o *heap.Object) bool {
		if count[o.Type]++; count[o.Type] > few {
			return false
		}
		rt, err := v.Runtime()
		if err != nil {
			return false
		}
		name, err := rt.TypeName(o.Type.Addr, dac.NameManaged)
		return err == nil && match(name)
	}
}
