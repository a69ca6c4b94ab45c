package ask

import (
	"fmt"
	"iter"
	"runtime/debug"

	"github.com/sosgo/sosgo/internal/front/cli"
)

// FoundNamed is like Found for rows selected by a part of a name. If no row is found, it warns that the name may be
// misspelled.
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

// Found returns rows. If rows yields only errors, Found returns the first error instead, so that an empty list never
// hides unreadable data. what names the rows in the error.
func Found[T any](rows iter.Seq2[T, error], what string) (iter.Seq2[T, error], error) {
	next, stop := iter.Pull2(func(yield func(T, error) bool) {
		debug.SetPanicOnFault(true) // for a goroutine of its own: a mapped file may have been truncated
		rows(yield)
	})
	var lost []error
	begun := false
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
			if begun { // the first loop has read what was pulled
				rows(yield)
				return
			}
			begun = true
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
