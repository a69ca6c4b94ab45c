//go:build linux

package collect

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/internal/live/diagport"
	"github.com/sosgo/sosgo/internal/live/processes"
	"github.com/sosgo/sosgo/target"
)

// inner is the id of the fake process in its own namespace.
const inner = 7

// A fakeRuntime is a runtime with a diagnostics port in a file system of its own. The test's process listens at its
// port, so it has the id of this process.
type fakeRuntime struct {
	proc, root string
	write      func(file string) (code uint32, text string) // answers a request for a dump of file, a path of the test
	asked      int
	old        bool // it is .NET Core 3.1, which knows one command
}

// start starts a runtime.
func start(t *testing.T, r *fakeRuntime) *processes.Process {
	t.Helper()
	r.proc, r.root = t.TempDir(), t.TempDir()
	put := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o755))
	}
	at := filepath.Join(r.proc, fmt.Sprint(os.Getpid()))
	u := os.Getuid()
	put(at+"/status", fmt.Sprintf("Name:\tapp\nUid:\t%d\t%d\t%d\t%d\nNSpid:\t%d\t%d\n", u, u, u, u, os.Getpid(), inner))
	put(at+"/stat", fmt.Sprintf("%d (app) S 1 %s 5 54 0\n", os.Getpid(), strings.Repeat("0 ", 17)))
	put(at+"/cmdline", "/app/shop\x00")
	put(at+"/environ", "\x00")
	put(at+"/maps", "00001000-00003000 rw-p 00000000 00:00 0\n00009000-0000a000 r-xp 00000000 08:01 6          /app/libcoreclr.so\n")
	require.NoError(t, os.MkdirAll(at+"/ns", 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(r.proc, "self/ns"), 0o755))
	require.NoError(t, os.Symlink("mnt:[2]", at+"/ns/mnt"))
	require.NoError(t, os.Symlink("mnt:[1]", filepath.Join(r.proc, "self/ns/mnt")))
	require.NoError(t, os.Symlink(r.root, at+"/root"))
	put(filepath.Join(r.root, "app/createdump"), "")
	require.NoError(t, os.Mkdir(filepath.Join(r.root, "tmp"), 0o777))
	l, err := net.Listen("unix", filepath.Join(r.root, "tmp", fmt.Sprintf("dotnet-diagnostic-%d-5-socket", inner)))
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go r.serve(l)
	list, err := (&processes.System{Proc: r.proc, User: uint32(u)}).List()
	require.NoError(t, err)
	require.Len(t, list.Processes, 1)
	return &list.Processes[0]
}

// serve answers as the published protocol says.
func (r *fakeRuntime) serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		header := make([]byte, 20)
		if _, err := io.ReadFull(conn, header); err != nil {
			_ = conn.Close()
			continue
		}
		payload := make([]byte, binary.LittleEndian.Uint16(header[14:])-20)
		_, _ = io.ReadFull(conn, payload)
		_, _ = conn.Write(r.reply(header[16:18], payload)) // the client may be gone
		_ = conn.Close()
	}
}

func (r *fakeRuntime) reply(command, payload []byte) []byte {
	var body []byte
	code := uint32(0)
	switch name := string(command); {
	case r.old && name != "\x01\x01":
		code, body = diagport.CodeUnknownCommand, binary.LittleEndian.AppendUint32(nil, diagport.CodeUnknownCommand)
	case name == "\x04\x08":
		body = binary.LittleEndian.AppendUint64([]byte{1, 0, 0, 0}, inner)
		body = append(body, make([]byte, 16)...)
		for _, s := range []string{"/app/shop", "Linux", "x64", "shop", "8.0.1", "linux-x64"} {
			body = appendText(body, s)
		}
	case name == "\x01\x03", r.old:
		r.asked++
		n := binary.LittleEndian.Uint32(payload)
		inside := utf16text.String(payload[4 : 4+2*(n-1)])
		var text string
		if code, text = r.write(filepath.Join(r.root, inside)); code == hangUp {
			return nil
		}
		body = binary.LittleEndian.AppendUint32(nil, code)
		if text != "" {
			body = appendText(body, text)
		}
	}
	m := append([]byte("DOTNET_IPC_V1\x00"), 0, 0, 0xff, 0, 0, 0)
	if code != 0 {
		m[17] = 0xff
	}
	binary.LittleEndian.PutUint16(m[14:], uint16(20+len(body)))
	return append(m, body...)
}

