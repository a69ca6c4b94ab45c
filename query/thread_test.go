package query_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/objects/collections"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/stackwalk/threads"
)

// TestOfThread: a copy for a thread has all fields of the process, and the thread.
func TestOfThread(t *testing.T) {
	p := &query.Process{
		Runtime: &dac.Runtime{}, Objects: objects.New(nil), Heap: func() (*heap.Heap, error) { return nil, nil },
		Holders:     func(context.Context) (*graph.Holders, error) { return nil, nil },
		Collections: &collections.Reader{}, Variables: map[string]query.Value{"$_": {}}, Sources: []query.Source{{}}, Scan: heap.ScanOptions{Jobs: 3},
		Thread: func() (*threads.Thread, error) { return nil, nil },
	}
	thread := &threads.Thread{}
	of := p.OfThread(thread)
	got, err := of.Thread()
	require.NoError(t, err)
	assert.Same(t, thread, got)
	for f := range reflect.TypeFor[query.Process]().Fields() {
		if f.IsExported() {
			assert.False(t, reflect.ValueOf(p).Elem().FieldByIndex(f.Index).IsZero(), "%s is not part of the test", f.Name)
			assert.False(t, reflect.ValueOf(of).Elem().FieldByIndex(f.Index).IsZero(), f.Name)
		}
	}
	assert.Same(t, p, p.OfThread(nil))
}
