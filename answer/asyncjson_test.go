package answer_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// TestAsyncStackStream: the pieces of a stack are what encoding/json makes of it, and none is the whole of a large one.
func TestAsyncStackStream(t *testing.T) {
	state, name := int32(-2), &answer.AsyncName{Type: answer.Text{S: "Box<X>"}, Name: answer.Text{Err: target.ErrNotInDump}}
	place := &answer.AsyncPlace{Method: answer.Text{S: "Main"}, Await: answer.Text{Err: target.ErrCorrupt}, File: `C:\a "b".cs`, Line: 7, Missing: answer.Reason{Err: target.ErrUnsupported}}
	full := answer.AsyncFrame{Depth: 3, Object: 0x10, MethodTable: 0x20, Kind: answer.AsyncMethod, AsyncName: name, State: &state, Flags: 0x400, Status: "Running",
		Meaning: "é", AsyncPlace: place, Variables: []answer.AsyncVariable{{Name: "i", Value: "<1>"}}, Fields: []answer.AsyncField{{Name: answer.Text{S: "f"}}},
		Suspended: []answer.AsyncPlace{*place}, Again: true}
	many := make([]answer.AsyncFrame, 5000)
	for i := range many {
		many[i] = answer.AsyncFrame{Depth: i, Kind: answer.AsyncTask, AsyncName: name}
	}
	for _, s := range []answer.AsyncStack{
		{},
		{Frames: []answer.AsyncFrame{}},
		{Frames: []answer.AsyncFrame{{}, full}, Reason: answer.Text{S: "a timer"}},
		{Part: true, Awaiter: &answer.AsyncAwaiter{Field: "<>u__1"}, Waits: []answer.AsyncFrame{full}, Reason: answer.Text{Err: target.ErrCorrupt}, Frames: many,
			Roots: &answer.RootPaths{Verdict: "held"}, More: true},
	} {
		want, err := json.Marshal(&s)
		require.NoError(t, err)
		var got strings.Builder
		pieces := 0
		require.NoError(t, s.StreamValue(func(b []byte) error {
			pieces++
			got.Write(b)
			return nil
		}))
		assert.JSONEq(t, string(want), got.String())
		assert.Equal(t, len(s.Frames) > 1000, pieces > 1)
	}
	stop := target.Unsupportedf("enough")
	s := answer.AsyncStack{Frames: many}
	assert.ErrorIs(t, s.StreamValue(func([]byte) error { return stop }), stop)
}

// TestLineJSON: a line is the JSON string that encoding/json makes of it, whatever has to be escaped and wherever it
// stands.
func TestLineJSON(t *testing.T) {
	for _, text := range []string{"", "plain", `"`, `\`, `""\\`, `a"b\c`, "\"quoted\"", "line\nfeed", "é\"", "\x00", "<&>", "\xff", "\u2028", "tail\\"} {
		var want strings.Builder
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		require.NoError(t, enc.Encode(text))
		for _, before := range []string{"", `x"`} {
			assert.Equal(t, before+strings.TrimSuffix(want.String(), "\n"), string(answer.Words(text).AppendJSON([]byte(before))), "%q", text)
		}
	}
	number := answer.Line{{Text: "{X="}, {Number: answer.Value{Kind: answer.KindInt, Size: 4, Bits: 0xffffffff}}, {Text: "}"}}
	assert.Equal(t, "{X=-1}", number.String())
	assert.Equal(t, `"{X=-1}"`, string(number.AppendJSON(nil)))
	assert.Equal(t, "-1", number[1:2].String())
	assert.False(t, number[1:2].Blank())
	assert.False(t, answer.Line{number[1], {Text: `"`}}.StartsQuoted())
}
