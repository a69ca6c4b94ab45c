package sosgo_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
)

// TestGettersCopy overwrites the slice that each method without arguments returns. The next call returns the same as
// before.
func TestGettersCopy(t *testing.T) {
	d, err := sosgo.Open(zoo, sosgo.Options{Offline: true})
	require.NoError(t, err)
	defer d.Close()
	v, err := d.View("")
	require.NoError(t, err)
	h, err := v.Heap()
	require.NoError(t, err)
	rt, err := v.Runtime()
	require.NoError(t, err)
	r, err := v.Objects()
	require.NoError(t, err)
	dog, err := r.Named("Debuggee.Zoo.Dog", "")
	require.NoError(t, err)
	called := map[string]bool{}
	for _, owner := range []any{d, v, h, rt, rt.Instance(), r, dog, dac.CodeOf(rt)} {
		o := reflect.ValueOf(owner)
		for i := range o.NumMethod() {
			m := o.Type().Method(i)
			if m.Type.NumIn() != 1 || m.Type.NumOut() == 0 || m.Type.Out(0).Kind() != reflect.Slice {
				continue
			}
			name := o.Type().Elem().Name() + "." + m.Name
			list := o.Method(i).Call(nil)[0]
			before := reflect.MakeSlice(list.Type(), list.Len(), list.Len())
			reflect.Copy(before, list)
			list.Clear()
			after := o.Method(i).Call(nil)[0]
			assert.True(t, same(before, after), "%s returns the slice that it keeps", name)
			called[name] = list.Len() > 0
		}
	}
	for _, name := range []string{"Heap.Segments", "Heap.SubHeaps", "Heap.AllocContexts", "Dump.Runtimes", "Dump.Modules", "View.Threads", "Runtime.Threads",
		"Runtime.Modules", "Runtime.KnownModules", "Runtime.Probes", "Type.Fields", "Type.OwnFields", "Type.Interfaces", "CodeReader.RangeSections"} {
		assert.True(t, called[name], "%s was called and returned elements", name)
	}
	_, err = h.ObjectContaining(0x7efbcd806bc8)
	assert.NoError(t, err)
}

// same reports whether two slices have equal elements. Zero elements are the trace of the overwriting.
func same(a, b reflect.Value) bool {
	if a.Len() != b.Len() {
		return false
	}
	for i := range a.Len() {
		if !reflect.DeepEqual(a.Index(i).Interface(), b.Index(i).Interface()) {
			return false
		}
	}
	return true
}
