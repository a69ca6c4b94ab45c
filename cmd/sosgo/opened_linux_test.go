package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// argumentsVariable holds the arguments of a test binary that acts as sosgo.
const argumentsVariable = "SOSGO_TEST_ARGUMENTS"

// TestAsProgram is sosgo in a process started by another test.
func TestAsProgram(t *testing.T) {
	var args []string
	if text := os.Getenv(argumentsVariable); text == "" || json.Unmarshal([]byte(text), &args) != nil {
		t.Skip("no test asked for it")
	}
	os.Exit(cli.Main(t.Context(), args, strings.NewReader(""), os.Stdout, os.Stderr, environment(nil)))
}

// TestNothingIsOpenedThatADumpNames runs every command over dumps with modules and PDBs named like devices, pipes,
// kernel files, shares and URLs. None may be opened or contacted. If strace is installed, the test checks every
// opened file; otherwise the pipe and the server.
func TestNothingIsOpenedThatADumpNames(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every command under strace")
	}
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.pdb")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	opened := watchOpens(t, dir)
	server, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer server.Close()
	asked := make(chan string, 100)
	go func() {
		for c, err := server.Accept(); err == nil; c, err = server.Accept() {
			asked <- c.RemoteAddr().String()
			c.Close()
		}
	}()
	hostile := []string{"/proc/kmsg", "/dev/zero", "/proc/self/pagemap", pipe, `\\127.0.0.1\share\x.dll`, `//127.0.0.1/share/x.dll`, `/\127.0.0.1\x.dll`,
		`\??\UNC\127.0.0.1\share\x.dll`, "http://" + server.Addr().String() + "/x.dll", "file://127.0.0.1/x.dll", "../../../../../../proc/kmsg", "/dev/stdin", "/proc/self/fd/0"}
	for name, raw := range map[string][]byte{"minidump": hostileMinidump(hostile), "core": hostileCore(t, hostile)} {
		path := filepath.Join(dir, name+".dmp")
		require.NoError(t, os.WriteFile(path, raw, 0o600))
		for _, file := range runTraced(t, dir, path) {
			for _, h := range hostile {
				assert.False(t, filepath.Clean(file) == filepath.Clean(h) || strings.Contains(file, "127.0.0.1"), "%s: %s was opened", name, file)
			}
			assert.True(t, harmlessFile(file, dir), "%s: %s was opened", name, file)
		}
	}
	assert.Empty(t, asked, "a server that the dump names")
	assert.NotContains(t, opened(), "pipe.pdb")
}

// harmlessFile reports whether a file may be opened while reading a dump: system files of the Go runtime, files below
// dir, and the installation of .NET.
func harmlessFile(file, dir string) bool {
	return slices.ContainsFunc([]string{dir, "/sys/", "/proc/self/m", "/proc/self/cgroup", "/proc/meminfo", "/proc/stat", "/etc/", "/lib", "/usr/", "/dev/null", os.TempDir()},
		func(prefix string) bool { return strings.HasPrefix(file, prefix) })
}

