package query_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/stackwalk"
)

// TestOfThread: a copy for a thread has all fields of the process, and the thread.
func TestOfThread(t *testing.T) {
	p := envOf(t, testdump.Open(t, "net10-zoo").Dump)
	p.Variables, p.Sources, p.Graph.Jobs = map[string]query.Value{"$_": {}}, []query.Source{{}}, 3
	p.Thread = func() (*stackwalk.Thread, error) { return nil, nil }
	thread := &stackwalk.Thread{}
	of := p.OfThread(thread)
	got, err := of.Thread()
	require.NoError(t, err)
	assert.Same(t, thread, got)
	for f := range reflect.TypeFor[query.Env]().Fields() {
		if f.IsExported() {
			assert.False(t, reflect.ValueOf(p).Elem().FieldByIndex(f.Index).IsZero(), "%s is not part of the test", f.Name)
			assert.False(t, reflect.ValueOf(of).Elem().FieldByIndex(f.Index).IsZero(), f.Name)
		}
	}
	assert.Same(t, p, p.OfThread(nil))
}
