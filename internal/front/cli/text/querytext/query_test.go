package querytext

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// because is an error that explains why values are missing.
type because struct{ error }

func (b because) Unwrap() error { return b.error }

func (because) Explains() string { return "only sums are in the dump" }

// TestReasons checks that a reason which explains missing cells stands once below the rows, and others only in their place.
func TestReasons(t *testing.T) {
	missing := func(err error) answer.Cell { return answer.Cell{Kind: answer.CellMissing, Err: err} }
	explained := missing(fmt.Errorf("thread 1: %w", because{target.ErrNotInDump}))
	q := &answer.Query{Columns: []answer.QueryColumn{{Name: "user"}, {Name: "kernel"}}, Rows: func(yield func(answer.QueryRow, error) bool) {
		_ = yield(answer.QueryRow{Cells: []answer.Cell{explained, explained}}, nil) && yield(answer.QueryRow{Cells: []answer.Cell{missing(target.ErrNotInDump), {Kind: answer.CellUint, Bits: 7}}}, nil)
	}}
	var b bytes.Buffer
	Query(report.NewPage(&b, false, func(error) {}), q)
	assert.Equal(t, "         user        kernel\n<not in dump> <not in dump>\n<not in dump>             7\nonly sums are in the dump\n2 rows\n", b.String())
}
