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

// TestUnsetIsUnknown checks that a Maybe that nobody has set is not a known zero, in Go, JSON and text.
func TestUnsetIsUnknown(t *testing.T) {
	var zero answer.Maybe[int64]
	for _, m := range []answer.Maybe[int64]{zero, answer.Missing[int64](nil)} {
		require.ErrorIs(t, m.Err(), answer.ErrUnknown)
		assert.ErrorIs(t, m.Err(), target.ErrUnsupported)
		assert.True(t, m.IsZero())
		assert.False(t, answer.Is(m, 0))
		assert.Equal(t, "<unknown>", answer.Absent(m.Err()))
	}
	assert.ErrorIs(t, answer.Pointer{}.Err(), answer.ErrUnknown)
	type row struct {
		Left    answer.Maybe[int64] `json:"left,omitzero"`
		Null    answer.Maybe[int64] `json:"null"`
		Pointer answer.Pointer      `json:"pointer"`
	}
	b, err := json.Marshal(row{})
	require.NoError(t, err)
	assert.JSONEq(t, `{"null":null,"pointer":null}`, string(b))
	b, err = json.Marshal(row{answer.Known[int64](0), answer.Of[int64](0, nil), answer.Pointer{Maybe: answer.Known[target.Addr](0)}})
	require.NoError(t, err)
	assert.JSONEq(t, `{"left":0,"null":0,"pointer":"0x0"}`, string(b))

	part := answer.Of[int64](5, target.ErrCorrupt)
	assert.ErrorIs(t, part.Err(), target.ErrCorrupt)
	assert.False(t, answer.Is(part, 5), "a part is no known value")
	require.NoError(t, answer.Known(false).Err())
	assert.False(t, answer.Known(false).IsZero())
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
