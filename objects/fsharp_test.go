package objects_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/app/rows"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// fsharpValues are the elements of Fakes.Holder.Values in Libraries.cs: the line of each, and its elements.
var fsharpValues = []struct{ line, items string }{
	{"Microsoft.FSharp.Collections.FSharpList<System.String>", `"x", "y"`},
	{"Microsoft.FSharp.Collections.FSharpList<System.String>", ""},
	{"Microsoft.FSharp.Collections.FSharpMap<System.String, System.Int32>", `"a"=1, "b"=2`},
	{"Microsoft.FSharp.Collections.FSharpSet<System.Int32>", "3, 5, 7"},
	{`Microsoft.FSharp.Core.FSharpOption<System.String> Some "text"`, ""},
	{"Microsoft.FSharp.Core.FSharpOption<System.Object> Some Microsoft.FSharp.Core.FSharpOption<System.Object>", ""},
	{"(Microsoft.FSharp.Core.FSharpResult<System.Int32, System.String>) Ok 3", ""},
	{`(Microsoft.FSharp.Core.FSharpResult<System.Int32, System.String>) Error "wrong"`, ""},
	{"(Microsoft.FSharp.Core.FSharpValueOption<System.Guid>) ValueNone", ""},
	{"(Microsoft.FSharp.Core.FSharpValueOption<System.Guid>) ValueSome 00000000-0000-0000-0000-000000000000", ""},
	{`Microsoft.FSharp.Core.FSharpChoice<System.Int32, System.String>+Choice2Of2 Choice2Of2 "second"`, ""},
	{"Microsoft.FSharp.Control.FSharpMailboxProcessor<System.String> (0) waits for a message", ""},
	{"Microsoft.FSharp.Control.FSharpMailboxProcessor<System.String> (2) does not wait for a message", `"passed over", "new"`},
}

// TestFSharp compares the values of F# with those that the program made.
func TestFSharp(t *testing.T) {
	d, _ := testdump.Libraries(t)
	v, err := d.View("")
	require.NoError(t, err)
	r, err := v.Collections()
	require.NoError(t, err)
	found, err := rows.Evaluate(t.Context(), v.Process, "Fakes.Holder.Values", rows.EvaluateOptions{})
	require.NoError(t, err)
	b, err := v.Objects()
	require.NoError(t, err)
	array, err := b.Object(found.Values[0].Address)
	require.NoError(t, err)
	values, err := r.Of(array)
	require.NoError(t, err)
	n := 0
	for item, err := range values.Items() {
		require.NoError(t, err)
		want := fsharpValues[n]
		n++
		o, err := item.Value.Object()
		require.NoError(t, err)
		assert.Equal(t, want.line, o.Inline(100))
		c, err := r.Of(o)
		if err != nil {
			assert.Empty(t, want.items)
			continue
		}
		var items []string
		for item, err := range c.Items() {
			require.NoError(t, err)
			text := item.Value.Plain(100)
			if c.HasKeys {
				text = item.Key.Plain(100) + "=" + text
			}
			items = append(items, text)
		}
		assert.Equal(t, want.items, strings.Join(items, ", "), want.line)
	}
	assert.Len(t, fsharpValues, n)
}
