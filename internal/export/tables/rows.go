package tables

import (
	"context"
	"math"

	"github.com/sosgo/sosgo/internal/export/pieces"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/target"
)

// Tables with structs as rows: query.Fields describes the tags row and doc. The tag parquet has the encoding of
// a column: delta if values mostly grow from row to row, dictionary for few distinct values.

// rowTable returns a table with the columns of R. Rows are appended one by one.
func rowTable[R any](name, summary string, rows func(ctx context.Context, w *writer, add func(R) error) error) *Table {
	t := &Table{Name: name, Summary: summary, Columns: columnsOf[R]()}
	t.rows = func(ctx context.Context, w *writer) error {
		row := new(R)
		_, fields := query.Fields(row)
		return rows(ctx, w, func(r R) error {
			*row = r
			w.batch.append(fields)
			return w.next()
		})
	}
	return t
}

// pieceTable returns a table with the columns of R. Several workers make its rows from pieces of the heap.
// open returns a function that sets the row and calls add, for each row of a piece.
func pieceTable[R any](name, summary string, h *pieces.Heap, open func(context.Context) (func(p *pieces.Piece, row *R, add func()), error)) *Table {
	t := &Table{Name: name, Summary: summary, Columns: columnsOf[R](), heap: h}
	t.pieces = func(ctx context.Context) (func(*pieces.Piece, *Batch), error) {
		fill, err := open(ctx)
		if err != nil {
			return nil, err
		}
		return func(p *pieces.Piece, b *Batch) {
			row := new(R)
			_, fields := query.Fields(row)
			fill(p, row, func() {
				b.append(fields)
				b.n++
			})
		}, nil
	}
	return t
}

func columnsOf[R any]() []Column {
	columns, fields := query.Fields(new(R))
	out := make([]Column, len(columns))
	for i := range out {
		c := &columns[i]
		out[i] = Column{Name: c.Name, Kind: sourceKind(c), Null: mayBeNull(fields[i]), Summary: c.Summary}
		switch c.Tag.Get("parquet") {
		case "delta":
			out[i].rising = true
		case "dictionary":
			out[i].few = true
		}
	}
	return out
}

// mayBeNull reports whether the field that p points to is optional.
func mayBeNull(p any) bool {
	switch p.(type) {
	case *uint64, *target.Addr, *float64, *bool, *string:
		return false
	}
	return true
}

// append appends the fields of a row. Each field is a pointer.
func (b *Batch) append(fields []any) {
	for i, p := range fields {
		switch p := p.(type) {
		case *uint64:
			b.num(i, *p)
		case *query.Opt[uint64]:
			v, known := p.Get()
			b.numOrNull(i, v, known)
		case *target.Addr:
			b.num(i, uint64(*p))
		case *query.Opt[target.Addr]:
			v, known := p.Get()
			b.numOrNull(i, uint64(v), known)
		case *bool:
			b.bool(i, *p)
		case *query.Opt[bool]:
			if v, known := p.Get(); known {
				b.bool(i, v)
			} else {
				b.null(i)
			}
		case *query.Opt[float64]:
			v, known := p.Get()
			b.numOrNull(i, math.Float64bits(v), known)
		case *string:
			b.text(i, *p)
		case *query.Opt[string]:
			if v, known := p.Get(); known {
				b.text(i, v)
			} else {
				b.null(i)
			}
		case *query.Opt[[]byte]:
			if v, known := p.Get(); known {
				b.bytes(i, v)
			} else {
				b.null(i)
			}
		default:
			b.null(i)
		}
	}
}

func (b *Batch) numOrNull(i int, v uint64, known bool) {
	if known {
		b.num(i, v)
	} else {
		b.null(i)
	}
}
