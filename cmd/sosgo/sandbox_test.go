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
	"time"

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

// sandboxPrompt marks the process that reads lines in the sandbox.
const sandboxPrompt = "SOSGO_TEST_SANDBOX_PROMPT"

// TestSandboxPrompt types each command at the prompt of a sandbox, with each option and argument that names a file: one that is there, a device, an address,
// and a new one. Nothing is read or written, and no command hangs or ends the process.
func TestSandboxPrompt(t *testing.T) {
	if path := os.Getenv(sandboxPrompt); path != "" {
		code := cli.Main(t.Context(), []string{"--sandbox", "--offline", "-d", path}, os.Stdin, os.Stdout, os.Stdout, environment(nil))
		fmt.Println("all lines were read:", code)
		syscall.Exit(0)
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has it")
	}
	const secret = "the-words-of-another-file"
	dir := t.TempDir()
	canary, fresh := filepath.Join(dir, "canary.txt"), filepath.Join(dir, "new")
	require.NoError(t, os.WriteFile(canary, []byte(secret+"\n"), 0o600))
	var lines []string
	for _, command := range environment(nil).Commands {
		options, positional := command.Declares()
		line := command.Name
		for _, o := range options {
			if o.Required {
				line += " -" + o.Name + " 1"
			}
		}
		var files []string
		for _, file := range []string{canary, fresh, "/dev/zero", "http://127.0.0.1:1/x"} {
			words := line
			for _, a := range positional {
				switch {
				case a.Kind == cli.File:
					words += " " + file
					files = append(files, words)
				case !a.Optional:
					words += " " + append(a.Choices, "1")[0]
				}
			}
			for _, o := range options {
				if o.Kind == cli.File {
					files = append(files, words+" -"+o.Name+" "+file, line+" -"+o.Name+"="+file)
				}
			}
		}
		if command.Serves { // without -listen it would read the next lines
			files = []string{line + " -listen 127.0.0.1:0"}
		}
		lines = append(lines, files...)
	}
	lines = append(lines, "version > "+fresh, "version >> "+fresh, "version > "+canary, "version | tee "+fresh, "the-last-line")
	child := exec.Command(os.Args[0], "-test.run=^TestSandboxPrompt$")
	child.Env = append(os.Environ(), sandboxPrompt+"="+testdump.Open(t, "win-net10-zoo-triage").Path)
	child.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	child.WaitDelay = time.Minute
	out, err := child.CombinedOutput()
	require.NoError(t, err, "%s", out)
	if strings.Contains(string(out), "seccomp filters") {
		t.Skip(string(out))
	}
	assert.Greater(t, len(lines), 100)
	assert.Regexp(t, "(?s)the-last-line.*all lines were read: ", string(out))
	assert.NotContains(t, string(out), secret)
	assert.NotContains(t, string(out), "this is a bug of sosgo")
	content, err := os.ReadFile(canary)
	require.NoError(t, err)
	assert.Equal(t, secret+"\n", string(content))
	assert.NoFileExists(t, fresh)
}
