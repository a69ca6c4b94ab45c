// Package testheap supplies the heaps of dumps to the tests of exports.
package testheap

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/export/pieces"
	"github.com/sosgo/sosgo/target"
)

// Of returns the heap of a dump, for three workers. It skips the test, with a reason, if the dump
// has no heap; any other error fails the test.
func Of(t testing.TB, d *sosgo.Dump) *pieces.Heap {
	t.Helper()
	v, err := d.View("")
	require.NoError(t, err)
	r, err := v.Objects()
	skip(t, err)
	g, err := v.Graph(t.Context(), graph.Options{})
	skip(t, err)
	return &pieces.Heap{Graph: g, Objects: r, Jobs: 3}
}

func skip(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, target.ErrUnsupported) || errors.Is(err, target.ErrNotInDump) {
		t.Skip(err)
	}
	require.NoError(t, err)
}
