package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/exportread"
)

// do returns the status and the body of an answer.
func do(h http.Handler, method, path string, body io.Reader) (int, []byte) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, body))
	return w.Code, w.Body.Bytes()
}

// post sends a dump of this repository.
func post(t *testing.T, h http.Handler, name string) (code int, c crash) {
	f, err := os.Open("../../../testdata/dumps/" + name + "/" + name + ".dmp.zst")
	require.NoError(t, err)
	defer f.Close()
	code, body := do(h, "POST", "/", f)
	if code == http.StatusOK {
		require.NoError(t, json.Unmarshal(body, &c))
	}
	return code, c
}

func TestCounts(t *testing.T) {
	h := newService()
	_, one := post(t, h, "net10-crash-nested")
	_, other := post(t, h, "net10-crash-null-triage")
	_, again := post(t, h, "net10-crash-nested")
	assert.Equal(t, 1, one.Count)
	assert.Equal(t, 1, other.Count)
	assert.Equal(t, 2, again.Count)
	assert.Len(t, one.First.Signature, 16)
	assert.Equal(t, one.First.Signature, again.First.Signature)
	assert.NotEqual(t, one.First.Signature, other.First.Signature)

	code, file := do(h, "GET", "/"+one.First.Signature, nil)
	require.Equal(t, http.StatusOK, code, "%s", file)
	rows := exportread.ReadParquet(t, file).Rows
	require.Len(t, rows, 1)
	assert.Equal(t, one.First.Signature, rows[0]["signature"])
	assert.Equal(t, "Debuggee.Crash.OrderException", rows[0]["exception"])
	assert.Equal(t, `{"count":"2"}`, rows[0]["labels"])
}

func TestRefuses(t *testing.T) {
	h := newService()
	code, _ := post(t, h, "net10-zoo") // did not crash
	assert.Equal(t, http.StatusUnprocessableEntity, code)
	code, _ = do(h, "POST", "/", strings.NewReader("no dump"))
	assert.Equal(t, http.StatusUnprocessableEntity, code)
	code, _ = do(h, "GET", "/0123456789abcdef", nil)
	assert.Equal(t, http.StatusNotFound, code)
}

func Example() {
	f, err := os.Open("../../../testdata/dumps/net10-crash-nested/net10-crash-nested.dmp.zst")
	if err != nil {
		panic(err)
	}
	defer f.Close()
	var c crash
	_, body := do(newService(), "POST", "/", f)
	fmt.Println(json.Unmarshal(body, &c), c.Count, c.First.Exception)
	// Output: <nil> 1 Debuggee.Crash.OrderException
}
