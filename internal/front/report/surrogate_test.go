package report

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
)

// TestLoneSurrogates: half a character is an escape in text and JSON, is not U+FFFD, and is cut as one character.
func TestLoneSurrogates(t *testing.T) {
	const half = "\xed\xa0\x80"
	assert.Equal(t, `a\ud800`, Escape("a"+half))
	assert.Equal(t, `"a\ud800b\n"`, string(jsonenc.AppendString(nil, "a"+half+"b\n")))
	assert.Equal(t, "\"\ufffd\"", string(jsonenc.AppendString(nil, "\ufffd")))
	assert.Equal(t, "\"\\ud800\ufffd𝄞\"", Escape(answer.Quote(half+"\ufffd𝄞")))
	line, err := answer.Quoted("a"+half, 2).MarshalJSON()
	assert.NoError(t, err)
	assert.Equal(t, `"\"a\\ud800\""`, string(line))
	assert.Equal(t, "a"+half+"...", CutEnd("a"+half+"bcdef", 5))
	assert.Equal(t, "..."+half+"f", CutStart("abcde"+half+"f", 5))
	start, units := answer.CutText("𝄞"+half+"b", 3)
	assert.Equal(t, "𝄞"+half, start)
	assert.EqualValues(t, 3, units)
}
