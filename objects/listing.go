package objects

import (
	"context"
	"iter"
	"runtime"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/base/workers"
)

// A lister lists the selected elements of one collection. It implements answer.CollectionSource.
type lister struct {
	r    *Collections
	c    *Collection
	o    CollectionOptions
	find string // in lower case; empty selects all

	ctx context.Context
	res *answer.Collection
}

func newLister(r *Collections, c *Collection, o CollectionOptions) *lister {
	return &lister{r: r, c: c, o: o, find: strings.ToLower(o.Find)}
}

// A rower makes the rows of elements. It is not safe for concurrent use.
type rower struct {
	*lister
	stored func(Value) answer.Stored
	reset  func() // releases the previous row, unless rows are kept
	row    answer.CollectionItem
}

// rower returns a rower of rows that stay valid.
func (l *lister) rower() *rower {
	d := &describer{r: l.r.b.Objects(), note: func(error) {}, mask: secrets.MaskOf(l.ctx)}
	return &rower{lister: l, stored: d.stored, reset: func() {}}
}

// formattingRower returns a rower of rows that are valid until the next row.
func (l *lister) formattingRower() *rower {
	s := l.r.b.Objects().NewScratch()
	s.d.mask = secrets.MaskOf(l.ctx)
	return &rower{lister: l, stored: s.Stored, reset: s.Reset}
}

// wants reports whether an element matches the search text. What is a secret is not searched.
func (l *lister) wants(i *CollectionItem, secret bool) bool {
	return l.find == "" || l.c.HasKeys && contains(l.ctx, i.Key, l.find) || !secret && contains(l.ctx, i.Value, l.find)
}

// items lists the elements after skipped ones, all of them before the offset.
func (l *lister) items() (skipped uint64, rest iter.Seq2[CollectionItem, error]) {
	if l.find != "" {
		return 0, l.c.Items()
	}
	offset := l.o.Offset
	if l.announced() && offset > 0 {
		offset-- // it may announce the first one
	}
	return l.c.after(offset, func() bool { return l.ctx.Err() != nil })
}

// announced reports whether an element may be a secret by the one before it, as in a command line.
func (l *lister) announced() bool { return !l.c.HasKeys && secrets.MaskOf(l.ctx) != nil }

// secret returns a function that reports whether an element is a secret by its key, or by the element before. It receives all elements in order.
func (l *lister) secret() func(i *CollectionItem) bool {
	if secrets.MaskOf(l.ctx) == nil {
		return func(*CollectionItem) bool { return false }
	}
	announced := l.c.Announced()
	return func(i *CollectionItem) bool { return announced(i) && i.Value.mayBeSecret(0) }
}

// Announced returns a function that reports whether the key of an element, or the element before it, as an option of a command line, announces that
// the element, and what is read through it, is a secret. It receives all elements in order. A stack may hold a command line in either order: the option
// may be the element behind, too.
func (c *Collection) Announced() func(i *CollectionItem) bool {
	if c.HasKeys {
		return (*CollectionItem).isSecret
	}
	var before Value
	turned := c.turned()
	return func(i *CollectionItem) bool {
		is := announces(before, i.Value) || turned[i.Index]
		before = i.Value
		return is
	}
}

// turned returns the indexes of the elements of a stack that the elements behind them announce.
func (c *Collection) turned() map[uint64]bool {
	if !c.content.stack {
		return nil
	}
	out := map[uint64]bool{}
	var last CollectionItem
	n := 0
	for i, err := range c.Items() {
		if n++; n > limits.SecretItems {
			break
		}
		if err == nil {
			if n > 1 && announces(i.Value, last.Value) {
				out[last.Index] = true
			}
			last = i
		}
	}
	return out
}

// item returns the row of an element, which may be a secret.
func (t *rower) item(i *CollectionItem, secret bool) *answer.CollectionItem {
	t.reset()
	t.row = answer.CollectionItem{Index: i.Index, HasKey: t.c.HasKeys && !t.o.NoKeys}
	t.row.HasValue = !t.o.NoValues || !t.c.HasKeys
	if t.row.HasKey {
		t.row.Key = t.stored(i.Key)
	}
	switch {
	case t.row.HasValue && secret:
		if t.row.Item = hidden(&i.Value); len(t.row.Item.Text) == 0 || !t.row.Item.Text[0].Quoted {
			t.row.Item = answer.Stored{Missing: answer.Reason{Err: answer.ErrHidden}}
		}
	case t.row.HasValue:
		t.row.Item = t.stored(i.Value)
	}
	if t.o.Referred {
		t.row.Referred = &answer.ReferredItem{Value: referred(i.Value)}
		if v := &t.row.Referred.Value; secret {
			v.Boxed = answer.Value{}
			if v.IsString {
				v.String = secrets.Mask
			}
		}
		if t.c.HasKeys {
			t.row.Referred.Key = referred(i.Key)
		}
	}
	return &t.row
}

