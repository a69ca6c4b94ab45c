package webui_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/webui"
)

var update = flag.Bool("update", false, "write the folder packed instead of comparing with it")

// packed returns text as a gzip file without a name or a time.
func packed(t *testing.T, text []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	require.NoError(t, err)
	_, err = w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// TestPacked compares the gzip files with the bundle. Another version of Go may pack the same text into other bytes, so
// the texts are compared.
func TestPacked(t *testing.T) {
	for _, name := range []string{"app.js", "app.css"} {
		text, err := os.ReadFile("bundle/" + name)
		require.NoError(t, err)
		if *update {
			require.Equal(t, packed(t, text), packed(t, text), "the same text gives the same bytes")
			require.NoError(t, os.WriteFile("packed/"+name+".gz", packed(t, text), 0o644))
			continue
		}
		b, err := os.ReadFile("packed/" + name + ".gz")
		require.NoError(t, err)
		r, err := gzip.NewReader(bytes.NewReader(b))
		require.NoError(t, err)
		assert.True(t, r.ModTime.IsZero())
		got, err := io.ReadAll(r)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(text, got), "packed/%s.gz is not made of bundle/%s: go generate ./internal/front/webui", name, name)
	}
}

// TestEncoding: a client that accepts gzip gets the packed files, and others the same text as it is.
func TestEncoding(t *testing.T) {
	withToken, origin := serve(t, echo, webui.Subject{File: "core.1"}, "127.0.0.1")
	bearer := "Bearer " + token(t, withToken)
	for _, name := range []string{"app.js", "app.css"} {
		text, err := os.ReadFile("bundle/" + name)
		require.NoError(t, err)
		zipped, err := os.ReadFile("packed/" + name + ".gz")
		require.NoError(t, err)
		for accepts, want := range map[string]string{
			"gzip": "gzip", "deflate, GZIP;q=0.5": "gzip", "br;q=1.0,gzip; q=1": "gzip",
			"identity": "", "gzip;q=0": "", "gzip;q=0.000, br": "", "gzip;q=x": "", "x-gzipped": "",
		} {
			resp, body := get(t, http.MethodGet, origin+"/"+name, "Authorization", bearer, "Accept-Encoding", accepts)
			assert.Equal(t, want, resp.Header.Get("Content-Encoding"), accepts)
			assert.Equal(t, "Accept-Encoding", resp.Header.Get("Vary"), accepts)
			expected := text
			if want != "" {
				expected = zipped
			}
			assert.True(t, string(expected) == body, "%s with %q", name, accepts)
			assert.EqualValues(t, len(expected), resp.ContentLength, accepts)
			resp, body = get(t, http.MethodHead, origin+"/"+name, "Authorization", bearer, "Accept-Encoding", accepts)
			assert.Equal(t, want, resp.Header.Get("Content-Encoding"), accepts)
			assert.Empty(t, body)
		}
	}
}
