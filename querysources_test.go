package sosgo_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/testdump"
)

// TestSourcesOfRows: of every dump each source has rows as wide as its columns say or errors of the three kinds, and stops where
// no more is wanted. What the sources of a dump with its heap have to say is held to the heap's own lists in package query.
func TestSourcesOfRows(t *testing.T) {
	var rows int
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		v, err := d.View("")
		if err == nil {
			_, err = v.Runtime()
		}
		if err != nil {
			require.True(t, testdump.Typed(err), "%v", err)
			_, err = v.Asked(graph.Options{})
			require.True(t, testdump.Typed(err), "%v", err)
			return
		}
		p, err := v.Asked(graph.Options{})
		require.NoError(t, err)
		for _, s := range p.Sources {
			n := 0
			for row, err := range s.Rows(t.Context()) {
				if n++; n > 2000 {
					break
				}
				if err != nil {
					assert.True(t, testdump.Typed(err), "%s: %v", s.Name, err)
					continue
				}
				require.Len(t, row, len(s.Columns), s.Name)
				rows++
			}
			for range s.Rows(t.Context()) {
				break
			}
		}
	})
	require.Positive(t, rows)
}