// hangUp is a code for which the fake runtime sends nothing.
const hangUp = 1

func appendText(b []byte, s string) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s)+1))
	for _, c := range s + "\x00" {
		b = append(b, byte(c), 0)
	}
	return b
}

const failed = 0x80004005

// writes is a runtime's function that writes a dump.
func writes(text string) func(string) (uint32, string) {
	return func(file string) (uint32, string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return failed, err.Error()
		}
		return 0, ""
	}
}

// left lists the files of the runtime that are left in its folder, and of the dump's folder.
func left(t *testing.T, dirs ...string) (out []string) {
	t.Helper()
	for _, dir := range dirs {
		names, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, n := range names {
			if !strings.HasSuffix(n.Name(), "-socket") {
				out = append(out, n.Name())
			}
		}
	}
	return out
}

// TestDump takes a dump of a process with a file system of its own.
func TestDump(t *testing.T) {
	r := &fakeRuntime{write: writes("dump")}
	p, dir := start(t, r), t.TempDir()
	out := filepath.Join(dir, "out.dmp")
	var verified string
	var shown uint64
	a, err := Dump(t.Context(), p, Options{Kind: "heap", Out: out, Progress: func(done, _ uint64) { shown = done },
		Verify: func(_ context.Context, f *os.File) (answer.CollectedCheck, error) {
			b, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<20))
			verified = string(b)
			return answer.CollectedCheck{Threads: 3}, err
		}})
	require.NoError(t, err)
	assert.Equal(t, []any{out, "", int64(4), uint64(0x3000 + 0x60 + 1<<20), true, 3, "8.0.1", "dump", uint64(4)},
		[]any{a.File, a.Inside, a.Size, a.Estimate, a.Copied, a.Checked.Threads, a.Process.Runtime, verified, shown})
	st, err := os.Stat(out)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), st.Mode())
	assert.Equal(t, []string{"out.dmp"}, left(t, dir, filepath.Join(r.root, "tmp")))

	a, err = Dump(t.Context(), p, Options{Kind: "mini", Leave: true})
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.Base(a.File)}, left(t, filepath.Join(r.root, "tmp")))
	assert.Equal(t, "/tmp/"+filepath.Base(a.File), a.Inside)
	b, err := os.ReadFile(a.File)
	require.NoError(t, err)
	assert.Equal(t, "dump", string(b))
}

// TestOldRuntime takes a dump of a runtime that knows no command but the first one for dumps.
func TestOldRuntime(t *testing.T) {
	r := &fakeRuntime{write: writes("dump"), old: true}
	p, dir := start(t, r), t.TempDir()
	a, err := Dump(t.Context(), p, Options{Kind: "heap", Out: filepath.Join(dir, "out.dmp")})
	require.NoError(t, err)
	assert.Equal(t, []any{1, true, "", "", "shop"}, []any{r.asked, a.Process.Answers, a.Process.Runtime, a.Process.Platform, a.Process.Name})
}

