package collections

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/workers"
	"github.com/sosgo/sosgo/objects"
)

// A lister lists the chosen elements of one collection: it is an answer.CollectionSource.
type lister struct {
	r    *Reader
	c    *Collection
	o    Options
	find string // in lower case; empty for all

	ctx context.Context
	res *answer.Collection
}

func newLister(r *Reader, c *Collection, o Options) *lister {
	return &lister{r: r, c: c, o: o, find: strings.ToLower(o.Find)}
}

// A teller makes the rows of elements. It is for one goroutine.
type teller struct {
	*lister
	stored func(objects.Value) answer.Stored
	reset  func() // takes back what the row before has, unless it stays
	row    answer.CollectionItem
}

// teller is one whose rows stay.
func (l *lister) teller() *teller {
	return &teller{lister: l, stored: l.r.b.Objects().Storer(), reset: func() {}}
}

// formattingTeller is one for who formats each row at once.
func (l *lister) formattingTeller() *teller {
	s := l.r.b.Objects().NewScratch()
	return &teller{lister: l, stored: s.Stored, reset: s.Reset}
}

// wants reports whether an element says what is looked for.
func (l *lister) wants(i *Item) bool {
	return l.find == "" || l.c.HasKeys && says(i.Key, l.find) || says(i.Value, l.find)
}

// item makes the row of an element, which stays until the next one is made.
func (t *teller) item(i *Item) *answer.CollectionItem {
	t.reset()
	t.row = answer.CollectionItem{Index: i.Index, HasKey: t.c.HasKeys && !t.o.NoKeys}
	t.row.HasValue = !t.o.NoValues || !t.c.HasKeys
	if t.row.HasKey {
		t.row.Key = t.stored(i.Key)
	}
	if t.row.HasValue {
		t.row.Item = t.stored(i.Value)
	}
	if t.o.SOS {
		t.row.SOS = &answer.SOSItem{Value: referred(i.Value)}
		if t.c.HasKeys {
			t.row.SOS.Key = referred(i.Key)
		}
	}
	return &t.row
}

// All is what answer.CollectionItems wants.
func (l *lister) All() iter.Seq2[answer.CollectionItem, error] {
	return func(yield func(answer.CollectionItem, error) bool) {
		tell, found, chosen := l.teller(), uint64(0), uint64(0)
		for i, err := range l.c.Items() {
			if err == nil {
				err = l.ctx.Err()
			}
			if err != nil {
				if !yield(answer.CollectionItem{}, err) || l.ctx.Err() != nil {
					return
				}
				continue
			}
			found++
			if !l.wants(&i) {
				continue
			}
			chosen++
			if chosen <= l.o.Offset {
				continue
			}
			if !yield(*tell.item(&i), nil) {
				return
			}
			if l.o.Limit > 0 && chosen == l.o.Offset+l.o.Limit {
				return
			}
		}
		l.res.Found = answer.Known(found)
	}
}

// listBatch is how many elements are formatted at once.
const listBatch = 512

// A batch is a part of a listing that is formatted by one worker, or an error of the walk that stands between two of
// them.
type batch struct {
	items []Item
	out   []byte
	ends  []int // of the rows of elements that were chosen, in out
	err   error
	done  chan struct{}
}

// errEnough ends a walk whose caller wants no more.
var errEnough = errors.New("enough")

// A listing is one pass of Format: the caller's goroutine walks the collection and emits the rows, workers format them.
type listing struct {
	*lister
	newRow func() answer.AppendItem
	emit   func([]byte) error

	work    chan *batch
	group   workers.Group
	pending []*batch // in the order of the list
	free    []*batch
	skip    uint64 // chosen elements that are still to be left out
	left    uint64 // chosen elements that are still wanted; 0 if the number is not limited
	inline  func(*batch)
}

// Format is what answer.CollectionItems wants. The walk is ahead of what is emitted by a few batches.
func (l *lister) Format(newRow func() answer.AppendItem, emit func([]byte) error) error {
	f := &listing{lister: l, newRow: newRow, emit: emit, skip: l.o.Offset, left: l.o.Limit}
	err := f.walk()
	f.stop()
	switch {
	case err == errEnough:
		return nil
	case err != nil:
		return err
	}
	return l.ctx.Err()
}

