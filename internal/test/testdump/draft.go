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

// A Draft is an open dump in memory that is overwritten in place, again and again: what reads it reads as fast as it does
// a sound one. What was read once and is kept, such as types, stays as it was.
type Draft struct {
	*sosgo.Dump
	raw    []byte
	memory target.Memory // lends raw
	undo   []Damage
}

// OpenDraft opens the dump in the file of a canned one, compressed or not, as a Draft.
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

// Set mends what the last call did, and puts this damage in the place of what the dump has of it. Of two at one address the
// last counts.
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

// Thin opens a copy of a dump in which the walk of the heap meets few objects: those that keep chooses, of one type after
// another as they come, and free blocks between them. The others are where they were, for who has their addresses. What
// walks a heap for each input is faster by as many objects as are left out. It returns those that are left.
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
	return newDraft(t, whole.raw, o), kept // the first one knows the heap as it was
}

// FewOf chooses, for Thin, the first few objects of each type whose name matches.
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