// TestLeftovers: dumps of commands that were killed are removed once they are old. All other files stay.
func TestLeftovers(t *testing.T) {
	r := &fakeRuntime{write: writes("dump")}
	p := start(t, r)
	tmp := filepath.Join(r.root, "tmp")
	const old = ".sosgo-9-ABCDEFGHIJ234567.dmp"
	put := func(name string, age time.Duration) string {
		at := filepath.Join(tmp, name)
		require.NoError(t, os.WriteFile(at, []byte("half"), 0o600))
		require.NoError(t, os.Chtimes(at, time.Time{}, time.Now().Add(-age)))
		return name
	}
	put(old, 2*time.Hour)
	stay := []string{put(".sosgo-9-ABCDEFGHIJ234560.dmp", 2*time.Hour), // no name of ours
		put(".sosgo-9-ABCDEFGHIJ23456A.dmp", time.Minute), put("core.9", 2*time.Hour), put(".sosgo-9-BBCDEFGHIJ234567.dmp", 2*time.Hour)}
	require.NoError(t, os.Link(filepath.Join(tmp, stay[3]), filepath.Join(tmp, "kept"))) // somebody has it
	link := ".sosgo-9-CBCDEFGHIJ234567.dmp"
	require.NoError(t, os.Symlink("core.9", filepath.Join(tmp, link)))
	out := filepath.Join(t.TempDir(), "out.dmp")
	a, err := Dump(t.Context(), p, Options{Kind: "heap", Out: out})
	require.NoError(t, err)
	require.Len(t, a.Removed, 1)
	assert.Equal(t, old, filepath.Base(a.Removed[0]))
	assert.ElementsMatch(t, append(stay, "kept", link), left(t, tmp))
	assert.Regexp(t, isPart(), partName(7))
}

