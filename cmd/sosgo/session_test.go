package main

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

var sessionCommands = flag.Int("session", 400, "how many commands TestLongSession runs")

// A script gives one line a time, n in all, and looks at the process after the
// first third and at the end.
type script struct {
	lines       []string
	i, n        int
	early, late usage
}

// usage is what the process has.
type usage struct {
	heap              uint64 // bytes after a collection
	files, goroutines int
}

func measure() usage {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := usage{heap: m.HeapAlloc, goroutines: runtime.NumGoroutine()}
	if list, err := os.ReadDir("/proc/self/fd"); err == nil { // elsewhere files are not counted
		u.files = len(list)
	}
	return u
}

func (s *script) Read(p []byte) (int, error) {
	switch s.i {
	case s.n / 3:
		s.early = measure()
	case s.n:
		s.late = measure()
		return 0, io.EOF
	}
	s.i++
	return copy(p, s.lines[s.i%len(s.lines)]+"\n"), nil
}

// TestLongSession: memory, descriptors and goroutines of a session do not grow with
// the number of its commands. go test ./cmd/sosgo -run TestLongSession -session 10000
func TestLongSession(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	names := namesOf(t, d)
	out := filepath.Join(t.TempDir(), "out")
	var lines []string
	for _, l := range []string{"dumpheap -stat", "dumpheap -type Dog", "dumpobj {root.Dog}", "dumpobj 10", "clrstack -all", "clrstack -a", "dso",
		"dumpmt -md {type Debuggee.Zoo.Dog}", "name2ee *!Debuggee.Zoo.Dog", "gcheapstat", "eeheap -gc", "gchandles -stat", "syncblk", "pe -nested",
		"nosuch", "dumpheap -stat -type nothing", "clrthreads | grep MTA | wc -l", "threads > " + out, "dumpheap -stat > " + out, "dumpobj >> " + out,
		"~*e r rip", "k; bt; !do {root.Dog}", "d {root.Dog}", "dumpil {md}", "clru {md}", "modules", "setthread 8", "dumpheap -strings -stat | head 3",
		"dumpobj {root.Dog} -json", "crashinfo", "doctor", "verifyheap", "setthread 0"} {
		line, ok := fillIn(l, names)
		require.True(t, ok, l)
		lines = append(lines, line)
	}
	s := &script{lines: lines, n: *sessionCommands}
	require.Greater(t, s.n, 6*len(lines), "each command has to run before and after the first look")
	code := cli.Main(t.Context(), []string{"-d", d.Path}, s, io.Discard, io.Discard, environment(nil))
	assert.Equal(t, cli.ExitUsage, code, "the first failure is dumpobj 10")
	t.Logf("after %d commands %+v, after %d %+v", s.n/3, s.early, s.n, s.late)
	const slack = 2 << 20 // what the collector leaves differs a little
	assert.Less(t, s.late.heap, s.early.heap+slack, "bytes")
	assert.Equal(t, s.early.files, s.late.files, "descriptors")
	assert.LessOrEqual(t, s.late.goroutines, s.early.goroutines+1)
	left, err := os.ReadDir(filepath.Dir(out))
	require.NoError(t, err)
	assert.Len(t, left, 1)
	assert.True(t, strings.HasSuffix(out, left[0].Name()))
}
