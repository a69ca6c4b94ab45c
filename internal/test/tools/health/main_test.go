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

func judge(t *testing.T, input, dir string, raise bool) (bool, string) {
	t.Helper()
	var out bytes.Buffer
	r, err := read(strings.NewReader(input), &out)
	require.NoError(t, err)
	o := options{floors: filepath.Join(dir, "cases"), report: filepath.Join(dir, "HEALTH.md"), corpus: true, raise: raise}
	return r.judge(&out, o), out.String()
}

func TestFloors(t *testing.T) {
	dir := t.TempDir()
	ok, out := judge(t, passing, dir, false)
	require.False(t, ok, "there are no floors yet")
	require.Contains(t, out, "ok  \tgithub.com/sosgo/sosgo/heap")

	ok, _ = judge(t, passing, dir, true)
	require.True(t, ok)
	text, err := os.ReadFile(filepath.Join(dir, "cases"))
	require.NoError(t, err)
	require.Contains(t, string(text), "\nheap.TestA 1\n")
	text, err = os.ReadFile(filepath.Join(dir, "HEALTH.md"))
	require.NoError(t, err)
	require.Contains(t, string(text), "\n| heap.TestA | 1 | the oracle has nothing: two |\n")

	ok, _ = judge(t, passing, dir, false)
	require.True(t, ok)
	ok, _ = judge(t, strings.Replace(passing, `"skip"`, `"pass"`, 1), dir, false)
	require.True(t, ok, "more dumps than before")
	ok, out = judge(t, strings.Replace(passing, `"pass"`, `"skip"`, 1), dir, false)
	require.False(t, ok, "fewer dumps than before")
	require.Contains(t, out, "heap.TestA passed on 0 dumps; its floor in "+filepath.Join(dir, "cases")+" is 1")
	ok, out = judge(t, strings.ReplaceAll(passing, "TestA", "TestB"), dir, false)
	require.False(t, ok, "another test")
	require.Contains(t, out, "heap.TestB has no floor in "+filepath.Join(dir, "cases"))
}

func TestFailures(t *testing.T) {
	ok, out := judge(t, `{"Action":"output","Package":"p","Test":"TestA","Output":"what failed\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"output","Package":"q","Output":"ok  \tq\t1s\n"}
{"Action":"fail","Package":"p"}
`, t.TempDir(), true)
	require.False(t, ok)
	require.Regexp(t, `(?s)what failed.*ok  \tq.*p TestA failed:\nwhat failed`, out)

	ok, out = judge(t, `{"Action":"attr","Package":"p","Test":"TestA","Key":"no-corpus","Value":"true"}
{"Action":"skip","Package":"p","Test":"TestA"}
`, t.TempDir(), true)
	require.False(t, ok)
	require.Contains(t, out, "p TestA was skipped for lack of a corpus")
}
