package tables

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// WriteQuery writes the rows of a query as one table and returns their number. The kind of a column is the one of its
// values in the first rows: text if they have several kinds. A missing value is null. If rows are missing, WriteQuery
// writes the others and returns the reasons.
func WriteQuery(w io.Writer, q *answer.Query, o Options) (uint64, error) {
	t := &Table{Name: "query", Columns: make([]Column, len(q.Columns))}
	for i := range q.Columns {
		t.Columns[i] = Column{Name: q.Columns[i].Name, Null: true}
	}
	x := &queryWriter{out: &writer{ctx: context.Background(), t: t, mask: o.Mask}, o: o, dst: w}
	var missing []error
	for row, err := range q.Rows {
		if err != nil {
			missing = append(missing, err)
			continue
		}
		if err := x.add(row.Cells); err != nil {
			return x.out.count, err
		}
	}
	if err := x.close(); err != nil {
		return x.out.count, err
	}
	return x.out.count, errors.Join(missing...)
}

// A queryWriter writes the rows of a query. It keeps the first rows until the kinds of their columns are known.
type queryWriter struct {
	out   *writer
	o     Options
	dst   io.Writer
	first [][]answer.Cell
}

// kindRows is the number of rows that decide the kinds of the columns.
const kindRows = 1 << 14

func (x *queryWriter) add(cells []answer.Cell) error {
	if x.out.enc != nil {
		return x.write(cells)
	}
	if x.first = append(x.first, cells); len(x.first) < kindRows {
		return nil
	}
	return x.begin()
}

// begin chooses the kinds of the columns and writes the first rows.
func (x *queryWriter) begin() (err error) {
	t := x.out.t
	for i := range t.Columns {
		t.Columns[i].Kind = x.kind(i)
	}
	if x.out.enc, err = newEncoder(x.o, t, x.dst); err != nil {
		return err
	}
	x.out.batch = x.out.newBatch()
	for _, cells := range x.first {
		if err := x.write(cells); err != nil {
			return err
		}
	}
	x.first = nil
	return nil
}

func (x *queryWriter) close() error {
	if x.out.enc == nil {
		if err := x.begin(); err != nil {
			return err
		}
	}
	if err := x.out.flush(); err != nil {
		return err
	}
	return x.out.enc.close()
}

// kind returns the kind of a column by the first rows: Int for integers with and without sign, Float for integers and
// floats, Text for other mixtures and for a column without values.
func (x *queryWriter) kind(i int) Kind {
	var has [Address + 1]bool
	large := false // an integer that Int can't have
	for _, cells := range x.first {
		c := &cells[i]
		if k, ok := cellKind(c); ok {
			has[k] = true
			large = large || k == Uint && int64(c.Bits) < 0
		}
	}
	only := func(kinds ...Kind) bool {
		for k := range has {
			if has[k] && !slices.Contains(kinds, Kind(k)) {
				return false
			}
		}
		return true
	}
	switch {
	case only(): // no values
	case only(Uint):
		return Uint
	case only(Int), only(Int, Uint) && !large:
		return Int
	case only(Float, Int, Uint) && has[Float]:
		return Float
	case only(Bool):
		return Bool
	case only(Address):
		return Address
	}
	return Text
}

// cellKind returns the kind of a cell's value. ok is false for null and missing values.
func cellKind(c *answer.Cell) (k Kind, ok bool) {
	switch c.Kind {
	case answer.CellMissing, answer.CellNull:
		return 0, false
	case answer.CellBool:
		return Bool, true
	case answer.CellInt:
		return Int, true
	case answer.CellUint:
		return Uint, true
	case answer.CellFloat:
		return Float, true
	case answer.CellAddress:
		return Address, true
	case answer.CellObject:
		if !c.String {
			return Address, true
		}
	}
	return Text, true
}

// write adds a row to the batch.
func (x *queryWriter) write(cells []answer.Cell) error {
	b := x.out.batch
	for i := range cells {
		c := &cells[i]
		k, ok := cellKind(c)
		switch want := b.t.Columns[i].Kind; {
		case !ok:
			b.null(i)
		case want == Text && k == Text && c.Kind != answer.CellStruct:
			b.text(i, c.Text)
		case want == Text:
			b.text(i, c.Plain())
		case want == Float && (k == Int || k == Uint):
			b.num(i, floatBits(c, k))
		case want == k, want == Int && k == Uint && int64(c.Bits) >= 0, want == Uint && k == Int && int64(c.Bits) >= 0:
			b.num(i, c.Bits)
		default:
			return target.Unsupportedf("column %s has %s %s after other kinds of values: use text(…) to write it as text", b.t.Columns[i].Name, c.Kind, c.Plain())
		}
	}
	if err := x.out.next(); err != nil {
		return fmt.Errorf("query: %w", err)
	}
	return nil
}

// floatBits returns an integer as a float.
func floatBits(c *answer.Cell, k Kind) uint64 {
	if k == Int {
		return math.Float64bits(float64(int64(c.Bits)))
	}
	return math.Float64bits(float64(c.Bits))
}
