package ask

import (
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/internal/front/cli"
)

// FoundNamed is Found for rows selected by a part of a name. If there are none the command warns, because the name may be misspelt.
func FoundNamed[T any](c *cli.Context, rows iter.Seq2[T, error], what, part string) (iter.Seq2[T, error], error) {
	met := part == "" || FormOf(c).NoAdvice
	c.AtEnd(func() {
		if !met {
			c.Warn(fmt.Errorf("no %s was found for %q", what, part))
		}
	})
	return Found(func(yield func(T, error) bool) {
		for row, err := range rows {
			met = true
			if !yield(row, err) {
				return
			}
		}
	}, what)
}

// Found is rows, unless there is none and something could not be read: an empty list would then say that there is nothing. The error is the
// first; what names the rows. The result is ranged over once.
func Found[T any](rows iter.Seq2[T, error], what string) (iter.Seq2[T, error], error) {
	next, stop := iter.Pull2(rows)
	var lost []error
	for {
		row, err, more := next()
		switch {
		case more && err != nil:
			lost = append(lost, err)
			continue
		case !more && len(lost) > 0:
			return nil, fmt.Errorf("no %s can be read, and %d are missing: %w", what, len(lost), lost[0])
		}
		return func(yield func(T, error) bool) {
			defer stop()
			var none T
			for _, err := range lost {
				if !yield(none, err) {
					return
				}
			}
			for err := error(nil); more && yield(row, err); {
				row, err, more = next()
			}
		}, nil
	}
}
