package answer

import (
	"fmt"
	"iter"
	"math"
	"strconv"

	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
	"github.com/sosgo/sosgo/target"
)

// A CellKind is the kind of a Cell.
type CellKind uint8

// The kinds of cells.
const (
	CellMissing CellKind = iota // Err is the reason
	CellNull
	CellBool    // Bits
	CellInt     // Bits, signed
	CellUint    // Bits
	CellAddress // Bits
	CellFloat   // Bits of a double
	CellDecimal // Text has the digits
	CellText    // Text
	CellEnum    // Text is the name, Bits the number
	CellObject  // Bits is the address, Text its value on one line, Type its type
	CellStruct  // as CellObject, for a value type in place
	CellType    // Text is the name, Bits the MethodTable
	CellList    // of an Evaluation alone: its Items
)

var cellWords = [...]string{"missing", "null", "bool", "int", "uint", "address", "float", "decimal", "text", "enum", "object", "struct", "type", "list"}

// String returns the kind's name.
func (k CellKind) String() string { return cellWords[k] }

// MarshalText returns the kind's name.
func (k CellKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// A Cell is the value of an expression. In JSON it is null, a boolean, a number (a string if it exceeds 53 bits or is a
// decimal), a string, the name of an enum value, or the address of an object or struct. A value that the dump does not
// contain is an object {"missing": WORDS}, which is not null.
type Cell struct {
	Kind   CellKind
	String bool // of a CellObject: the object is a string, and Text is its text
	Bits   uint64
	Text   string
	Type   string
	Err    error

	Unsigned bool // of a CellEnum: Bits is unsigned
}

// Number returns the number of a CellInt, CellUint or CellEnum.
func (c *Cell) Number() string {
	if c.Kind == CellUint || c.Unsigned {
		return strconv.FormatUint(c.Bits, 10)
	}
	return strconv.FormatInt(int64(c.Bits), 10)
}

// Plain returns the cell as text.
func (c *Cell) Plain() string {
	switch c.Kind {
	case CellMissing:
		return Absent(c.Err)
	case CellNull:
		return "null"
	case CellBool:
		return strconv.FormatBool(c.Bits != 0)
	case CellInt, CellUint:
		return c.Number()
	case CellAddress:
		return "0x" + strconv.FormatUint(c.Bits, 16)
	case CellFloat:
		return strconv.FormatFloat(math.Float64frombits(c.Bits), 'g', -1, 64)
	case CellObject:
		if c.String {
			return Quote(c.Text)
		}
		return strconv.FormatUint(c.Bits, 16)
	case CellStruct:
		if c.Text == "" {
			return strconv.FormatUint(c.Bits, 16)
		}
	}
	return c.Text
}

// exactBits is the size of the integers that every JSON reader keeps exactly.
const exactBits = 53

// AppendJSON appends the cell as JSON.
func (c *Cell) AppendJSON(b []byte) []byte {
	switch c.Kind {
	case CellMissing:
		return append(jsonenc.AppendString(append(b, `{"missing":`...), fmt.Sprint(c.Err)), '}')
	case CellNull:
		return append(b, "null"...)
	case CellBool:
		return strconv.AppendBool(b, c.Bits != 0)
	case CellInt, CellUint:
		if n := int64(c.Bits); c.Kind == CellInt && n > -1<<exactBits && n < 1<<exactBits || c.Kind == CellUint && c.Bits < 1<<exactBits {
			return append(b, c.Plain()...)
		}
	case CellFloat:
		if f := math.Float64frombits(c.Bits); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return append(b, c.Plain()...)
		}
	case CellObject:
		if c.String {
			return jsonenc.AppendString(b, c.Text)
		}
		return appendJSONAddr(b, target.Addr(c.Bits))
	case CellStruct:
		if c.Text == "" {
			return appendJSONAddr(b, target.Addr(c.Bits))
		}
	}
	return jsonenc.AppendString(b, c.Plain())
}

// MarshalJSON encodes the cell.
func (c Cell) MarshalJSON() ([]byte, error) { return c.AppendJSON(nil), nil }

// JSONType returns a pointer to what MarshalJSON writes, for documentation: anything.
func (Cell) JSONType() any { return new(any) }

// A QueryColumn is a column of the rows of a query.
type QueryColumn struct {
	Name  string `json:"name" doc:"its name, which is the rows' key"`
	Count bool   `json:"-"` // numbers of things or bytes
}

// A QueryRow is a row of a query: a cell for each column. In JSON it is an object with the columns' names.
type QueryRow struct {
	Columns []QueryColumn
	Cells   []Cell
}

// AppendJSON appends the row as JSON.
func (r QueryRow) AppendJSON(b []byte) []byte {
	b = append(b, '{')
	for i := range r.Cells {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsonenc.AppendString(b, r.Columns[i].Name), ':')
		b = r.Cells[i].AppendJSON(b)
	}
	return append(b, '}')
}

// MarshalJSON implements json.Marshaler.
func (r QueryRow) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil), nil }

// JSONType returns a pointer to the type that MarshalJSON writes, for documentation. The query determines the
// columns.
func (QueryRow) JSONType() any { return new(map[string]any) }

// A Query is the answer to a query. Its rows are read while they are listed.
type Query struct {
	Gaps
	Columns []QueryColumn              `json:"columns"`
	Rows    iter.Seq2[QueryRow, error] `json:"rows"`
	// Total and Looked are known once Rows are read. Total is the number of all rows, Looked also of rows that failed.
	Total  Maybe[uint64] `json:"count,omitzero" doc:"number of rows; absent if not all were read"`
	Looked Maybe[uint64] `json:"looked,omitzero" doc:"number of objects, or rows of another source, that the query looked at"`
	// Strength is known once Rows are read.
	Strength Strength `json:"strength,omitempty" doc:"\"possible\" if the query counts objects as live that only words which look like references hold"`
	// More reports that the query or a limit cut the list.
	More bool `json:"more,omitempty" doc:"there are more rows than the query, or a limit, wanted"`
}

// Listing returns the rows as a Listing.
func (q *Query) Listing() *Listing {
	l := &Listing{Columns: q.Columns}
	l.Rows = NewRows(&l.Gaps, func(yield func(QueryRow, error) bool) error {
		q.Rows(yield)
		l.NoteAll(q.Noted())
		l.Strength = q.Strength
		return nil
	})
	return l
}

// An Evaluation is the value of one expression.
type Evaluation struct {
	Expression  string      `json:"expression" doc:"the expression"`
	Value       Cell        `json:"value" doc:"its value"`
	Kind        CellKind    `json:"kind" doc:"\"null\", \"bool\", \"int\", \"uint\", \"address\", \"float\", \"decimal\", \"text\", \"enum\", \"object\", \"struct\", \"type\", \"list\" or \"missing\""`
	Type        string      `json:"type,omitempty" doc:"the type of an object, struct or enum"`
	Address     target.Addr `json:"address,omitempty" doc:"where the object or struct is"`
	MethodTable target.Addr `json:"methodTable,omitempty" doc:"the MethodTable of a struct, for dumpvc"`
	Text        string      `json:"text,omitempty" doc:"an object or struct on one line"`
	Items       []Cell      `json:"items,omitempty" doc:"of a list: its items, or the first of them"`
	Count       uint64      `json:"count,omitempty" doc:"of a list: how many items it has"`
	Strength    Strength    `json:"strength,omitempty" doc:"\"possible\" if the value counts an object as live that only words which look like references hold"`
}

// Evaluations lists the values of expressions.
type Evaluations struct {
	Gaps
	Values []Evaluation `json:"values"`
}
