//go:build !windows

package processes

import (
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/secrets"
)

// A fake is a proc file system that a test makes.
type fake struct {
	t   *testing.T
	dir string
}

// newFake returns a proc file system that was mounted by a process in the mount namespace 1.
func newFake(t *testing.T) *fake {
	f := &fake{t, t.TempDir()}
	f.write("stat", "cpu 1 2\nbtime 1700000000\n")
	f.link("self/ns/mnt", "mnt:[1]")
	return f
}

func (f *fake) write(name, text string) {
	file := filepath.Join(f.dir, name)
	require.NoError(f.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(f.t, os.WriteFile(file, []byte(text), 0o600))
}

func (f *fake) link(name, to string) {
	file := filepath.Join(f.dir, name)
	require.NoError(f.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(f.t, os.Symlink(to, file))
}

// process adds a process of this user, as proc(5) describes its files. root is its root folder, namespace its mount
// namespace.
func (f *fake) process(pid, inner int, start uint64, root string, namespace int, environment ...string) string {
	at := fmt.Sprint(pid) + "/"
	ids := fmt.Sprint(pid)
	if inner != pid {
		ids += fmt.Sprintf("\t%d", inner)
	}
	u, g := os.Getuid(), os.Getgid()
	f.write(at+"status", fmt.Sprintf("Name:\tapp\nUid:\t%d\t%d\t%d\t%d\nGid:\t%d\t%d\t%d\t%d\nGroups:\t7 8 \nNSpid:\t%s\nVmRSS:\t      12 kB\nVmSwap:\t       3 kB\n", u, u, u, u, g, g, g, g, ids))
	f.write(at+"stat", fmt.Sprintf("%d (a ) b) S 1 %s %d 54 0\n", pid, strings.Repeat("0 ", 17), start))
	f.write(at+"cmdline", "/usr/bin/dotnet\x00/srv/shop.dll\x00--password\x00hunter2\x00")
	f.write(at+"environ", strings.Join(environment, "\x00")+"\x00")
	f.write(at+"maps", "7f00-7f10 r-xp 00000000 08:01 5    /usr/share/dotnet/shared/8.0.1/libcoreclr.so\n")
	f.write(at+"cgroup", "0::/kubepods/pod1/"+strings.Repeat("ab", 32)+"\n")
	f.link(at+"root", root)
	f.link(at+"ns/mnt", fmt.Sprintf("mnt:[%d]", namespace))
	return at
}

func (f *fake) system() *System {
	return &System{Proc: f.dir, Temp: []string{"/nowhere"}, User: uint32(os.Getuid())}
}

// only returns the only process that is listed.
func (f *fake) only() *Process {
	f.t.Helper()
	list, err := f.system().List()
	require.NoError(f.t, err)
	require.Len(f.t, list.Processes, 1)
	return &list.Processes[0]
}

// TestContainer finds the socket of a process in its own file system, by its id and its start.
func TestContainer(t *testing.T) {
	f, root := newFake(t), t.TempDir()
	f.process(4711, 7, 555, root, 2, "HOME=/", "TMPDIR=/var/scratch", "TMPDIR=/second")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "var/scratch"), 0o755))
	for _, name := range []string{"dotnet-diagnostic-7-554-socket", "dotnet-diagnostic-7-555-socket", "dotnet-diagnostic-4711-555-socket", "dotnet-diagnostic-7-555-socket.old"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, "var/scratch", name), nil, 0o600))
	}
	p := f.only()
	assert.Equal(t, filepath.Join(f.dir, "4711/root/var/scratch/dotnet-diagnostic-7-555-socket"), p.Port)
	require.NoError(t, p.Why)
	assert.Equal(t, []any{4711, 7, "shop", uint64(12 << 10), uint64(3 << 10), strings.Repeat("ab", 32), int64(1700000005)},
		[]any{p.PID, p.Inner, p.Name, *p.Resident, *p.Swapped, p.Container, p.Started.Unix()})
	assert.Equal(t, []uint32{7, 8}, p.Groups[:2])
	assert.Equal(t, "/usr/bin/dotnet /srv/shop.dll --password "+secrets.Mask, Masked(p.Command))
	assert.True(t, p.Alive())
	f.write("4711/stat", fmt.Sprintf("4711 (app) S 1 %s 556 54 0\n", strings.Repeat("0 ", 17)))
	assert.False(t, p.Alive(), "another process has its id")
	f.write("4711/stat", fmt.Sprintf("4711 (app) Z 1 %s 555 54 0\n", strings.Repeat("0 ", 17)))
	assert.False(t, p.Alive(), "a zombie")
}

