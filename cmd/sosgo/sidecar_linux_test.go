package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestSidecar checks crash, stacks and a triage without heap of a 4 GB core with thousands of segments. They must
// need little memory besides the page cache, and give the same answers as the small core inside. docs/remote.md has
// the figures of whole heaps.
func TestSidecar(t *testing.T) {
	d := testdump.Open(t, "net10-crash-nested")
	raw, err := d.Raw()
	require.NoError(t, err)
	size := int64(testcase.Part(t, 4<<10, 4)) << 20
	const most = 64 << 20 // half of what a sidecar may have, since a binary of tests is larger than sosgo
	dir := t.TempDir()
	small, large := filepath.Join(dir, "small", "core"), filepath.Join(dir, "large", "core")
	require.NoError(t, os.Mkdir(filepath.Dir(small), 0o700))
	require.NoError(t, os.Mkdir(filepath.Dir(large), 0o700))
	require.NoError(t, os.WriteFile(small, raw, 0o600))
	require.NoError(t, synth.GrowELF(large, raw, size, 8192))
	var stat syscall.Stat_t
	require.NoError(t, syscall.Stat(large, &stat))
	require.Greater(t, stat.Size, size)
	if stat.Blocks*512 > 100<<20 {
		t.Skip("the file system has no holes")
	}
	for _, command := range []string{"crashinfo", "clrstack -all", "clrthreads", "triage -noheap"} {
		want, code, _ := inSidecar(t, small, command)
		got, codeOfLarge, peak := inSidecar(t, large, command)
		t.Logf("%s: %.1f MB", command, float64(peak)/(1<<20))
		// The large core has most of the memory that it lists, and the slice inside does not: the advice differs.
		want, _, _ = strings.Cut(want, "What would help:")
		got, _, _ = strings.Cut(got, "What would help:")
		assert.Equal(t, strings.ReplaceAll(want, small, large), got, command)
		assert.Equal(t, code, codeOfLarge, command)
		assert.Contains(t, []int{cli.ExitOK, cli.ExitGate}, code, command)
		assert.Less(t, peak, most, command)
	}
}

// inSidecar runs sosgo like a sidecar. It returns the output, the exit code and the highest private memory observed.
// On a busy machine the process may end before it is observed; it is then run again.
func inSidecar(t *testing.T, dump, command string) (out string, code, peak int) {
	for range 10 {
		if out, code, peak = observe(t, dump, command); peak > 0 {
			return out, code, peak
		}
	}
	require.Fail(t, "the process was never seen", command)
	return "", 0, 0
}

func observe(t *testing.T, dump, command string) (out string, code, peak int) {
	args, err := json.Marshal([]string{"--offline", "-d", dump, "-c", command})
	require.NoError(t, err)
	child := exec.Command(os.Args[0], "-test.run=^TestAsProgram$")
	child.Env = append(os.Environ(), argumentsVariable+"="+string(args), "GOMEMLIMIT=100MiB")
	var stdout bytes.Buffer
	child.Stdout = &stdout
	require.NoError(t, child.Start())
	ended := make(chan struct{})
	go func() { _ = child.Wait(); close(ended) }()
	for {
		select {
		case <-ended:
			return stdout.String(), child.ProcessState.ExitCode(), peak
		case <-time.After(time.Millisecond):
			peak = max(peak, anonymous(child.Process.Pid))
		}
	}
}

// anonymous returns a process's private memory in bytes, or 0 if it has ended.
func anonymous(pid int) int {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, after, _ := strings.Cut(string(b), "RssAnon:")
	digits, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	kb, _ := strconv.Atoi(digits)
	return kb << 10
}
