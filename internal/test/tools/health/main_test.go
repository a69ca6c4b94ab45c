package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const passing = `{"Action":"attr","Package":"github.com/sosgo/sosgo/heap","Test":"TestA/one","Key":"case","Value":"one"}
{"Action":"pass","Package":"github.com/sosgo/sosgo/heap","Test":"TestA/one"}
{"Action":"attr","Package":"github.com/sosgo/sosgo/heap","Test":"TestA/two","Key":"case","Value":"two"}
{"Action":"output","Package":"github.com/sosgo/sosgo/heap","Test":"TestA/two","Output":"    a_test.go:12: the oracle has nothing\n"}
{"Action":"output","Package":"github.com/sosgo/sosgo/heap","Test":"TestA/two","Output":"--- SKIP: TestA/two (0.00s)\n"}
{"Action":"skip","Package":"github.com/sosgo/sosgo/heap","Test":"TestA/two"}
{"Action":"pass","Package":"github.com/sosgo/sosgo/heap","Test":"TestA"}
{"Action":"output","Package":"github.com/sosgo/sosgo/heap","Output":"ok  \tgithub.com/sosgo/sosgo/heap\t1s\n"}
{"Action":"pass","Package":"github.com/sosgo/sosgo/heap"}
`

func judge(t *testing.T, input, file string, write bool) (bool, string) {
	t.Helper()
	var out bytes.Buffer
	r, err := read(strings.NewReader(input), &out)
	require.NoError(t, err)
	return r.judge(&out, file, true, write), out.String()
}

func TestTable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "HEALTH.md")
	ok, out := judge(t, passing, file, false)
	require.False(t, ok, "there is no table yet")
	require.Contains(t, out, "ok  \tgithub.com/sosgo/sosgo/heap")

	ok, _ = judge(t, passing, file, true)
	require.True(t, ok)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "\n| heap.TestA | 1 | the oracle has nothing: two |\n")

	ok, _ = judge(t, passing, file, false)
	require.True(t, ok)
	ok, _ = judge(t, strings.Replace(passing, `"skip"`, `"pass"`, 1), file, false)
	require.True(t, ok, "more cases than before")
	ok, out = judge(t, strings.Replace(passing, `"pass"`, `"skip"`, 1), file, false)
	require.False(t, ok, "fewer cases than before")
	require.Contains(t, out, "heap.TestA passed on 0 cases, and on 1 in "+file)
	ok, out = judge(t, strings.ReplaceAll(passing, "TestA", "TestB"), file, false)
	require.False(t, ok, "another test")
	require.Contains(t, out, "heap.TestB is not in "+file)
}

func TestFailures(t *testing.T) {
	file := filepath.Join(t.TempDir(), "HEALTH.md")
	ok, out := judge(t, `{"Action":"output","Package":"p","Test":"TestA","Output":"what failed\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p"}
`, file, true)
	require.False(t, ok)
	require.Contains(t, out, "what failed")

	ok, out = judge(t, `{"Action":"attr","Package":"p","Test":"TestA","Key":"no-corpus","Value":"true"}
{"Action":"skip","Package":"p","Test":"TestA"}
`, file, true)
	require.False(t, ok)
	require.Contains(t, out, "p TestA was skipped for want of a corpus")
}