// TestWhyNot says why a process cannot be asked.
func TestWhyNot(t *testing.T) {
	for name, c := range map[string]struct {
		environment string
		text        string
	}{
		"switched off": {"DOTNET_EnableDiagnostics=0", "DOTNET_EnableDiagnostics=0 switches its diagnostics port off"},
		"the port":     {"DOTNET_EnableDiagnostics_IPC=0x0", "DOTNET_EnableDiagnostics_IPC=0x0 switches"},
		"switched on":  {"DOTNET_EnableDiagnostics=1", "its socket is not in /tmp"},
		"not a number": {"COMPlus_EnableDiagnostics=", "its socket is not in /tmp"},
	} {
		t.Run(name, func(t *testing.T) {
			f, root := newFake(t), t.TempDir()
			f.process(12, 12, 5, root, 2, c.environment)
			require.NoError(t, os.Mkdir(filepath.Join(root, "tmp"), 0o755))
			p := f.only()
			assert.Empty(t, p.Port)
			require.ErrorContains(t, p.Why, c.text)
			assert.NotEmpty(t, p.Next(p.Why))
			_, err := p.Ask(t.Context())
			require.ErrorIs(t, err, p.Why)
		})
	}
	f, root := newFake(t), t.TempDir()
	f.process(12, 12, 5, root, 2)
	require.NoError(t, os.Mkdir(filepath.Join(root, "tmp"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "tmp/dotnet-diagnostic-12-5-socket"), nil, 0o600))
	s := f.system()
	s.User++
	list, err := s.List()
	require.NoError(t, err)
	require.Len(t, list.Processes, 1)
	require.ErrorContains(t, list.Processes[0].Why, "another user")
}

// TestOthers leaves out what is not a .NET process, also a program that only reads the files of a runtime.
func TestOthers(t *testing.T) {
	f, root := newFake(t), t.TempDir()
	at := f.process(12, 12, 5, root, 2)
	f.write(at+"cmdline", "/usr/bin/sosgo\x00")
	f.write(at+"maps", "7f00-7f10 r--s 00000000 08:01 5    /usr/share/dotnet/shared/8.0.1/libcoreclr.so\n")
	f.write(f.process(13, 13, 5, root, 2)+"cmdline", "") // a thread of the kernel
	f.write(f.process(14, 14, 5, root, 2)+"status", "Name: x\n")
	f.write("15/status", "")
	f.write("16", "not a folder")
	list, err := f.system().List()
	require.NoError(t, err)
	assert.Empty(t, list.Processes)
	assert.Zero(t, list.Hidden)
	f.write(at+"maps", "7f00-7f10 rw-s 00000000 00:01 5    /memfd:doublemapper (deleted)\n")
	list, err = f.system().List()
	require.NoError(t, err)
	assert.Len(t, list.Processes, 1, "a single-file program")
	require.ErrorContains(t, f.system().absent(99), "no .NET process with the id 99")
}

// TestHostileRoot: links in the file system of a process do not lead out of it.
func TestHostileRoot(t *testing.T) {
	f, root, outside := newFake(t), t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "dotnet-diagnostic-12-5-socket"), []byte("secret"), 0o600))
	for name, link := range map[string]string{"absolute": outside, "relative": "../../../../../../../../../.." + outside} {
		require.NoError(t, os.Symlink(link, filepath.Join(root, name)))
		f.process(12, 12, 5, root, 2, "TMPDIR=/"+name)
		p := f.only()
		assert.Empty(t, p.Port)
		v, err := p.View()
		require.NoError(t, err)
		for _, path := range []string{"/" + name + "/dotnet-diagnostic-12-5-socket", "/../" + outside + "/dotnet-diagnostic-12-5-socket"} {
			_, err = v.Open(path)
			require.Error(t, err)
			require.Error(t, v.Remove(path))
		}
		require.NoError(t, v.Close())
		require.NoError(t, os.RemoveAll(filepath.Join(f.dir, "12")))
	}
	assert.FileExists(t, filepath.Join(outside, "dotnet-diagnostic-12-5-socket"))
}

