package heap

import (
	"context"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/target"
)

// A stringContents is an answer.StringSource that counts strings by content.
type stringContents struct {
	h    *Heap
	ctx  context.Context
	gaps *answer.Gaps // records what is missing
	f    *Filter
	o    ScanOptions

	// sorted, gap and stats come from an earlier complete scan of the same strings, if any; else All and Format scan.
	sorted *sortedStrings
	gap    error
	stats  Stats
}

// count returns the counted contents in order, and the errors of missing ones.
func (c *stringContents) count() (sorted *sortedStrings, lost []error, err error) {
	if c.sorted == nil {
		c.sorted, c.gap, c.stats, err = c.h.countStrings(c.ctx, c.f, c.o)
	}
	if err == nil {
		err = c.stats.unread()
	}
	if err != nil {
		return nil, nil, err
	}
	lost = c.stats.lost()
	if c.gap != nil {
		lost = append(lost, c.gap)
	}
	sorted, c.sorted = c.sorted, nil
	return sorted, lost, nil
}

func (c *stringContents) Each(yield func(answer.StringCount, error) bool) error {
	sorted, lost, err := c.count()
	if err != nil {
		return err
	}
	read := func() func(int, *[]answer.StringCount) {
		r := newContentReader(c.ctx, c.h, sorted)
		return func(i int, list *[]answer.StringCount) {
			*list = (*list)[:0]
			r.read(i, func(s *answer.StringCount) { *list = append(*list, *s) })
		}
	}
	err = inOrder(c.ctx, sorted.ranges(), c.o.jobs(), read, func(list *[]answer.StringCount) error {
		for _, s := range *list {
			c.gaps.Note(s.Text.Err)
			if !yield(s, nil) {
				return errEnough
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, err := range append(slices.Clone(c.h.Warnings()), lost...) {
		if !yield(answer.StringCount{}, err) {
			break
		}
	}
	return nil
}

func (c *stringContents) Format(newRow func() answer.AppendStringCount, emit func(rows []byte) error) error {
	sorted, lost, err := c.count()
	if err != nil {
		return err
	}
	c.gaps.NoteAll(lost)
	type rows struct {
		out     []byte
		missing []error
	}
	read := func() func(int, *rows) {
		r, row := newContentReader(c.ctx, c.h, sorted), newRow()
		return func(i int, b *rows) {
			b.out, b.missing = b.out[:0], b.missing[:0]
			r.read(i, func(s *answer.StringCount) {
				if s.Text.Err != nil {
					b.missing = append(b.missing, s.Text.Err)
				}
				b.out = row(b.out, s)
			})
		}
	}
	return inOrder(c.ctx, sorted.ranges(), c.o.jobs(), read, func(b *rows) error {
		c.gaps.NoteAll(b.missing)
		if len(b.out) == 0 {
			return nil
		}
		return emit(b.out)
	})
}

// A contentReader reads the text of counted strings. It is for one goroutine.
type contentReader struct {
	sorted      *sortedStrings
	text        textReader
	rows, spare []stringRow
	buf         []byte
	row         answer.StringCount
	mask        func(string) string // nil without masking
}

func newContentReader(ctx context.Context, h *Heap, sorted *sortedStrings) *contentReader {
	return &contentReader{mask: secrets.MaskOf(ctx), sorted: sorted, text: textReader{target.NewWindow(h.mem)}}
}

// textBatch is how many strings are read together.
const textBatch = 256

// read calls visit with the rows of a range in order. A row is valid during the call; its text stays valid.
func (c *contentReader) read(i int, visit func(*answer.StringCount)) {
	c.rows, c.spare = c.sorted.rows(i, c.rows, c.spare)
	for rows := c.rows; len(rows) > 0; {
		n := min(len(rows), textBatch)
		c.readBatch(rows[:n], visit)
		rows = rows[n:]
	}
}

func (c *contentReader) readBatch(rows []stringRow, visit func(*answer.StringCount)) {
	// The strings are scattered. Loading all lengths first lets the processor fetch several at once.
	var length [textBatch]uint32
	var ends [textBatch]int
	var errs [textBatch]error
	for i := range rows {
		length[i], errs[i] = c.text.length(rows[i].first)
	}
	c.buf = c.buf[:0]
	for i := range rows {
		if errs[i] == nil {
			from, whole := len(c.buf), false
			if c.buf, whole, errs[i] = c.text.append(c.buf, rows[i].first, length[i], comparedChars); !whole && c.mask != nil {
				c.buf = append(c.buf[:from], secrets.CutEnd(string(c.buf[from:]), c.mask)...)
			}
		}
		ends[i] = len(c.buf)
	}
	texts, from := string(c.buf), 0
	for i := range rows {
		r := &rows[i]
		c.row = answer.StringCount{Count: r.count, Size: r.total, Address: r.first, Text: answer.Text{S: texts[from:ends[i]], Err: errs[i]}}
		visit(&c.row)
		from = ends[i]
	}
}

// inOrder runs n pieces of work on several goroutines, each with its own function from newWork. The caller's
// goroutine calls emit with the results in order. A result is valid during the call and overwritten by later
// pieces. inOrder returns emit's or ctx's error.
func inOrder[T any](ctx context.Context, n, jobs int, newWork func() func(i int, into *T), emit func(*T) error) error {
	type piece struct {
		i    int
		into T
		done chan struct{} // has capacity 1
	}
	inner, cancel := context.WithCancel(ctx)
	var group workers.Group
	defer group.Wait()
	defer cancel()
	pieces := 2 * jobs
	free, queue, order := make(chan *piece, pieces), make(chan *piece, pieces), make(chan *piece, pieces)
	for range pieces {
		free <- &piece{done: make(chan struct{}, 1)}
	}
	group.Go(func() {
		defer close(queue)
		defer close(order)
		for i := range n {
			select {
			case p := <-free:
				p.i = i
				order <- p
				queue <- p
			case <-inner.Done():
				return
			}
		}
	})
	for range jobs {
		group.Go(func() {
			failed := true
			defer func() {
				if failed { // no goroutine must wait for this piece
					cancel()
				}
			}()
			work := newWork()
			for p := range queue {
				work(p.i, &p.into)
				p.done <- struct{}{}
			}
			failed = false
		})
	}
	for p := range order {
		select {
		case <-p.done:
		case <-inner.Done():
			return ctx.Err()
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := emit(&p.into); err != nil {
			return err
		}
		free <- p
	}
	return ctx.Err()
}