// isSecret reports whether the key is a text that makes the value, and what is read through it, a secret.
func (i *CollectionItem) isSecret() bool {
	key := i.Key.secretName()
	return key != "" && (secrets.HoldsKey(key) || i.Value.IsSecretAt(key))
}

// Each implements answer.CollectionSource.
func (l *lister) Each(yield func(answer.CollectionItem, error) bool) error {
	rows := l.rower()
	found, items := l.items()
	chosen := found
	secret := l.secret()
	for i, err := range items {
		if l.ctx.Err() != nil {
			break
		}
		if err != nil {
			if !yield(answer.CollectionItem{}, err) {
				return nil
			}
			continue
		}
		found++
		hide := secret(&i)
		if !l.wants(&i, hide) {
			continue
		}
		chosen++
		if chosen <= l.o.Offset {
			continue
		}
		if !yield(*rows.item(&i, hide), nil) || l.o.Limit > 0 && chosen == l.o.Offset+l.o.Limit {
			return nil
		}
	}
	if err := l.ctx.Err(); err != nil {
		return err
	}
	l.res.Found = answer.Known(found)
	return nil
}

// listBatch is the number of elements that a batch formats.
const listBatch = 512

// A batch is a part of a listing that one worker formats, or an error of the walk between two batches.
type batch struct {
	items []CollectionItem
	hide  []bool // the items that are secrets
	out   []byte
	ends  []int // ends of the selected elements' rows in out
	err   error
	done  chan struct{}
}

// A listing is one pass of Format. The caller's goroutine walks the collection and emits the rows; workers format them.
type listing struct {
	*lister
	newRow func() answer.AppendItem
	emit   func([]byte) error

	work    chan *batch
	group   workers.Group
	pending []*batch // in list order
	free    []*batch
	skip    uint64 // selected elements that remain to be skipped
	left    uint64 // selected elements that remain to be emitted; 0 means no limit
	inline  func(*batch)
}

// Format implements answer.CollectionSource. The walk runs a few batches ahead of the emitted rows.
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

func (f *listing) walk() error {
	b := f.batch()
	found, items := f.items()
	f.skip -= found
	secret := f.secret()
	for i, err := range items {
		if err != nil {
			if err := f.send(b, false); err != nil {
				return err
			}
			b = f.batch()
			b.err = err
			f.pending, b = append(f.pending, b), f.batch()
			continue
		}
		hide := secret(&i)
		if found++; f.find == "" && f.skip > 0 {
			f.skip--
			continue
		}
		b.items, b.hide = append(b.items, i), append(b.hide, hide)
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

// send queues a batch and emits finished ones if too many wait. A worker formats the batch if more may follow.
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

// format returns the formatter of the caller's goroutine.
func (f *listing) format() func(*batch) {
	if f.inline == nil {
		f.inline = f.formatter()
	}
	return f.inline
}

// start starts workers. They can't block, because the channel has room for all waiting batches.
func (f *listing) start(jobs int) {
	f.work = make(chan *batch, 4*jobs)
	for range jobs {
		f.group.Go(func() {
			defer f.abandon() // after a panic, release the goroutines that wait
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

// abandon discards the remaining work.
func (f *listing) abandon() {
	for b := range f.work {
		close(b.done)
	}
}

// stop waits for the workers and repeats their panics.
func (f *listing) stop() {
	if f.work != nil {
		close(f.work)
		f.group.Wait()
	}
}

// formatter returns a function that makes the rows of batches. The function is not safe for concurrent use.
func (f *listing) formatter() func(*batch) {
	rows, row := f.formattingRower(), f.newRow()
	return func(b *batch) {
		for n := range b.items {
			if n%64 == 0 && f.ctx.Err() != nil {
				return
			}
			if i := &b.items[n]; f.wants(i, b.hide[n]) {
				b.out = row(b.out, rows.item(i, b.hide[n]))
				b.ends = append(b.ends, len(b.out))
			}
		}
	}
}

// flush emits finished batches until at most waiting batches remain.
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

// rows emits the selected rows of a batch.
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

// batch returns an empty batch.
func (f *listing) batch() *batch {
	if n := len(f.free); n > 0 {
		b := f.free[n-1]
		f.free = f.free[:n-1]
		*b = batch{items: b.items[:0], hide: b.hide[:0], out: b.out[:0], ends: b.ends[:0], done: make(chan struct{})}
		return b
	}
	return &batch{done: make(chan struct{})}
}