// TestFailures: each failure says what to do, and leaves nothing behind.
func TestFailures(t *testing.T) {
	notDump := func(context.Context, *os.File) (answer.CollectedCheck, error) {
		return answer.CollectedCheck{}, target.Corruptf("not a dump")
	}
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o600))
	for name, c := range map[string]struct {
		write  func(string) (uint32, string)
		o      Options
		before func(r *fakeRuntime)
		text   string
		next   string
		code   error
		asked  bool
	}{
		"no space":        {write: partly(failed, "[createdump] write: No space left on device (28)"), text: "No space left on device (28)", next: "larger disk", asked: true},
		"seccomp":         {write: partly(failed, "[createdump] ptrace(ATTACH) FAILED Operation not permitted (1)"), text: "not permitted", next: "SYS_PTRACE", asked: true},
		"single file":     {write: partly(failed, "[createdump] Only full dumps are supported by single file apps."), text: "Only full dumps", next: "-type full", asked: true},
		"no library":      {write: partly(failed, "Error loading shared library libstdc++.so.6: No such file or directory"), text: "libstdc++", next: "apk add", asked: true},
		"no reason":       {write: partly(failed, ""), text: "error 0x80004005 without a reason", next: "gcore", asked: true},
		"not supported":   {write: func(string) (uint32, string) { return 0x80131515, "" }, text: "can't write dumps of itself", next: "gcore", code: target.ErrUnsupported, asked: true},
		"dies":            {write: partly(hangUp, ""), text: "closed the connection", next: "gcore", asked: true},
		"nothing written": {write: func(string) (uint32, string) { return 0, "" }, text: "wrote no file", next: "seccomp", asked: true},
		"a single file of .NET 8": {before: func(r *fakeRuntime) {
			at, program := filepath.Join(r.proc, fmt.Sprint(os.Getpid())), filepath.Join(r.root, "single")
			_ = os.WriteFile(at+"/maps", []byte("00001000-00003000 rw-p 00000000 00:00 0\n"), 0o600)
			_ = os.WriteFile(program, []byte("…[createdump] Only full dumps …"), 0o755)
			_ = os.Symlink(program, at+"/exe")
		}, text: "only as a full dump", next: "-type full", code: target.ErrUnsupported},
		"a single file with its library beside it": {write: partly(failed, ""), before: func(r *fakeRuntime) {
			at, program := filepath.Join(r.proc, fmt.Sprint(os.Getpid())), filepath.Join(r.root, "single")
			_ = os.WriteFile(at+"/maps", []byte("00001000-00003000 rw-p 00000000 00:00 0\n"), 0o600)
			_ = os.WriteFile(program, []byte("…[createdump] Only full dumps …"), 0o755)
			seen := "/proc/self/root" + r.root // the same folder, in another place of the process's own root
			_ = os.MkdirAll(filepath.Join(r.root, seen), 0o755)
			_ = os.WriteFile(filepath.Join(r.root, seen, dacName), nil, 0o644)
			_ = os.Symlink(filepath.Join(seen, "single"), at+"/exe")
		}, text: "error 0x80004005 without a reason", next: "gcore", asked: true},
		"a link":          {write: func(f string) (uint32, string) { _ = os.Symlink(secret, f); return 0, "" }, text: "neither a file nor a folder", asked: true},
		"two names":       {write: func(f string) (uint32, string) { _ = os.Link(secret, f); return 0, "" }, text: "not a file that the process alone has made", asked: true},
		"a pipe":          {write: func(f string) (uint32, string) { _ = syscall.Mkfifo(f, 0o600); return 0, "" }, text: "neither a file nor a folder", asked: true},
		"not a dump":      {write: writes("nonsense"), o: Options{Verify: notDump}, text: "its dump is not whole: not a dump", next: "memory limit", code: target.ErrCorrupt, asked: true},
		"late":            {write: func(string) (uint32, string) { time.Sleep(300 * time.Millisecond); return 0, "" }, o: Options{Timeout: 50 * time.Millisecond}, text: "not complete after 50ms", next: "-timeout", asked: true},
		"no createdump":   {before: func(r *fakeRuntime) { _ = os.Remove(filepath.Join(r.root, "app/createdump")) }, text: "has no createdump", next: "gcore", code: target.ErrUnsupported},
		"not executable":  {before: func(r *fakeRuntime) { _ = os.Chmod(filepath.Join(r.root, "app/createdump"), 0o600) }, text: "may not run", next: "executable", code: target.ErrUnsupported},
		"no folder":       {o: Options{In: "/data"}, text: "has no folder for the dump; /data: no such file", next: "-in DIR"},
		"out of its root": {before: func(r *fakeRuntime) { _ = os.Symlink(filepath.Dir(secret), filepath.Join(r.root, "data")) }, o: Options{In: "/data"}, text: "has no folder for the dump", next: "-in DIR"},
		"another dump": {before: func(r *fakeRuntime) {
			at := filepath.Join(r.proc, "99999")
			_ = os.Mkdir(at, 0o755)
			_ = os.WriteFile(at+"/stat", fmt.Appendf(nil, "99999 (createdump) S %d 0", os.Getpid()), 0o600)
		}, text: "another dump of process", next: "wait"},
		"a small limit": {before: func(r *fakeRuntime) {
			_ = os.WriteFile(filepath.Join(r.proc, fmt.Sprint(os.Getpid()), "limits"), []byte("Max file size   4096  4096  bytes\n"), 0o600)
		}, text: "files of at most 4.0 KB", next: "-force"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &fakeRuntime{write: c.write}
			p, dir := start(t, r), t.TempDir()
			if c.before != nil {
				c.before(r)
			}
			o := c.o
			o.Kind, o.Out = "heap", filepath.Join(dir, "out.dmp")
			a, err := Dump(t.Context(), p, o)
			require.ErrorContains(t, err, c.text)
			assert.Nil(t, a)
			var with interface{ Advice() string }
			if c.next != "" && assert.ErrorAs(t, err, &with) {
				assert.Contains(t, with.Advice(), c.next)
			}
			if c.code != nil {
				require.ErrorIs(t, err, c.code)
			}
			assert.Equal(t, c.asked, r.asked > 0)
			assert.Empty(t, left(t, dir, filepath.Join(r.root, "tmp")))
			b, err := os.ReadFile(secret)
			require.NoError(t, err)
			assert.Equal(t, "secret", string(b))
		})
	}
}

// partly writes a part of a dump, and fails.
func partly(code uint32, text string) func(string) (uint32, string) {
	return func(file string) (uint32, string) {
		_ = os.WriteFile(file, []byte("du"), 0o600)
		return code, text
	}
}

