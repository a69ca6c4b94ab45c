package dap

import (
	"bufio"
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-dap"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHiddenCharacters: an editor gets no character of a name that acts on its console, turns text or can't be seen.
func TestHiddenCharacters(t *testing.T) {
	var b bytes.Buffer
	s := &sender{w: bufio.NewWriter(&b)}
	s.event("output", map[string]string{"output": "a\u202eb\x1b[2J\x7f\u3164\ufe0f\U000e0041\b\u2028\u009b \n\t<b> \"é\" \\u202e 𝄞\\"})
	require.NoError(t, s.err)
	var got struct{ Body struct{ Output string } }
	content, err := dap.ReadBaseMessage(bufio.NewReader(&b))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(content, &got))
	assert.Equal(t, `a\u202eb\u001b[2J\u007f\u3164\ufe0f\U000e0041\b\u2028\u009b `+"\n\t<b> \"é\" "+`\u202e 𝄞\`, got.Body.Output)
}