// TestView opens files, and neither links nor pipes.
func TestView(t *testing.T) {
	dir := t.TempDir()
	for name, v := range map[string]*View{"same": hostView(), "other": func() *View { v, err := openView(dir); require.NoError(t, err); return v }()} {
		t.Run(name, func(t *testing.T) {
			base := ""
			if v.Same {
				base = dir
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o600))
			require.NoError(t, os.Symlink("file", filepath.Join(dir, "link")))
			f, err := v.Open(base + "/file")
			require.NoError(t, err)
			require.NoError(t, f.Close())
			_, err = v.Open(base + "/link")
			require.Error(t, err)
			st, err := v.Stat(base + "/link")
			require.NoError(t, err)
			assert.Equal(t, int64(1), st.Size())
			require.NoError(t, v.Link(base+"/file", base+"/second"))
			require.Error(t, v.Link(base+"/file", base+"/link"))
			require.NoError(t, v.Rename(base+"/second", base+"/third"))
			for _, n := range []string{"file", "link", "third"} {
				require.NoError(t, v.Remove(base+"/"+n))
			}
			free, readOnly, err := v.Space(base + "/")
			if err == nil {
				assert.Positive(t, free)
				assert.False(t, readOnly)
			}
			require.NoError(t, v.Close())
		})
	}
}

// TestForked checks that a child that fork made is no process that lost its socket: it has one thread, and its parent's
// program at the same address.
func TestForked(t *testing.T) {
	const program = "00001000-00003000 r--p 00000000 08:01 5          /app/shop\n"
	for name, c := range map[string]struct {
		threads, parent, maps string
		want                  string
	}{
		"child":          {"1", "12", program, "as a child that fork made: only that process has a port"},
		"two threads":    {"2", "12", program, "its socket is not in /tmp"},
		"after an exec":  {"1", "12", strings.ReplaceAll(program, "1000", "7000"), "its socket is not in /tmp"},
		"without parent": {"1", "0", program, "its socket is not in /tmp"},
		"ended parent":   {"1", "11", program, "its socket is not in /tmp"},
		"nonsense":       {"1", "x", program, "its socket is not in /tmp"},
	} {
		f, root := newFake(t), t.TempDir()
		for pid, maps := range map[int]string{12: program, 13: c.maps} {
			at := f.process(pid, pid, 5, root, 2)
			f.write(at+"maps", maps+"7f00-7f10 r-xp 00000000 08:01 5    /usr/share/dotnet/shared/8.0.1/libcoreclr.so\n")
		}
		status, err := os.ReadFile(filepath.Join(f.dir, "13/status"))
		require.NoError(t, err)
		f.write("13/status", string(status)+"PPid:\t"+c.parent+"\nThreads:\t"+c.threads+"\n")
		list, err := f.system().List()
		require.NoError(t, err)
		require.Len(t, list.Processes, 2)
		assert.ErrorContains(t, list.Processes[1].Why, c.want, name)
		assert.ErrorContains(t, list.Processes[0].Why, "its socket is not in /tmp", name)
		assert.Equal(t, name == "child", slices.Contains(list.Processes[0].Forked(), 13), name)
	}
}

