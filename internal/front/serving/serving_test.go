package serving_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/serving"
	"github.com/sosgo/sosgo/internal/test/strangers"
)

const bodyTime = 100 * time.Millisecond

// served starts a server that reads bodies of at most 10 bytes.
func served(t *testing.T, page bool) (door *serving.Door, address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address = l.Addr().String()
	door = &serving.Door{Port: address[strings.LastIndex(address, ":")+1:], Token: "right", Page: page, Name: "shop"}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		ended <- serving.HTTP(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case door.Foreign(r) != "":
				w.WriteHeader(http.StatusForbidden)
			case !door.Opens(r):
				w.WriteHeader(http.StatusUnauthorized)
			case r.URL.Path == "/unread":
			default:
				if _, err := io.ReadAll(r.Body); err != nil {
					w.WriteHeader(http.StatusRequestEntityTooLarge)
				}
				if r.URL.Path == "/long" {
					select {
					case <-r.Context().Done():
					case <-time.After(3 * bodyTime):
						w.WriteHeader(http.StatusAccepted)
					}
				}
			}
		}), serving.Limits{Strangers: serving.Strangers, Idle: 200 * time.Millisecond, Body: 10, BodyTime: bodyTime})
	}()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-ended)
	})
	return door, address
}

func ask(t *testing.T, address, body string, change func(*http.Request)) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer right")
	if change != nil {
		change(r)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(r)
	require.NoError(t, err)
	resp.Body.Close()
	return resp.StatusCode
}

// TestDoor checks the token, the Host, the Origin and the size of the body.
func TestDoor(t *testing.T) {
	for _, page := range []bool{false, true} {
		door, address := served(t, page)
		assert.Equal(t, http.StatusOK, ask(t, address, "0123456789", nil))
		assert.Equal(t, http.StatusRequestEntityTooLarge, ask(t, address, "0123456789a", nil))
		own := http.StatusForbidden
		if page {
			own = http.StatusOK
		}
		for _, c := range []struct {
			header, value string
			status        int
		}{
			{"Authorization", "", http.StatusUnauthorized}, {"Authorization", "Bearer ", http.StatusUnauthorized}, {"Authorization", "Bearer wrong", http.StatusUnauthorized},
			{"Origin", "http://evil.example", http.StatusForbidden}, {"Origin", "null", http.StatusForbidden}, {"Origin", "http://" + address, own},
			{"Host", "evil.example:" + door.Port, http.StatusForbidden}, {"Host", "evil.example", http.StatusForbidden}, {"Host", "localhost:1", http.StatusForbidden}, {"Host", "", http.StatusOK},
			{"Host", "LOCALHOST:" + door.Port, http.StatusOK}, {"Host", "shop:" + door.Port, http.StatusOK}, {"Host", "[::1]:" + door.Port, http.StatusOK},
		} {
			assert.Equal(t, c.status, ask(t, address, "", func(r *http.Request) {
				r.Header.Set(c.header, c.value)
				if c.header == "Host" {
					r.Host = c.value
				}
			}), c)
		}
	}
}

// TestSlowBody: a client that sends half of a body or none is disconnected, whether the body is read or not. An answer
// may take longer than a body.
func TestSlowBody(t *testing.T) {
	_, address := served(t, false)
	const token = "Authorization: Bearer right\r\n"
	for _, head := range []string{token, ""} {
		for _, path := range []string{"/", "/unread"} {
			for _, body := range []string{"Content-Length: 5\r\n\r\n", "Content-Length: 5\r\n\r\nx", "Transfer-Encoding: chunked\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n5\r\nx",
				"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n", "Connection: close\r\nContent-Length: 5\r\n\r\n"} {
				c, err := net.Dial("tcp", address)
				require.NoError(t, err)
				defer c.Close()
				require.NoError(t, c.SetReadDeadline(time.Now().Add(10*time.Second)))
				_, err = io.WriteString(c, "POST "+path+" HTTP/1.1\r\nHost: "+address+"\r\n"+head+body)
				require.NoError(t, err)
				text, err := io.ReadAll(c) // to the end of the connection
				require.NoError(t, err, "%s %s%s", path, head, body)
				assert.Contains(t, string(text), "HTTP/1.1 ", "%s %s%s", path, head, body)
			}
		}
	}
	assert.Equal(t, http.StatusAccepted, ask(t, address, "body", func(r *http.Request) { r.URL.Path = "/long" }))
}

// TestIdleStrangers: clients without the token lock nobody out, and idle connections end.
func TestIdleStrangers(t *testing.T) {
	_, address := served(t, false)
	atMost := strangers.Come(t, address, "GET / HTTP/1.1\r\nHost: "+address+"\r\n\r\n")
	assert.Equal(t, http.StatusOK, ask(t, address, "", nil))
	atMost(64)
}

// TestLimit: strangers close no trusted connection, only the oldest stranger, and a closed connection gives its place
// back.
func TestLimit(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := serving.Limit(inner, 2)
	defer l.Close()
	dial := func() (client, server net.Conn) {
		client, err := net.Dial("tcp", inner.Addr().String())
		require.NoError(t, err)
		t.Cleanup(func() { client.Close() })
		require.NoError(t, client.SetReadDeadline(time.Now().Add(10*time.Second)))
		server, err = l.Accept()
		require.NoError(t, err)
		return client, server
	}
	says := func(client, server net.Conn) {
		t.Helper()
		_, err := server.Write([]byte("x"))
		require.NoError(t, err)
		_, err = client.Read(make([]byte, 1))
		require.NoError(t, err)
	}
	owner, ownerSide := dial()
	serving.Trust(ownerSide)
	first, _ := dial()
	second, secondSide := dial()
	third, thirdSide := dial()
	_, err = first.Read(make([]byte, 1))
	require.Error(t, err, "the oldest stranger goes")
	says(second, secondSide)
	require.NoError(t, thirdSide.Close())
	_, err = third.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	fourth, fourthSide := dial()
	says(second, secondSide)
	says(fourth, fourthSide)
	says(owner, ownerSide)
}
