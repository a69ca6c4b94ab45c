package objects_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

func fieldNamed(t *testing.T, l *answer.FieldList, name string) *answer.Field {
	for i := range l.Fields {
		if l.Fields[i].Name.S == name {
			return &l.Fields[i]
		}
	}
	require.Fail(t, "no field", name)
	return nil
}

// TestDescribe compares the fields in answers with what the program stored.
func TestDescribe(t *testing.T) {
	zooReader(t, "root.Primitives", func(t *testing.T, r *objects.Reader, o objects.Object) {
		a, err := r.Describe(context.Background(), o.Addr, objects.DescribeOptions{References: true})
		require.NoError(t, err)
		f := fieldNamed(t, &a.FieldList, "Int32")
		assert.Equal(t, int64(-123456789), f.Value.Int())
		assert.Equal(t, "System.Int32", f.Exact.Name.S)
		assert.True(t, f.InPlace)
		assert.Equal(t, f.Value.At, *f.Address)
		assert.Equal(t, `"hello, wörld 你好"`, fieldNamed(t, &a.FieldList, "String").Text.String())
		assert.Equal(t, `"hell"… (15 characters)`, fieldNamed(t, &a.FieldList, "String").Text.Cut(4))
		assert.Empty(t, fieldNamed(t, &a.FieldList, "True").Text, "the value says it")
		assert.Equal(t, "null", fieldNamed(t, &a.FieldList, "Null").Value.Plain())
		assert.NotEmpty(t, a.References)
		s := fieldNamed(t, &a.FieldList, "Struct")
		if s.MethodTable.Value == 0 {
			return
		}
		v, err := r.DescribeStruct(s.MethodTable.Value, s.Value.At)
		require.NoError(t, err)
		assert.Equal(t, s.Text, v.Text)
		_, err = r.DescribeStruct(a.MethodTable, o.Addr)
		assert.ErrorIs(t, err, target.ErrArgument)
	})
}

// TestDescribeNothing: the error for an address without an object is an InvalidError.
func TestDescribeNothing(t *testing.T) {
	zooReader(t, "root.Primitives", func(t *testing.T, r *objects.Reader, o objects.Object) {
		ctx := context.Background()
		_, err := r.Describe(ctx, o.Addr+4, objects.DescribeOptions{})
		var invalid *objects.InvalidError
		require.ErrorAs(t, err, &invalid)
		assert.Equal(t, o.Addr+4, invalid.Addr)
		assert.ErrorIs(t, err, target.ErrArgument)
		_, err = r.DescribeArray(ctx, o.Addr, objects.ArrayOptions{})
		assert.ErrorIs(t, err, objects.ErrNotArray)
		_, err = r.DescribeString(o.Addr)
		assert.ErrorIs(t, err, target.ErrArgument)
		_, err = r.DelegateCalls(o.Addr)
		var not *objects.NotDelegateError
		require.ErrorAs(t, err, &not)
		assert.Equal(t, "Debuggee.Zoo.Primitives", not.Type.S)
	})
}

func TestDescribeArray(t *testing.T) {
	zooReader(t, "root.Arrays", func(t *testing.T, r *objects.Reader, o objects.Object) {
		ctx := context.Background()
		at, err := o.Field("Matrix").Addr()
		require.NoError(t, err)
		a, err := r.DescribeArray(ctx, at, objects.ArrayOptions{Details: true})
		require.NoError(t, err)
		assert.Equal(t, []int32{2, 3}, a.Lengths)
		assert.Equal(t, "Int32", a.ElementWord)
		n := int64(0)
		for e, err := range a.Elements {
			require.NoError(t, err)
			n++
			assert.Equal(t, n, e.Value.Int())
			require.NotNil(t, e.Struct)
			assert.Equal(t, "System.Int32", e.Struct.Type.S)
		}
		assert.Equal(t, int64(6), n)
		var bad *objects.RangeError
		_, err = r.DescribeArray(ctx, at, objects.ArrayOptions{Start: &n})
		assert.ErrorAs(t, err, &bad, "an array of two dimensions has no range")
		stopped, cancel := context.WithCancel(ctx)
		cancel()
		a, err = r.DescribeArray(stopped, at, objects.ArrayOptions{})
		require.NoError(t, err)
		for _, err := range a.Elements {
			assert.ErrorIs(t, err, context.Canceled)
		}
	})
}

func TestDescribeString(t *testing.T) {
	zooReader(t, "root.Primitives", func(t *testing.T, r *objects.Reader, o objects.Object) {
		for name, want := range map[string]string{"String": "hello, wörld 你好", "Empty": ""} {
			at, err := o.Field(name).Addr()
			require.NoError(t, err)
			s, err := r.DescribeString(at)
			require.NoError(t, err)
			var b strings.Builder
			require.NoError(t, s.Text.StreamText(func(part string) error { b.WriteString(part); return nil }))
			assert.Equal(t, want, b.String())
			assert.Equal(t, want == "", s.Text.IsZero())
		}
	})
}

func TestStaticsOfType(t *testing.T) {
	zooReader(t, "root.Dog", func(t *testing.T, r *objects.Reader, o objects.Object) {
		found := map[string]bool{}
		for f, err := range r.Statics(context.Background(), objects.StaticsOptions{Type: "debuggee.zoo.ANIMAL"}) {
			if err == nil {
				assert.Equal(t, answer.FieldStatic, f.Kind)
				found[f.Name.S] = true
			}
		}
		assert.True(t, found["s_created"])
	})
}