// runTraced runs all commands without required arguments over a dump. It returns the opened files and contacted
// addresses, or nil without strace.
func runTraced(t *testing.T, dir, dump string) []string {
	args := []string{"-d", dump}
	for _, c := range commands.All() {
		if c.NeedsDump && !c.Hidden && !c.Serves && !slices.ContainsFunc(arguments(&c), func(a cli.Arg) bool { return !a.Optional }) && c.Name != "pack" && c.Name != "scrub" && c.Name != "shrink" {
			args = append(args, "-c", c.Name)
		}
	}
	args = append(args, "-c", "pack -o "+filepath.Join(dir, filepath.Base(dump)+".pack"), "-c", "clrstack -all -a", "-c", "modules -v", "-c", "doctor")
	list, err := json.Marshal(args)
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	line := []string{self, "-test.run=^TestAsProgram$"}
	trace := filepath.Join(dir, "trace")
	strace, missing := exec.LookPath("strace")
	if missing == nil {
		line = append([]string{strace, "-f", "-qq", "-s", "400", "-e", "trace=open,openat,connect,execve", "-o", trace}, line...)
	}
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = append(os.Environ(), argumentsVariable+"="+string(list), "HOME="+dir, "XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "DOTNET_ROOT=", "TMPDIR="+dir)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // commands fail, since the dump has no data for them
	require.Contains(t, stdout.String()+stderr.String(), "x.dll", "the dump was not read:\n%s", &stderr)
	if missing != nil {
		return nil
	}
	b, err := os.ReadFile(trace)
	require.NoError(t, err)
	var out []string
	for _, m := range regexp.MustCompile(`(?m)^\d+ +(openat|open|connect)\((.*)$`).FindAllStringSubmatch(string(b), -1) {
		if name := regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`).FindStringSubmatch(m[2]); m[1] != "connect" && name != nil {
			out = append(out, name[1])
			continue
		}
		out = append(out, m[2])
	}
	require.NotEmpty(t, out)
	require.Equal(t, 1, strings.Count(string(b), "execve("), "no other program is run")
	return out
}

// hostileMinidump returns a minidump with modules and PDBs of those names.
func hostileMinidump(names []string) []byte {
	d := synth.NewMinidump()
	d.SystemInfo(synth.MinidumpAMD64)
	var modules []synth.MinidumpModule
	for i, n := range names {
		modules = append(modules, synth.MinidumpModule{Base: 0x10000 * uint64(i+1), Size: 0x1000, Path: n, CodeView: synth.CodeViewRSDS([16]byte{byte(i)}, 1, n)})
	}
	d.Modules(modules...)
	d.Memory(synth.MinidumpRange{Addr: 0x10000, Data: []byte("memory!\n")})
	return d.Bytes()
}

// hostileCore returns a canned core with renamed modules, both in the notes and in the runtime's memory.
func hostileCore(t *testing.T, names []string) []byte {
	d := testdump.Open(t, "net8-zoo")
	raw, err := d.Raw()
	require.NoError(t, err)
	renamed := 0
	for i, m := range d.Target().Modules() {
		h := names[i%len(names)]
		if len(h) > len(m.Path) || m.Path[0] != '/' || strings.HasSuffix(m.Path, "libcoreclr.so") {
			continue
		}
		// Doubled slashes pad the name to its original length.
		at := max(1, strings.LastIndexAny(h, `/\`))
		long := h[:at] + strings.Repeat(h[at:at+1], len(m.Path)-len(h)) + h[at:]
		raw = bytes.ReplaceAll(raw, []byte(m.Path+"\x00"), []byte(long+"\x00"))
		raw = bytes.ReplaceAll(raw, wide(m.Path), wide(long))
		renamed++
	}
	require.Greater(t, renamed, 5)
	return raw
}

func wide(s string) (b []byte) {
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

// watchOpens watches a folder. The returned function lists the files opened in it since.
func watchOpens(t *testing.T, dir string) func() []string {
	fd, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	require.NoError(t, err)
	t.Cleanup(func() { syscall.Close(fd) })
	_, err = syscall.InotifyAddWatch(fd, dir, syscall.IN_OPEN)
	require.NoError(t, err)
	return func() (names []string) {
		buf := make([]byte, 1<<20)
		n, err := syscall.Read(fd, buf)
		require.NoError(t, err, fmt.Sprint("inotify: ", n))
		for b := buf[:n]; len(b) >= syscall.SizeofInotifyEvent; {
			size := int(binary.NativeEndian.Uint32(b[12:]))
			names = append(names, strings.TrimRight(string(b[16:16+size]), "\x00"))
			b = b[16+size:]
		}
		require.Contains(t, names, "core.dmp", "the watch works")
		return names
	}
}

// arguments returns the arguments that a command declares.
func arguments(c *cli.Command) []cli.Arg {
	_, args := c.Declares()
	return args
}
