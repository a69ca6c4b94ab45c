package answer

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// TestHeapObjectJSON holds the quick way against encoding/json.
func TestHeapObjectJSON(t *testing.T) {
	for _, o := range []HeapObject{{}, {Address: 0x7f0012345678, MethodTable: 0xabc, Size: 24}, {Address: 1, Size: 1 << 40, Free: true}} {
		want, err := json.Marshal(o)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(o.AppendJSON(nil)))
	}
}

// TestStringCountJSON holds the quick way against encoding/json.
func TestStringCountJSON(t *testing.T) {
	for _, s := range []StringCount{{}, {Count: 3, Size: 1 << 40, Address: 0x7f0012345678, Text: Text{S: "a\tb <\u2028\x00>\U0001f600"}},
		{Text: Text{S: "a<b>&\"c\\d"}}, {Text: Text{S: "a<b>&\u00e9"}}, {Count: 1, Text: Text{Err: target.ErrNotInDump}}} {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false) // as report.JSONEncoder
		require.NoError(t, enc.Encode(s))
		assert.Equal(t, want.String(), string(s.AppendJSON(nil))+"\n")
	}
}