// walk walks the collection.
func (f *listing) walk() error {
	b, found := f.batch(), uint64(0)
	for i, err := range f.c.Items() {
		if err != nil {
			if err := f.send(b, false); err != nil {
				return err
			}
			b = f.batch()
			b.err = err
			f.pending, b = append(f.pending, b), f.batch()
			continue
		}
		if found++; f.find == "" && f.skip > 0 {
			f.skip--
			continue
		}
		b.items = append(b.items, i)
		full := f.find == "" && f.left > 0 && uint64(len(b.items)) == f.left
		if len(b.items) < listBatch && !full {
			continue
		}
		if err := f.send(b, !full); err != nil {
			return err
		}
		b = f.batch()
	}
	if err := f.send(b, f.work != nil); err != nil {
		return err
	}
	if err := f.flush(0); err != nil {
		return err
	}
	f.res.Found = answer.Known(found)
	return nil
}

// send hands a batch on: to a worker if there may be more of them, and emits those that had to be waited for.
func (f *listing) send(b *batch, more bool) error {
	if err := f.ctx.Err(); err != nil {
		return err
	}
	jobs := f.o.Jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	f.pending = append(f.pending, b)
	if f.work == nil && (!more || jobs == 1) {
		f.format()(b)
		close(b.done)
		return f.flush(0)
	}
	if f.work == nil {
		f.start(jobs)
	}
	f.work <- b
	return f.flush(3 * jobs)
}

// format is the formatter of the caller's goroutine.
func (f *listing) format() func(*batch) {
	if f.inline == nil {
		f.inline = f.formatter()
	}
	return f.inline
}

// start starts workers. They can't block: there is room for all batches that wait.
func (f *listing) start(jobs int) {
	f.work = make(chan *batch, 4*jobs)
	for range jobs {
		f.group.Go(func() {
			defer f.abandon() // behind a panic somebody has to let those go who wait
			format := f.formatter()
			for b := range f.work {
				f.one(b, format)
			}
		})
	}
}

func (f *listing) one(b *batch, format func(*batch)) {
	defer close(b.done)
	format(b)
}

// abandon takes what is left of the work and does nothing with it.
func (f *listing) abandon() {
	for b := range f.work {
		close(b.done)
	}
}

// stop waits for the workers, whose panics come out here.
func (f *listing) stop() {
	if f.work != nil {
		close(f.work)
		f.group.Wait()
	}
}

// formatter makes the rows of batches, for one goroutine.
func (f *listing) formatter() func(*batch) {
	tell, row := f.formattingTeller(), f.newRow()
	return func(b *batch) {
		for n := range b.items {
			if n%64 == 0 && f.ctx.Err() != nil {
				return
			}
			if i := &b.items[n]; f.wants(i) {
				b.out = row(b.out, tell.item(i))
				b.ends = append(b.ends, len(b.out))
			}
		}
	}
}

// flush emits finished batches until no more than so many wait.
func (f *listing) flush(waiting int) error {
	for len(f.pending) > waiting {
		b := f.pending[0]
		f.pending = f.pending[1:]
		if b.err != nil {
			f.res.Note(b.err)
			continue
		}
		<-b.done
		if err := f.ctx.Err(); err != nil {
			return err
		}
		if err := f.rows(b); err != nil {
			return err
		}
		f.free = append(f.free, b)
	}
	return nil
}

// rows emits the rows of a batch that are wanted.
func (f *listing) rows(b *batch) error {
	ends, from := b.ends, 0
	if f.find != "" {
		n := min(f.skip, uint64(len(ends)))
		if f.skip -= n; n > 0 {
			from, ends = ends[n-1], ends[n:]
		}
	}
	enough := f.left > 0 && uint64(len(ends)) >= f.left
	if enough {
		ends = ends[:f.left]
	}
	if f.left > 0 {
		f.left -= uint64(len(ends))
	}
	if len(ends) > 0 {
		if err := f.emit(b.out[from:ends[len(ends)-1]]); err != nil {
			return err
		}
	}
	if enough {
		return errEnough
	}
	return nil
}

// batch is an empty batch.
func (f *listing) batch() *batch {
	if n := len(f.free); n > 0 {
		b := f.free[n-1]
		f.free = f.free[:n-1]
		*b = batch{items: b.items[:0], out: b.out[:0], ends: b.ends[:0], done: make(chan struct{})}
		return b
	}
	return &batch{done: make(chan struct{})}
}
