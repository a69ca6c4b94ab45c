package web_test

import (
	"context"
	"maps"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/web"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

const sessionsDump = "../../../testdata/dumps/sessions/net10-sessions/net10-sessions.dmp.zst"

func sessionsView(t testing.TB) (*sosgo.View, *testdump.Overlay) {
	t.Helper()
	if _, err := os.Stat(sessionsDump); err != nil {
		t.Skip("testdata/dumps is not here: it is a module of its own")
	}
	d, over := testdump.OverlaidFile(t, sessionsDump, sosgo.Options{Offline: true})
	v, err := d.View("")
	require.NoError(t, err)
	return v, over
}

func askSessions(t testing.TB, v *sosgo.View, o web.SessionOptions, retained bool) *answer.Sessions {
	t.Helper()
	o.Retained = retained
	out, err := web.Sessions(t.Context(), v.Process, o)
	require.NoError(t, err)
	return out
}

// TestSessions compares the sessions with Sessions.cs and with what the program printed about the stored ones.
func TestSessions(t *testing.T) {
	v, _ := sessionsView(t)
	out := askSessions(t, v, web.SessionOptions{Values: true}, true)
	assert.Empty(t, out.Noted())

	facts, err := os.ReadFile("../../../testdata/dumps/sessions/net10-sessions/facts.txt")
	require.NoError(t, err)
	byKey := map[string]answer.Session{}
	for _, s := range out.Sessions {
		byKey[s.Key.S] = s
	}
	require.Len(t, out.Sessions, 7)
	n := 0
	for line := range strings.Lines(string(facts)) {
		f := strings.Fields(line) // FACT rest KEY ID BYTES
		if len(f) != 5 {
			continue
		}
		n++
		s := byKey[f[2]]
		require.NotNil(t, s.Rests, f[2])
		assert.Equal(t, f[3], s.ID.S)
		assert.Equal(t, f[4], strconv.FormatInt(s.Rests.Bytes, 10))
		assert.Equal(t, "00:20:00", s.Rests.Sliding)
		assert.NoError(t, s.Rests.Accessed.Err())
		assert.Equal(t, 2026, s.Rests.Accessed.Value.Year())
		require.NotNil(t, s.Rests.Retained)
		assert.Greater(t, *s.Rests.Retained, s.Rests.Bytes, "the entry with its array and its key")
	}
	assert.Equal(t, 5, n)

	require.Len(t, out.Stores, 2)
	stores := map[string]answer.SessionStore{}
	for _, s := range out.Stores {
		stores[s.Type.S] = s
	}
	here := stores["Microsoft.Extensions.Caching.Distributed.MemoryDistributedCache"]
	assert.True(t, here.Here)
	assert.Equal(t, answer.Known[int64](5), *here.Sessions)
	assert.Equal(t, answer.Known[int64](2), *here.Others, "a product, and bytes that are no session under a key that looks like one")
	assert.False(t, stores["Microsoft.Extensions.Caching.StackExchangeRedis.RedisCache"].Here)

	key := func(n string) answer.Session { return byKey["0f8fad5b-d9cb-469f-a165-70867728000"+n] }
	alice := key("1")
	assert.Equal(t, "alice", alice.User.S)
	assert.Equal(t, "request", alice.UserFrom)
	require.Len(t, alice.Live, 1)
	assert.Equal(t, "/cart", alice.Live[0].Path.S)
	assert.Equal(t, "modified, not yet stored", alice.Live[0].State.S)
	assert.Equal(t, []answer.SessionValue{{Name: "cart", Bytes: 14, Text: "3 books, 1 pen"}, {Name: "password", Bytes: 13, Text: "***", Masked: true}, {Name: "visits", Bytes: 4, Text: "7"}},
		alice.Values, "those of the request, not those that rest")
	assert.Equal(t, alice.Rests.Bytes+int64(len("cart")+14+len("password")+13+len("visits")+4), alice.Bytes)

	bob := key("2")
	assert.Equal(t, "bob", bob.User.S)
	assert.Equal(t, "value UserName", bob.UserFrom)
	assert.Equal(t, "0x0102fafbfc", bob.Values[1].Text)
	assert.Equal(t, "not loaded", key("3").Live[0].State.S)
	assert.Equal(t, "/health", key("3").Live[0].Path.S)
	assert.Nil(t, key("4").Rests, "it rests in Redis")
	assert.Equal(t, "dave", key("4").User.S)
	assert.Equal(t, "carol", key("6").User.S)
	assert.Empty(t, key("7").User.S)

	require.Len(t, out.Users, 5)
	assert.Equal(t, "carol", out.Users[0].User.S)
	assert.Equal(t, 2, out.Users[0].Sessions)
	assert.Equal(t, key("5").Bytes+key("6").Bytes, out.Users[0].Bytes)
	assert.Equal(t, *key("5").Retained+*key("6").Retained, *out.Users[0].Retained)
	assert.Equal(t, 0, out.Users[0].Requests, "only copies of requests that have ended")
}

// TestSessionSelection selects the sessions of one user, with secrets and without values.
func TestSessionSelection(t *testing.T) {
	v, _ := sessionsView(t)
	out := askSessions(t, v, web.SessionOptions{User: "ALI", Values: true, Secrets: true}, false)
	require.Len(t, out.Sessions, 1)
	assert.Equal(t, "correct horse", out.Sessions[0].Values[1].Text)
	assert.False(t, out.Sessions[0].Values[1].Masked)
	assert.Nil(t, out.Retained)
	for _, s := range askSessions(t, v, web.SessionOptions{}, false).Sessions {
		for _, value := range s.Values {
			assert.Empty(t, value.Text)
			assert.NotEmpty(t, value.Name)
		}
	}
}

// TestDamagedSession checks that other bytes are not read as a session, and that an unreadable session is reported.
func TestDamagedSession(t *testing.T) {
	v, over := sessionsView(t)
	var at answer.Session
	for _, s := range askSessions(t, v, web.SessionOptions{}, false).Sessions {
		if s.Rests != nil && s.User.S == "" {
			at = s
		}
	}
	require.NotNil(t, at.Rests)
	const data = 16 // after the MethodTable and the length of an array
	for name, bytes := range map[string][]byte{"revision": {1}, "count": {2, 0, 0, 2}, "counts": {2, 0xff, 0xff, 0xff}} {
		over.Set(testdump.Damage{At: at.Rests.Address + data, Bytes: bytes})
		out := askSessions(t, v, web.SessionOptions{}, false)
		assert.Equal(t, answer.Known[int64](4), *out.Stores[0].Sessions, name)
		assert.Equal(t, answer.Known[int64](3), *out.Stores[0].Others, name)
	}
	over.Set(testdump.Damage{At: at.Rests.Address + 8, Bytes: []byte{0, 0, 0, 0x10}}) // a length that no dump has
	out := askSessions(t, v, web.SessionOptions{}, false)
	assert.Error(t, out.Stores[0].Sessions.Err())
	assert.NotEmpty(t, out.Noted())
}

// FuzzSession overwrites a stored session. The bytes must be a session from first to last or be rejected, without other
// changes.
func FuzzSession(f *testing.F) {
	v, over := sessionsView(f)
	var at answer.Session
	for _, s := range askSessions(f, v, web.SessionOptions{}, false).Sessions {
		if s.Rests != nil && s.Key.S == "0f8fad5b-d9cb-469f-a165-708677280007" {
			at = s
		}
	}
	require.NotNil(f, at.Rests)
	f.Add([]byte("\x02\x00\x00\x01"), uint8(0))
	f.Add([]byte("\x02\xff\xff\xff"), uint8(0))
	f.Add([]byte("\x00\x00\xff\xff\xff\xff"), uint8(20))
	f.Add([]byte("\x00\x09"), uint8(20))
	f.Fuzz(func(t *testing.T, b []byte, offset uint8) {
		from := int64(offset) % at.Rests.Bytes
		b = b[:min(int64(len(b)), at.Rests.Bytes-from)]
		over.Set(testdump.Damage{At: at.Rests.Address + 16 + target.Addr(from), Bytes: b})
		out, err := web.Sessions(context.Background(), v.Process, web.SessionOptions{})
		if err != nil || len(out.Noted()) > 0 {
			t.Fatalf("%v %v", err, out.Noted())
		}
		if n := out.Stores[0].Sessions.Value; n != 4 && n != 5 || n+out.Stores[0].Others.Value != 7 {
			t.Fatalf("%d sessions and %d others", n, out.Stores[0].Others.Value)
		}
		for _, s := range out.Sessions {
			if s.Rests == nil || s.Rests.Entry != at.Rests.Entry {
				continue
			}
			n := int64(20)
			for _, value := range s.Values {
				n += 2 + 4 + value.Bytes + int64(len(value.Name))
			}
			if len(s.Live) == 1 && n != s.Bytes && utf8.Valid(b) {
				t.Fatalf("%d bytes of values in %d", n, s.Bytes)
			}
		}
	})
}

// TestMissingSessions repeats the query, each time without one of the pieces of memory that the answer was read from.
func TestMissingSessions(t *testing.T) {
	if _, err := os.Stat(sessionsDump); err != nil {
		t.Skip("testdata/dumps is not here: it is a module of its own")
	}
	d := testdump.Dump{Case: &testcase.Case{Name: "net10-sessions", Path: sessionsDump}}
	d.Sweep(t, 60, false, func(v *sosgo.View) (any, []error, error) {
		return testdump.Asked(web.Sessions(t.Context(), v.Process, web.SessionOptions{}))
	})
}

// TestNoSessions checks that a process without sessions has an empty list and no gaps.
func TestNoSessions(t *testing.T) {
	v, err := testdump.Open(t, "net10-zoo").View("")
	require.NoError(t, err)
	out := askSessions(t, v, web.SessionOptions{}, true)
	assert.Empty(t, out.Sessions)
	assert.Empty(t, out.Stores)
}

// TestStoredValues: bytes are a session only if they are one from the first to the last.
func TestStoredValues(t *testing.T) {
	b := append([]byte{2, 0, 0, 2}, make([]byte, 16)...)
	b = append(b, "\x00\x03pwd\x00\x00\x00\x04Hn9t\x00\x01n\x00\x00\x00\x02\x00\x07"...)
	read := func(b []byte) map[string]string { return maps.Collect(web.StoredValues(b)) }
	assert.Equal(t, map[string]string{"pwd": "Hn9t"}, read(b), "the second is no text")
	assert.True(t, web.MayBeSession(b[0], uint32(len(b))))
	assert.Empty(t, read(append(b, 0)))
	assert.Empty(t, read(b[:len(b)-1]))
	assert.False(t, web.MayBeSession(1, uint32(len(b))))
	assert.Empty(t, read(nil))
}