// TestMapped adds up mappings and lists the folders of module files.
func TestMapped(t *testing.T) {
	f, root := newFake(t), t.TempDir()
	at := f.process(12, 12, 5, root, 2)
	f.write(at+"limits", "Limit                     Soft Limit           Hard Limit           Units     \nMax file size             4096                 unlimited            bytes     \n")
	f.write(at+"maps", `00001000-00003000 rw-p 00000000 00:00 0
00003000-00004000 r--p 00000000 08:01 5          /app/shop.dll
00004000-00009000 ---p 00000000 00:00 0
00009000-0000a000 r-xp 00000000 08:01 6          /rt/8.0.1/libcoreclr.so
0000a000-0000b000 rw-p 00000000 08:01 6          /rt/8.0.1/libcoreclr.so
0000c000-0000b000 rw-p 00000000 08:01 6          /rt/8.0.1/nonsense
garbage
`)
	p := f.only()
	m, err := p.Mapped()
	require.NoError(t, err)
	assert.Equal(t, &Mapped{Writable: 0x3000, Readable: 0x5000, Folders: []string{"/app", "/rt/8.0.1"}, Runtime: "/rt/8.0.1"}, m)
	most, ok := p.FileLimit()
	assert.Equal(t, []any{uint64(4096), true}, []any{most, ok})
	assert.Zero(t, p.Dumper())
	f.write("13/stat", "13 (createdump) S 12 0 0")
	assert.Equal(t, 13, p.Dumper())
	f.write("13/stat", "13 (createdump) Z 12 0 0")
	assert.Zero(t, p.Dumper())
	f.write("program", strings.Repeat("x", 1<<20-5)+"[createdump] Writing")
	f.link(at+"exe", filepath.Join(f.dir, "program"))
	has, err := p.HasDumper()
	require.NoError(t, err)
	assert.True(t, has, "across two pieces")
	f.write("program", strings.Repeat("[createdump]", 1<<18))
	has, err = p.HasDumper()
	require.NoError(t, err)
	assert.False(t, has)
}

// TestMasked masks what options announce and what looks like a secret.
func TestMasked(t *testing.T) {
	for _, secret := range []string{"hunter2", "s3cr3t", "AbCdEf0123456789AbCdEf0123456789Zz"} {
		line := Masked([]string{"app", "--password", "hunter2", "--token=s3cr3t", "AbCdEf0123456789AbCdEf0123456789Zz", "--urls", "http://user:hunter2@host/", "Shop"})
		assert.NotContains(t, line, secret)
		assert.Contains(t, line, "--urls http://")
		assert.True(t, strings.HasSuffix(line, " Shop"), line)
	}
}

// TestNames names a program by what it runs.
func TestNames(t *testing.T) {
	for want, words := range map[string][]string{"shop": {"/usr/bin/dotnet", "exec", "/srv/shop.dll", "x.dll"}, "dotnet": {"dotnet", "run"}, "Shop": {`C:\app\Shop.exe`}, "fall": nil} {
		assert.Equal(t, want, nameOf(words, "fall"))
	}
}

// TestTemp asks the runtime where the system does not show the environment.
func TestTemp(t *testing.T) {
	f, root := newFake(t), t.TempDir()
	f.process(12, 12, 5, root, 2, "TMPDIR=/var/scratch")
	assert.Equal(t, []string{"/var/scratch", "/tmp"}, f.only().Temp(t.Context()))

	port := filepath.Join(t.TempDir(), "port")
	l, err := net.Listen("unix", port)
	require.NoError(t, err)
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.ReadFull(conn, make([]byte, 20))
		const block = "\x01\x00\x00\x00\x0a\x00\x00\x00T\x00M\x00P\x00D\x00I\x00R\x00=\x00/\x00t\x00\x00\x00"
		_, _ = io.WriteString(conn, "DOTNET_IPC_V1\x00\x1a\x00\xff\x00\x00\x00"+string(rune(len(block)))+"\x00\x00\x00\x00\x00"+block)
	}()
	p := &Process{PID: os.Getpid(), Inner: os.Getpid(), UID: uint32(os.Getuid()), Port: port}
	assert.Equal(t, []string{"/t", os.TempDir()}, p.Temp(t.Context()))
}

// TestReach names the capability that root lacks if it may not reach the files of a process, and who else can.
func TestReach(t *testing.T) {
	f := newFake(t)
	f.process(12, 12, 5, "/nosuch", 2)
	require.NoError(t, os.Remove(filepath.Join(f.dir, "12/environ")))
	s := f.system()
	list, err := s.List()
	require.NoError(t, err)
	require.Len(t, list.Processes, 1)
	p := &list.Processes[0]
	require.ErrorContains(t, p.Why, "its environment and its files can't be read")
	assert.Equal(t, "run sosgo as the same user or as root, outside of the container", p.Next(p.Why))
	assert.Equal(t, p.Next(p.Why), p.Reach(fs.ErrPermission))
	s.Root = true
	assert.Contains(t, p.Reach(fs.ErrPermission), "root needs the capability SYS_PTRACE")
	assert.Contains(t, p.Reach(fs.ErrNotExist), "as the same user or as root")
}
