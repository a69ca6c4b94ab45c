// Package tables writes a process as tables for databases: Parquet, CSV or lines of JSON (NDJSON), one file per
// table. It defines tables and columns once for all formats, and does not compute answers. Start at Write.
//
// Rows are in a fixed order, and the bytes of a file are the same for any number of workers. An unknown or
// missing value is null: an empty cell of CSV, where empty text is "". Addresses are numbers in Parquet, and
// text such as 0x7f10 in the other formats.
package tables

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/export/internal/parquetfile"
	"github.com/sosgo/sosgo/internal/export/pieces"
	"github.com/sosgo/sosgo/query"
)

// A Kind is the kind of a column's values.
type Kind uint8

// The kinds.
const (
	Uint    Kind = iota // 64 bits without sign
	Int                 // 64 bits with sign
	Text                // UTF-8; in CSV and Parquet, lone surrogates are escapes such as \ud800
	Bool                // true or false
	Float               // 64 bits
	Address             // 64 bits without sign; hexadecimal text in CSV and NDJSON
)

// A Column is a column of a table.
type Column struct {
	Name    string
	Kind    Kind
	Null    bool // values may be null
	Summary string

	rising bool // values mostly grow from row to row
	few    bool // few distinct values
}

// A Table has rows, which are appended one by one, or pieces, which several workers make from the heap.
type Table struct {
	Name    string // name of the file, without extension
	Summary string
	Columns []Column

	rows   func(ctx context.Context, w *writer) error
	pieces func(ctx context.Context) (func(*pieces.Piece, *Batch), error)
	heap   *pieces.Heap // of pieces
	names  [][]byte     // of the columns, as in JSON; for NDJSON
	dump   string       // value of the last column of each row, dump_id; "" without one
}

// A Form is a format of tables.
type Form string

// The formats.
const (
	Parquet Form = "parquet"
	CSV     Form = "csv"
	NDJSON  Form = "ndjson"
)

// An Input is what tables are made of: answers about one process.
type Input struct {
	Summary *answer.Summary
	Heap    *pieces.Heap // nil if the heap is unreadable; its tables are then omitted
	// Sources are the sources of rows of internal/app/rows. The tables with the same names contain them.
	Sources []query.Source
	Tool    string // version of the writing program, for the table dump
	// TimeFrom is the origin of Summary.Time: dump, file or option.
	TimeFrom string
	Labels   map[string]string // a fleet's labels, for the table dump
	// Crash describes how the process died, for the table crash; nil if unknown.
	Crash *answer.Crash
}

// Options select the tables.
type Options struct {
	Form Form
	// Brief selects the tables for comparing a fleet of dumps, of a few megabytes: no objects, no strings.
	Brief bool
	// RawCSV writes the texts of CSV unchanged. Otherwise an apostrophe precedes text that a spreadsheet would
	// run as a formula, and text that starts with an apostrophe.
	RawCSV bool
	// Mask, if not nil, replaces secrets in texts.
	Mask func(string) string
}

// A Written describes a written table.
type Written struct {
	Name string // of the file
	Rows uint64
}

// Write writes all tables. create makes a file with a name, and calls write for its content. Write omits a
// table if all of it is unreadable, and notes the reason in g: an empty table means that there are no rows.
func Write(ctx context.Context, p *Input, o Options, g *answer.Gaps, create func(name string, write func(io.Writer) error) error) ([]Written, error) {
	var out []Written
	for _, t := range p.tables(o.Brief) {
		file := t.Name + "." + string(o.Form)
		w := &writer{ctx: ctx, t: t, gaps: g, mask: o.Mask}
		err := create(file, func(dst io.Writer) error {
			var err error
			if w.enc, err = newEncoder(o, t, dst); err != nil {
				return err
			}
			return w.write()
		})
		switch {
		case errors.Is(err, errNothing):
			continue
		case err != nil:
			return out, fmt.Errorf("%s: %w", file, err)
		}
		out = append(out, Written{file, w.count})
	}
	return out, nil
}

// errNothing is the error for a table with only unreadable rows.
var errNothing = errors.New("nothing can be read")

func (p *Input) tables(brief bool) []*Table {
	list := []*Table{p.dumpTable(), p.suspectTable()}
	if p.Heap != nil {
		list = append(list, p.typeTable())
		if !brief {
			list = append(list, p.objectTable(), p.stringTable())
		}
	}
	if brief {
		list = append(list, p.stackTable())
		if p.Crash != nil && !p.Crash.Alive {
			list = append(list, p.crashTable())
		}
		if p.hasSites() {
			list = append(list, p.siteTable())
		}
		for _, t := range list {
			t.dump = p.Summary.ID
			t.Columns = append(t.Columns, Column{Name: "dump_id", Kind: Text, Summary: "dump.id"})
		}
		return list
	}
	for _, name := range sourceTables {
		if s := p.source(name); s != nil {
			list = append(list, sourceTable(s))
		}
	}
	return list
}

