package heap

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// A scanList is an answer.ObjectSource that scans the heap.
type scanList struct {
	h    *Heap
	ctx  context.Context
	gaps *answer.Gaps
	f    *Filter
	o    ScanOptions
	end  func(*Stats) error // called with the counts after a complete scan
	// contents, if not nil, receives the strings hashed by this scan. That saves a scan.
	contents *stringContents
}

// errEnough stops a scan for a caller that stopped early.
var errEnough = errors.New("enough")

func (l *scanList) Each(yield func(answer.HeapObject, error) bool) error {
	s, err := scanRows(l, func() *rowCollector {
		return &rowCollector{listCollector: l.collector()}
	}, func(c *rowCollector) error {
		for i := range c.rows {
			if !yield(c.rows[i], nil) {
				return errEnough
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	lost, unread := slices.Clone(l.h.Warnings()), s.unread()
	if unread == nil {
		lost = append(lost, s.lost()...)
	}
	for _, err := range lost {
		if !yield(answer.HeapObject{}, err) {
			return nil
		}
	}
	if unread != nil {
		return unread
	}
	return l.end(&s)
}

func (l *scanList) Format(chars int, newRow func() answer.AppendObject, emit func([]byte) error) error {
	s, err := scanRows(l, func() *lineCollector {
		return &lineCollector{listCollector: l.collector(), reader: newRowReader(l.h, chars), row: newRow()}
	}, func(c *lineCollector) error {
		if len(c.out) == 0 {
			return nil
		}
		return emit(c.out)
	})
	if err = cmp.Or(err, s.unread()); err != nil {
		return err
	}
	if l.contents == nil { // otherwise they are noted with the contents
		l.gaps.NoteAll(s.lost())
	}
	return l.end(&s)
}

// A listCollector is the common part of the row collectors.
type listCollector struct {
	*Counter
	sieve  *Sieve
	hasher *stringHasher // nil if not needed
}

func (l *scanList) collector() listCollector {
	c := listCollector{Counter: NewCounter(l.h, l.f), sieve: NewSieve(l.f)}
	if l.contents != nil {
		h := newStringHasher(l.h)
		c.hasher = &h
	}
	return c
}

// take reports whether o is selected, and counts it if so.
func (c *listCollector) take(s *Segment, o *Object) bool {
	if !c.sieve.Pass(o) {
		return false
	}
	c.countOne(s, o)
	if c.hasher != nil {
		c.hasher.hash(o)
	}
	return true
}

func (c *listCollector) Reset() {
	c.Counter.Reset()
	if c.hasher != nil {
		c.hasher.reset()
	}
}

func (c *listCollector) common() *listCollector { return c }

// scanRows scans the objects of l and counts them.
func scanRows[C interface {
	Collector
	common() *listCollector
}](l *scanList, create func() C, merge func(C) error) (Stats, error) {
	total := NewCounter(l.h, l.f)
	ctx, cancel := context.WithCancel(l.ctx)
	defer cancel()
	var keepers *stringKeepers
	if l.contents != nil {
		keepers = keepStrings(ctx, l.o.jobs(), cancel)
	}
	err := Scan(ctx, l.h, l.f, l.o, create, func(c C) error {
		total.Add(c.common().Counter)
		if keepers != nil {
			keepers.add(ctx, c.common().hasher)
		}
		return merge(c)
	})
	s := total.Stats()
	if keepers != nil {
		if sorted, gap := keepers.end().sorted(err, l.o.jobs()); err == nil {
			l.contents.sorted, l.contents.gap, l.contents.stats = sorted, gap, s
		}
	}
	return s, err
}

// A rowCollector collects objects as rows of an answer.
type rowCollector struct {
	listCollector
	rows []answer.HeapObject
}

func (c *rowCollector) Objects(s *Segment, batch []Object) {
	var r rowReader
	for i := range batch {
		if o := &batch[i]; c.take(s, o) {
			c.rows = append(c.rows, *r.read(o))
		}
	}
}

func (c *rowCollector) Reset() {
	c.listCollector.Reset()
	c.rows = c.rows[:0]
}

// A lineCollector collects objects as formatted lines.
type lineCollector struct {
	listCollector
	reader rowReader
	row    answer.AppendObject
	taken  []Object
	out    []byte
}

func (c *lineCollector) Objects(s *Segment, batch []Object) {
	if c.reader.chars == 0 {
		for i := range batch {
			if o := &batch[i]; c.take(s, o) {
				c.out = c.row(c.out, c.reader.read(o))
			}
		}
		return
	}
	c.taken = c.taken[:0]
	for i := range batch {
		if o := &batch[i]; c.take(s, o) {
			c.taken = append(c.taken, *o)
		}
	}
	c.reader.readAll(c.taken, func(row *answer.HeapObject) { c.out = c.row(c.out, row) })
}

func (c *lineCollector) Reset() {
	c.listCollector.Reset()
	c.out = c.out[:0]
}

// A rowReader makes rows of objects in one buffer. It is for one goroutine.
type rowReader struct {
	h     *Heap
	chars int // maximum characters of a string's text
	texts textReader
	buf   []byte
	said  []textPart
	row   answer.HeapObject
	text  answer.Excerpt
}

// A textPart is the text of a string: the part of a buffer between the previous text's end and end.
type textPart struct {
	end    int
	string bool // the object is a string
	whole  bool
	err    error
}

func newRowReader(h *Heap, chars int) rowReader {
	return rowReader{h: h, chars: chars, texts: textReader{win: target.NewWindow(h.mem)}}
}

// read makes the row of o without the text of a string.
func (r *rowReader) read(o *Object) *answer.HeapObject {
	r.row = answer.HeapObject{Address: o.Addr, MethodTable: o.Type.Addr, Size: o.Size, Free: o.Free}
	return &r.row
}

// readAll calls visit with the rows of objects. A row is valid during the call. The texts share one Go string.
func (r *rowReader) readAll(objects []Object, visit func(*answer.HeapObject)) {
	r.buf, r.said = r.buf[:0], r.said[:0]
	for i := range objects {
		var s textPart
		if o := &objects[i]; r.chars > 0 && !o.Free && o.Type.Addr == r.h.Runtime().WellKnown().String {
			s.string = true
			r.buf, s.whole, s.err = r.texts.append(r.buf, o.Addr, o.Length, r.chars)
		}
		s.end = len(r.buf)
		r.said = append(r.said, s)
	}
	texts, from := string(r.buf), 0
	for i := range objects {
		r.read(&objects[i])
		if s := &r.said[i]; s.string {
			r.text = answer.Excerpt{Text: answer.Text{S: texts[from:s.end], Err: s.err}, Whole: s.whole}
			r.row.String = &r.text
		}
		from = r.said[i].end
		visit(&r.row)
	}
}

// A sliceList is an answer.ObjectSource over objects in memory.
type sliceList struct {
	h    *Heap
	list []Object
	lost []error // why others are missing; the answer notes it too
}

func (l *sliceList) Each(yield func(answer.HeapObject, error) bool) error {
	var r rowReader
	for i := range l.list {
		if !yield(*r.read(&l.list[i]), nil) {
			return nil
		}
	}
	for _, err := range l.lost {
		if !yield(answer.HeapObject{}, err) {
			break
		}
	}
	return nil
}

// sliceRows is the number of rows that a sliceList emits at once.
const sliceRows = 1024

func (l *sliceList) Format(chars int, newRow func() answer.AppendObject, emit func([]byte) error) error {
	r, row, out := newRowReader(l.h, chars), newRow(), []byte(nil)
	for list := range slices.Chunk(l.list, sliceRows) {
		out = out[:0]
		r.readAll(list, func(o *answer.HeapObject) { out = row(out, o) })
		if err := emit(out); err != nil {
			return err
		}
	}
	return nil
}

// typeName returns the name of a type for an answer, and notes why it is missing.
func (h *Heap) typeName(g *answer.Gaps, mt *dac.MethodTable) answer.Text {
	return g.Text(h.Runtime().TypeName(mt.Addr, dac.NameManaged))
}

// ListOf lists the objects at addresses, in that order, without walking the heap, for an answer with the gaps g. It
// omits addresses without an object. The list fails with the error of addresses.
func (h *Heap) ListOf(ctx context.Context, g *answer.Gaps, addresses func(yield func(target.Addr) bool) error) *answer.Objects {
	return answer.NewObjects(g, &addressList{h: h, ctx: ctx, addresses: addresses})
}

// An addressList is an answer.ObjectSource over objects with known addresses.
type addressList struct {
	h         *Heap
	ctx       context.Context
	addresses func(yield func(target.Addr) bool) error
}

func (l *addressList) Each(yield func(answer.HeapObject, error) bool) error {
	var r rowReader
	err := l.addresses(func(a target.Addr) bool {
		o, err := l.h.ObjectAt(a)
		return l.ctx.Err() == nil && (err != nil || yield(*r.read(&o), nil))
	})
	return cmp.Or(err, l.ctx.Err())
}

func (l *addressList) Format(chars int, newRow func() answer.AppendObject, emit func([]byte) error) error {
	r, row, out := newRowReader(l.h, chars), newRow(), []byte(nil)
	batch := make([]Object, 0, sliceRows)
	send := func() error {
		out = out[:0]
		r.readAll(batch, func(o *answer.HeapObject) { out = row(out, o) })
		batch = batch[:0]
		if len(out) == 0 {
			return l.ctx.Err()
		}
		return cmp.Or(l.ctx.Err(), emit(out))
	}
	var failed error
	err := l.addresses(func(a target.Addr) bool {
		o, err := l.h.ObjectAt(a)
		if err != nil {
			return true
		}
		if batch = append(batch, o); len(batch) == cap(batch) {
			failed = send()
		}
		return failed == nil
	})
	if failed = cmp.Or(failed, err); failed != nil {
		return failed
	}
	return send()
}
