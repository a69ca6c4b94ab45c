package heap

import (
	"context"
	"errors"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// A scanList is an answer.ObjectSource that scans the heap.
type scanList struct {
	h   *Heap
	ctx context.Context
	f   *Filter
	o   ScanOptions
	end func(*Stats) // is told what a scan that came to its end counted
}

// errEnough ends a scan whose caller wants no more.
var errEnough = errors.New("enough")

func (l *scanList) All() iter.Seq2[answer.HeapObject, error] {
	return func(yield func(answer.HeapObject, error) bool) {
		err := scanRows(l, func() *rowCollector {
			return &rowCollector{Counter: NewCounter(l.h, l.f), sieve: NewSieve(l.f)}
		}, func(c *rowCollector) error {
			for i := range c.rows {
				if !yield(c.rows[i], nil) {
					return errEnough
				}
			}
			return nil
		})
		if err != nil && err != errEnough {
			yield(answer.HeapObject{}, err)
		}
	}
}

func (l *scanList) Format(chars int, newRow func() answer.AppendObject, emit func([]byte) error) error {
	return scanRows(l, func() *lineCollector {
		return &lineCollector{Counter: NewCounter(l.h, l.f), sieve: NewSieve(l.f), reader: newRowReader(l.h, chars), row: newRow()}
	}, func(c *lineCollector) error {
		if len(c.out) == 0 {
			return nil
		}
		return emit(c.out)
	})
}

// A countingCollector counts what it collects.
type countingCollector interface {
	Collector
	counter() *Counter
}

func (c *Counter) counter() *Counter { return c }

func scanRows[C countingCollector](l *scanList, create func() C, merge func(C) error) error {
	total := NewCounter(l.h, l.f)
	err := Scan(l.ctx, l.h, l.h.Spans(l.f), l.o, create, func(c C) error {
		total.Add(c.counter())
		return merge(c)
	})
	if err == nil {
		s := total.Stats()
		l.end(&s)
	}
	return err
}

// A rowCollector collects objects as an answer has them.
type rowCollector struct {
	*Counter
	sieve *Sieve
	rows  []answer.HeapObject
}

func (c *rowCollector) Objects(s *Segment, batch []Object) {
	var r rowReader
	for i := range batch {
		if o := &batch[i]; c.sieve.Pass(o) {
			c.Count(s, o)
			c.rows = append(c.rows, *r.read(o))
		}
	}
}

func (c *rowCollector) Reset() {
	c.Counter.Reset()
	c.rows = c.rows[:0]
}

// A lineCollector collects objects as finished rows of a text.
type lineCollector struct {
	*Counter
	sieve  *Sieve
	reader rowReader
	row    answer.AppendObject
	out    []byte
}

func (c *lineCollector) Objects(s *Segment, batch []Object) {
	for i := range batch {
		if o := &batch[i]; c.sieve.Pass(o) {
			c.Count(s, o)
			c.out = c.row(c.out, c.reader.read(o))
		}
	}
}

func (c *lineCollector) Reset() {
	c.Counter.Reset()
	c.out = c.out[:0]
}

// A rowReader makes rows of objects, all in one place: it is for one goroutine.
type rowReader struct {
	h     *Heap
	chars int // of what a string says
	texts textReader
	row   answer.HeapObject
	text  answer.Excerpt
}

func newRowReader(h *Heap, chars int) rowReader {
	return rowReader{h: h, chars: chars, texts: textReader{win: target.NewWindow(h.mem)}}
}

func (r *rowReader) read(o *Object) *answer.HeapObject {
	r.row = answer.HeapObject{Address: o.Addr, MethodTable: o.Type.Addr, Size: o.Size, Free: o.Free}
	if r.chars > 0 && !o.Free && o.Type.Addr == r.h.rt.WellKnown().String {
		text, whole, err := r.texts.read(o.Addr, r.chars)
		r.text = answer.Excerpt{Text: answer.Text{S: text, Err: err}, Whole: whole}
		r.row.String = &r.text
	}
	return &r.row
}

// A sliceList is an answer.ObjectSource of objects that are at hand.
type sliceList struct {
	h    *Heap
	list []Object
}

func (l *sliceList) All() iter.Seq2[answer.HeapObject, error] {
	return func(yield func(answer.HeapObject, error) bool) {
		var r rowReader
		for i := range l.list {
			if !yield(*r.read(&l.list[i]), nil) {
				return
			}
		}
	}
}

// sliceRows is how many rows a sliceList emits at once.
const sliceRows = 1024

func (l *sliceList) Format(chars int, newRow func() answer.AppendObject, emit func([]byte) error) error {
	r, row, out := newRowReader(l.h, chars), newRow(), []byte(nil)
	for i := range l.list {
		out = row(out, r.read(&l.list[i]))
		if (i+1)%sliceRows == 0 || i == len(l.list)-1 {
			if err := emit(out); err != nil {
				return err
			}
			out = out[:0]
		}
	}
	return nil
}

// typeName is the name of a type for an answer; why it is missing is noted.
func (h *Heap) typeName(g *answer.Gaps, mt *dac.MethodTable) answer.Text {
	return g.Text(h.rt.TypeName(mt.Addr, dac.NameManaged))
}