// TestUnseenEnd keeps a dump that is whole although the runtime has missed the end of createdump.
func TestUnseenEnd(t *testing.T) {
	r := &fakeRuntime{write: func(file string) (uint32, string) { _ = os.WriteFile(file, []byte("dump"), 0o600); return failed, "" }}
	p, dir := start(t, r), t.TempDir()
	verify := func(whole bool) func(context.Context, *os.File) (answer.CollectedCheck, error) {
		return func(context.Context, *os.File) (answer.CollectedCheck, error) {
			if !whole {
				return answer.CollectedCheck{}, target.Corruptf("cut off")
			}
			return answer.CollectedCheck{Threads: 1}, nil
		}
	}
	out := filepath.Join(dir, "out.dmp")
	_, err := Dump(t.Context(), p, Options{Kind: "heap", Out: out, Verify: verify(false)})
	require.ErrorContains(t, err, "without a reason")
	assert.Empty(t, left(t, dir, filepath.Join(r.root, "tmp")))
	a, err := Dump(t.Context(), p, Options{Kind: "heap", Out: out, Verify: verify(true)})
	require.NoError(t, err)
	require.Len(t, a.Noted(), 1)
	require.ErrorContains(t, a.Noted()[0], "did not see how its createdump ended")
	assert.Equal(t, []string{"out.dmp"}, left(t, dir, filepath.Join(r.root, "tmp")))
}

// TestStopped: what the runtime writes after the user has stopped the command does not stay, also if the runtime has
// not created its file by then, and if its answer is there at once.
func TestStopped(t *testing.T) {
	for _, wait := range []time.Duration{0, 200 * time.Millisecond} {
		written := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		r := &fakeRuntime{write: func(file string) (uint32, string) {
			defer close(written)
			cancel()
			time.Sleep(wait)
			return writes("dump")(file)
		}}
		p, dir := start(t, r), t.TempDir()
		_, err := Dump(ctx, p, Options{Kind: "heap", Out: filepath.Join(dir, "out.dmp")})
		require.ErrorIs(t, err, context.Canceled)
		<-written
		assert.Empty(t, left(t, dir, filepath.Join(r.root, "tmp")))
	}
}

// TestOutput never replaces what exists, links included.
func TestOutput(t *testing.T) {
	r := &fakeRuntime{write: writes("dump")}
	p, dir := start(t, r), t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(file, []byte("mine"), 0o600))
	require.NoError(t, os.Symlink("nowhere", link))
	for _, out := range []string{file, link} {
		_, err := Dump(t.Context(), p, Options{Kind: "heap", Out: out})
		require.ErrorIs(t, err, fs.ErrExist)
	}
	for _, out := range []string{filepath.Join(dir, "none/x"), filepath.Join(file, "x")} {
		_, err := Dump(t.Context(), p, Options{Kind: "heap", Out: out})
		require.Error(t, err)
	}
	assert.Zero(t, r.asked)
	r.write = func(f string) (uint32, string) {
		_ = os.WriteFile(filepath.Join(dir, "late"), []byte("theirs"), 0o600)
		return writes("dump")(f)
	}
	_, err := Dump(t.Context(), p, Options{Kind: "heap", Out: filepath.Join(dir, "late")})
	require.ErrorIs(t, err, fs.ErrExist)
	b, err := os.ReadFile(filepath.Join(dir, "late"))
	require.NoError(t, err)
	assert.Equal(t, "theirs", string(b))
	assert.ElementsMatch(t, []string{"file", "link", "late"}, left(t, dir, filepath.Join(r.root, "tmp")))
}

// TestBrief: a dump that is deleted soon is in a folder of temporary files if the current folder can't be written. Others are refused there.
func TestBrief(t *testing.T) {
	p, dir, temp := start(t, &fakeRuntime{write: writes("dump")}), t.TempDir(), t.TempDir()
	t.Chdir(dir)
	t.Setenv("TMPDIR", temp)
	require.NoError(t, os.Remove(dir)) // also root can't create a file in it
	_, err := Dump(t.Context(), p, Options{Kind: "heap"})
	require.Error(t, err)
	a, err := Dump(t.Context(), p, Options{Kind: "heap", Brief: true})
	require.NoError(t, err)
	assert.Equal(t, temp, filepath.Dir(a.File))
	t.Chdir(t.TempDir())
	a, err = Dump(t.Context(), p, Options{Kind: "heap", Brief: true})
	require.NoError(t, err)
	assert.NotEqual(t, temp, filepath.Dir(a.File))
	assert.Len(t, left(t, filepath.Dir(a.File)), 1)
}

