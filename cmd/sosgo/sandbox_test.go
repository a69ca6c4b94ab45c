package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// sandboxChild makes this test the program that TestSandbox runs.
const sandboxChild = "SOSGO_TEST_SANDBOX"

// TestSandbox: with --sandbox commands answer as without, and afterwards the process
// can open no file and no socket.
func TestSandbox(t *testing.T) {
	if path := os.Getenv(sandboxChild); path != "" {
		code := cli.Main(t.Context(), []string{"--sandbox", "-d", path, "-c", "dumpheap -stat -jobs 4", "-c", "clrstack -all -a", "-c", "doctor | head 3",
			"-c", "lm", "-c", "version > " + filepath.Join(os.TempDir(), "sosgo-sandboxed")}, strings.NewReader(""), os.Stdout, os.Stderr, environment(nil))
		_, openErr := os.Open(path)
		_, dialErr := net.Dial("tcp", "127.0.0.1:9")
		fmt.Println("code", code, os.IsPermission(openErr), dialErr)
		syscall.Exit(0) // what the tests write at their end, coverage above all, needs files
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has it")
	}
	path := testdump.Open(t, "net10-zoo").Path
	child := exec.Command(os.Args[0], "-test.run=^TestSandbox$")
	child.Env = append(os.Environ(), sandboxChild+"="+path)
	var errs strings.Builder
	child.Stderr = &errs
	out, err := child.Output()
	require.NoError(t, err, errs.String())
	if strings.Contains(errs.String(), "seccomp filters") {
		assert.Contains(t, errs.String(), "--sandbox: ", "the kernel has none, and that is said")
		t.Skip(errs.String())
	}
	want, _, code := run(t, "-d", path, "-c", "dumpheap -stat -jobs 4", "-c", "clrstack -all -a", "-c", "doctor | head 3", "-c", "lm")
	require.Zero(t, code)
	got, verdict, found := strings.Cut(string(out), "code ")
	require.True(t, found)
	assert.Equal(t, want, got)
	assert.True(t, strings.HasPrefix(verdict, "1 true dial tcp 127.0.0.1:9: socket: operation not permitted"), verdict)
	assert.Contains(t, errs.String(), "with --sandbox no file is written", "the last command")
	assert.NoFileExists(t, filepath.Join(os.TempDir(), "sosgo-sandboxed"))
}
