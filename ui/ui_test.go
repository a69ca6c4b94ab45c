package ui_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/ui"
)

// Mount the page of a dump in a server below a prefix.
func ExampleHandler() {
	d, err := sosgo.Open(filepath.Join("..", "testdata", "dumps", "net10-zoo", "net10-zoo.dmp.zst"), sosgo.Options{Offline: true})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	mux := http.NewServeMux()
	mux.Handle("/dumps/17/", http.StripPrefix("/dumps/17", ui.Handler(d, ui.Options{Name: "incident 17"})))

	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/dumps/17/api/threads?count=1", nil))
	fmt.Println(w.Code, w.Header().Get("Content-Type"))
	// Output: 200 application/json
}

// Write the page of a dump as one file, without the secrets of its process.
func ExampleReport() {
	d, err := sosgo.Open(filepath.Join("..", "testdata", "dumps", "net10-zoo", "net10-zoo.dmp.zst"), sosgo.Options{Offline: true})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	var page strings.Builder
	if err := ui.Report(context.Background(), &page, d, ui.ReportOptions{}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.HasPrefix(page.String(), "<!doctype html>"), strings.Contains(page.String(), "Debuggee.Zoo.Dog"))
	// Output: true true
}

// TestHandler serves the page, its files and documents below a prefix, and changes nothing.
func TestHandler(t *testing.T) {
	c := testdump.Open(t, "net10-zoo")
	server := httptest.NewServer(http.StripPrefix("/dump", ui.Handler(c.Dump, ui.Options{})))
	defer server.Close()
	get := func(path string) (int, string) {
		r, err := http.Get(server.URL + "/dump" + path)
		require.NoError(t, err)
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		return r.StatusCode, string(body)
	}
	status, page := get("/")
	assert.Equal(t, http.StatusOK, status)
	assert.NotContains(t, page, `="/`, "addresses are relative")
	for _, path := range []string{"/app.js", "/app.css", "/subject.json"} {
		status, _ := get(path)
		assert.Equal(t, http.StatusOK, status, path)
	}
	_, document := get("/api/dumpheap?a=-stat")
	var v map[string]any
	require.NoError(t, json.Unmarshal([]byte(document), &v))
	assert.NotContains(t, v, "error")
	_, refused := get("/api/pack?a=-o&a=" + filepath.Join(t.TempDir(), "x"))
	assert.Contains(t, refused, `"kind":"usage"`)
	r, err := http.Post(server.URL+"/dump/line", "text/plain", strings.NewReader(""))
	require.NoError(t, err)
	r.Body.Close()
	assert.Equal(t, http.StatusMethodNotAllowed, r.StatusCode)
}