// TestNameOfLeft: an error about a dump that is left names it, and not how it was opened.
func TestNameOfLeft(t *testing.T) {
	p := start(t, &fakeRuntime{write: writes("dump")})
	_, err := Dump(t.Context(), p, Options{Kind: "heap", Leave: true, Verify: func(_ context.Context, f *os.File) (answer.CollectedCheck, error) {
		return answer.CollectedCheck{}, target.Corruptf("%s is cut", f.Name())
	}})
	require.ErrorIs(t, err, target.ErrCorrupt)
	assert.ErrorContains(t, err, "/tmp/")
	assert.NotContains(t, err.Error(), "/proc/self")
}

// TestNames: the default name has the program's name without what a shell or a file system may misread.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{"Shop.Web": "Shop.Web", "": "dotnet", "../../etc/passwd": "_._.._etc_passwd", "-rf": "_rf", ".x y": "_x_y"} {
		assert.Equal(t, want, fileName(name))
	}
}

// TestHugeFile checks that a file that is no dump of the process by its size is refused and removed, before it is copied.
func TestHugeFile(t *testing.T) {
	for _, size := range []int64{4 << 40, 3 << 30} {
		r := &fakeRuntime{write: func(file string) (uint32, string) {
			_ = os.WriteFile(file, []byte("dump"), 0o600)
			if err := os.Truncate(file, size); err != nil {
				return failed, err.Error()
			}
			return 0, ""
		}}
		p, dir := start(t, r), t.TempDir()
		began := time.Now()
		_, err := Dump(t.Context(), p, Options{Kind: "heap", Out: filepath.Join(dir, "out.dmp")})
		require.ErrorContains(t, err, "a dump of this process has about 1.0 MB")
		assert.Less(t, time.Since(began), 10*time.Second)
		assert.Empty(t, left(t, dir, filepath.Join(r.root, "tmp")))
		if size > 1<<40 { // the disk does not have that, either
			_, err = Dump(t.Context(), p, Options{Kind: "heap", Out: filepath.Join(dir, "out.dmp"), Force: true})
			require.ErrorContains(t, err, "free, and the dump may take 4096.0 GB")
			assert.Empty(t, left(t, dir, filepath.Join(r.root, "tmp")))
		}
	}
}

// TestTimeoutOfCopy checks that the time limit holds for the copy, too.
func TestTimeoutOfCopy(t *testing.T) {
	r := &fakeRuntime{write: func(file string) (uint32, string) {
		_ = os.WriteFile(file, []byte("dump"), 0o600)
		return 0, fmt.Sprint(os.Truncate(file, 512<<20))
	}}
	p, dir := start(t, r), t.TempDir()
	copied := uint64(0)
	_, err := Dump(t.Context(), p, Options{Kind: "heap", Out: filepath.Join(dir, "out.dmp"), Timeout: time.Second, Progress: func(done, _ uint64) {
		if done < 512<<20 { // a piece of the copy
			copied = done
			time.Sleep(300 * time.Millisecond)
		}
	}})
	require.ErrorContains(t, err, "was not complete after 1s")
	assert.Less(t, copied, uint64(256<<20))
	assert.Empty(t, left(t, dir, filepath.Join(r.root, "tmp")))
}

// TestExchangedDump checks that the file that is verified is the runtime's, whatever becomes of its name, and that no other
// file is called the dump.
func TestExchangedDump(t *testing.T) {
	r := &fakeRuntime{write: writes("dump")}
	p := start(t, r)
	temp, verified := filepath.Join(r.root, "tmp"), ""
	_, err := Dump(t.Context(), p, Options{Kind: "heap", Leave: true, Verify: func(_ context.Context, f *os.File) (answer.CollectedCheck, error) {
		for _, name := range left(t, temp) {
			require.NoError(t, os.Remove(filepath.Join(temp, name)))
			require.NoError(t, os.WriteFile(filepath.Join(temp, name), []byte("another"), 0o600))
		}
		b, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<20))
		verified = string(b)
		return answer.CollectedCheck{Threads: 3}, err
	}})
	assert.Equal(t, "dump", verified)
	require.ErrorContains(t, err, "is not the dump that was checked")
}
