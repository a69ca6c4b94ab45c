package sandbox_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/sandbox"
	"github.com/sosgo/sosgo/target"
)

// child is the variable that makes a copy of the test program enter the sandbox.
const child = "SOSGO_TEST_SANDBOX"

func TestMain(m *testing.M) {
	if os.Getenv(child) == "" {
		os.Exit(m.Run())
	}
	inside()
}

// inside checks forbidden and allowed operations in a sandbox, and prints unexpected results.
func inside() {
	open, err := os.Open(os.Args[0])
	if err != nil {
		fmt.Println("before:", err)
	}
	before := make(chan error)
	start := make(chan bool)
	go func() { // on an existing thread
		runtime.LockOSThread()
		before <- nil
		<-start
		_, err := os.Open("/etc/passwd")
		before <- err
	}()
	<-before
	if err := sandbox.Enter(); err != nil {
		fmt.Println("unsupported:", errors.Is(err, target.ErrUnsupported), err)
		os.Exit(0)
	}
	close(start)
	forbidden := map[string]func() error{
		"an old thread opens": func() error { return <-before },
		"open":                func() error { _, err := os.Open("/etc/passwd"); return err },
		"open itself":         func() error { _, err := os.Open(os.Args[0]); return err },
		"create":              func() error { return os.WriteFile(os.TempDir()+"/sosgo-sandbox-test", nil, 0o600) },
		"remove":              func() error { return os.Remove("/nonexistent") },
		"rename":              func() error { return os.Rename("/nonexistent", "/x") },
		"list":                func() error { _, err := os.ReadDir("/"); return err },
		"connect":             func() error { _, err := net.Dial("tcp", "127.0.0.1:9"); return err },
		"send":                func() error { _, err := net.Dial("udp", "127.0.0.1:9"); return err },
		"listen":              func() error { _, err := net.Listen("tcp", "127.0.0.1:0"); return err },
		"local socket":        func() error { _, err := net.Listen("unix", "@sosgo-sandbox-test"); return err },
		"run":                 func() error { return exec.Command("/bin/true").Run() },
	}
	for name, try := range arguments(false) {
		forbidden[name] = try
	}
	for name, try := range arguments(true) {
		if err := try(); errors.Is(err, fs.ErrPermission) {
			fmt.Println(name+":", err)
		}
	}
	for name, try := range forbidden {
		if err := try(); !errors.Is(err, fs.ErrPermission) {
			fmt.Println(name+":", err)
		}
	}
	var wg sync.WaitGroup
	for range 50 { // threads, memory and open files
		wg.Go(func() {
			runtime.LockOSThread()
			b := make([]byte, 4<<20)
			if n, err := open.ReadAt(b[:4096], 0); n != 4096 {
				fmt.Println("read:", n, err)
			}
		})
	}
	wg.Wait()
	runtime.GC()
	fmt.Println("done")
	syscall.Exit(0) // the normal end of tests writes files, such as coverage
}

// TestOthersLive checks that a sandboxed process cannot kill another process.
func TestOthersLive(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has it")
	}
	victim := exec.Command("sleep", "60")
	require.NoError(t, victim.Start())
	ended := make(chan error, 1)
	go func() { ended <- victim.Wait() }()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), child+"=1", fmt.Sprintf("%s_VICTIM=%d", child, victim.Process.Pid))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	select {
	case <-ended:
		t.Error("the other process is dead")
	case <-time.After(50 * time.Millisecond):
	}
	require.NoError(t, victim.Process.Kill())
}

// TestEnter checks that no thread can open, contact or run anything in the sandbox, and that open files, memory and
// threads work.
func TestEnter(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		assert.ErrorIs(t, sandbox.Enter(), target.ErrUnsupported)
		return
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	if strings.HasPrefix(string(out), "unsupported: true") {
		t.Skip(string(out))
	}
	assert.Equal(t, "done\n", string(out))
}
