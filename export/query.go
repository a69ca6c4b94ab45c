package export

import (
	"io"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/export/tables"
	"github.com/sosgo/sosgo/target"
)

// QueryOptions control how the rows of a query are written. The zero value writes Parquet.
type QueryOptions struct {
	Form   TableForm
	RawCSV bool                // texts of CSV as they are; else an apostrophe precedes what a spreadsheet would run
	Mask   func(string) string // if not nil, replaces secrets in texts
}

// Query writes the rows of a query (sosgo.View.Query) as a table, and returns their number. A column has the kind of
// its values in the first rows: numbers, booleans, addresses (objects, too) or text; mixtures are text. Null and
// missing values are null. If rows are missing, Query writes the others and returns the reasons.
func Query(w io.Writer, q *answer.Query, o QueryOptions) (rows uint64, err error) {
	if q == nil || q.Rows == nil {
		return 0, target.Argumentf("no query was given")
	}
	if w == nil {
		return 0, target.Argumentf("no writer was given")
	}
	form, err := tableForm(o.Form)
	if err != nil {
		return 0, err
	}
	return tables.WriteQuery(w, q, tables.Options{Form: form, RawCSV: o.RawCSV, Mask: o.Mask})
}
