package ask_test

import (
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/target"
)

// TestFound checks that rows and errors pass through, and that errors without any row become the error.
func TestFound(t *testing.T) {
	rows := func(items ...any) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			for _, item := range items {
				n, _ := item.(int)
				err, _ := item.(error)
				if !yield(n, err) {
					return
				}
			}
		}
	}
	lost := target.Corruptf("lost")
	for _, items := range [][]any{{}, {1}, {1, 2}, {lost, 1}, {lost, lost, 1, lost, 2}} {
		seq, err := ask.Found(rows(items...), "row")
		require.NoError(t, err)
		for range 2 {
			got := []any{}
			for n, err := range seq {
				if err != nil {
					got = append(got, err)
				} else {
					got = append(got, n)
				}
			}
			assert.Equal(t, items, got)
		}
	}
	_, err := ask.Found(rows(lost, lost), "row")
	require.ErrorIs(t, err, lost)
	assert.ErrorContains(t, err, "no row can be read, and 2 are missing")
	seq, err := ask.Found(rows(1, 2, 3), "row")
	require.NoError(t, err)
	for range seq {
		break
	}
}