// batchRows is the number of rows to encode at once.
const batchRows = 1 << 17

type writer struct {
	ctx   context.Context
	t     *Table
	enc   encoder
	gaps  *answer.Gaps
	batch *Batch
	spare part
	lost  bool // some rows are unreadable
	count uint64
	mask  func(string) string // of Options
}

func (w *writer) write() error {
	if w.t.pieces != nil {
		if err := w.writePieces(); err != nil {
			return err
		}
		return w.enc.close()
	}
	w.batch = w.newBatch()
	if err := w.t.rows(w.ctx, w); err != nil {
		return err
	}
	if w.count == 0 && w.batch.n == 0 && w.lost {
		return errNothing
	}
	if err := w.flush(); err != nil {
		return err
	}
	return w.enc.close()
}

func (w *writer) writePieces() error {
	fill, err := w.t.pieces(w.ctx)
	if err != nil {
		return err
	}
	return pieces.InOrder(w.ctx, w.t.heap, w.newBatch, func(b *Batch, p *pieces.Piece, reuse part) (part, error) {
		b.reset()
		fill(p, b)
		return w.enc.encode(b, reuse)
	}, func(p part) error {
		w.count += p.rows
		return w.enc.take(p)
	})
}

// next ends a row of the batch.
func (w *writer) next() error {
	if w.t.dump != "" {
		c := &w.batch.cols[len(w.batch.cols)-1]
		c.Text = append(c.Text, w.t.dump...)
		c.Numbers = append(c.Numbers, uint64(len(c.Text)))
	}
	if w.batch.n++; w.batch.n < batchRows {
		return nil
	}
	return w.flush()
}

func (w *writer) flush() (err error) {
	if w.batch.n == 0 {
		return w.ctx.Err()
	}
	if w.spare, err = w.enc.encode(w.batch, w.spare); err != nil {
		return err
	}
	w.count += w.spare.rows
	w.batch.reset()
	return w.enc.take(w.spare)
}

// noteMissing records unreadable rows.
func (w *writer) noteMissing(err error) {
	w.lost = true
	w.gaps.Note(fmt.Errorf("%s: %w", w.t.Name, err))
}

// A Batch holds rows of a table, column by column.
type Batch struct {
	t    *Table
	n    int
	cols []parquetfile.Values
	mask func(string) string // nil for unmasked texts
	few  map[string]string   // masked texts of columns with few distinct ones
}

func (w *writer) newBatch() *Batch {
	return &Batch{t: w.t, cols: make([]parquetfile.Values, len(w.t.Columns)), mask: w.mask}
}

func (b *Batch) reset() {
	b.n = 0
	for i := range b.cols {
		c := &b.cols[i]
		c.Numbers, c.Text, c.Null = c.Numbers[:0], c.Text[:0], c.Null[:0]
	}
}

// num appends a value of any kind but Text to column i.
func (b *Batch) num(i int, v uint64) {
	c := &b.cols[i]
	c.Numbers = append(c.Numbers, v)
	if b.t.Columns[i].Null {
		c.Null = append(c.Null, false)
	}
}

func (b *Batch) bool(i int, v bool) {
	n := uint64(0)
	if v {
		n = 1
	}
	b.num(i, n)
}

func (b *Batch) text(i int, s string) {
	if b.mask != nil {
		s = b.masked(i, s)
	}
	c := &b.cols[i]
	c.Text = append(c.Text, s...)
	b.num(i, uint64(len(c.Text)))
}

// mostFew is the largest number of cached masked texts of columns with few distinct ones.
const mostFew = 1 << 16

// masked returns a text of column i without secrets.
func (b *Batch) masked(i int, s string) string {
	if !b.t.Columns[i].few {
		return b.mask(s)
	}
	out, known := b.few[s]
	if !known {
		if out = b.mask(s); b.few == nil || len(b.few) == mostFew {
			b.few = map[string]string{}
		}
		b.few[s] = out
	}
	return out
}

// null appends null to column i.
func (b *Batch) null(i int) {
	c := &b.cols[i]
	n := uint64(0)
	if b.t.Columns[i].Kind == Text {
		n = uint64(len(c.Text))
	}
	c.Numbers, c.Null = append(c.Numbers, n), append(c.Null, true)
}

// bytes appends text to column i.
func (b *Batch) bytes(i int, s []byte) {
	if b.mask != nil {
		b.text(i, string(s))
		return
	}
	c := &b.cols[i]
	c.Text = append(c.Text, s...)
	b.num(i, uint64(len(c.Text)))
}

// isNull reports whether row r of a column is null.
func isNull(c *parquetfile.Values, r int) bool { return len(c.Null) > 0 && c.Null[r] }
