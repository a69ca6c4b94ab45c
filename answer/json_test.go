package answer_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// TestMissingIsNull checks that JSON never contains words in place of a missing value.
func TestMissingIsNull(t *testing.T) {
	for _, err := range []error{target.ErrNotInDump, target.ErrCorrupt, target.ErrUnsupported} {
		for _, v := range []any{answer.Text{Err: err}, answer.QuotedText{Text: answer.Text{Err: err}, Present: true}, answer.Of(1, err)} {
			b, jsonErr := json.Marshal(v)
			require.NoError(t, jsonErr)
			assert.Equal(t, "null", string(b), "%T", v)
		}
	}
	b, err := json.Marshal([]any{answer.Text{S: "<x>"}, answer.QuotedText{Text: answer.Text{S: "q"}, Present: true}})
	require.NoError(t, err)
	assert.JSONEq(t, `["<x>","\"q\""]`, string(b))
}

// TestMembers checks that the fields of a value type are separate members, in its order.
func TestMembers(t *testing.T) {
	inner := answer.NewMembers(func() []answer.Member {
		return []answer.Member{{Name: answer.Text{S: "0"}, Stored: answer.Stored{Missing: answer.Reason{Err: target.ErrNotInDump}}}}
	})
	s := answer.Stored{Value: answer.Value{Kind: answer.KindStruct, At: 0x10}, Members: answer.NewMembers(func() []answer.Member {
		return []answer.Member{
			{Name: answer.Text{S: "X"}, Stored: answer.Stored{Value: answer.Value{Kind: answer.KindInt, Size: 8, Bits: 1<<63 + 1}}},
			{Name: answer.Text{S: "Y"}, Stored: answer.Stored{Value: answer.Value{Kind: answer.KindStruct, At: 0x18}, Members: inner}},
		}
	})}
	b, err := json.Marshal(s)
	require.NoError(t, err)
	assert.JSONEq(t, `{"value":"0x10","struct":[{"name":"X","value":"-9223372036854775807"},
		{"name":"Y","value":"0x18","struct":[{"name":"0","missing":"not in the dump"}]}]}`, string(b))
	b, err = json.Marshal(answer.Stored{Value: answer.Value{Kind: answer.KindInt, Size: 4, Bits: 7}})
	require.NoError(t, err)
	assert.JSONEq(t, `{"value":7}`, string(b))
	assert.Nil(t, answer.Members{}.List())
}

func TestCount(t *testing.T) {
	assert.Equal(t, []string{"0 objects", "1 object", "2 objects"},
		[]string{answer.Count(0, "object", "objects"), answer.Count(1, "object", "objects"), answer.Count(2, "object", "objects")})
}
