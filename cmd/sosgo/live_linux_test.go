package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
)

// livePrograms returns the command lines of .NET programs that SOSGO_LIVE names, separated by semicolons. They must run
// until their standard input ends.
func livePrograms(t *testing.T) []string {
	t.Helper()
	text := os.Getenv("SOSGO_LIVE")
	if text == "" {
		t.Skip("SOSGO_LIVE names no .NET program; .ci/run live fetches some")
	}
	return strings.Split(text, ";")
}

// A liveProgram is a running .NET program.
type liveProgram struct {
	temp    string   // its folder for temporary files, as a path of the test
	program string   // its file
	as      []string // the command that runs sosgo as the same user
	psRow
}

// psRow is what the test reads of a row of ps.
type psRow struct {
	PID                     int
	Runtime, Platform, Port string
	Answers                 bool
}

// A liveWay is a way to run a program: the words before its command line, in which TEMP is its folder for temporary
// files, and the words before sosgo's.
type liveWay struct {
	name       string
	before, as []string
}

// liveWays returns the ways that this user may go.
func liveWays() []liveWay {
	own := []string{"unshare", "--pid", "--fork", "--mount", "--mount-proc", "--kill-child"}
	mount := []string{"sh", "-c", `mount -t tmpfs -o mode=1777 none TEMP && exec "$@"`, "sh"}
	ways := []liveWay{{name: "plain"}}
	if os.Getuid() != 0 {
		return append(ways, liveWay{name: "namespaces", before: slices.Concat(own, []string{"--user", "--map-root-user"}, mount)})
	}
	nobody := []string{"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--bounding-set", "-all", "--inh-caps", "-all"}
	return append(ways, liveWay{name: "namespaces", before: slices.Concat(own, mount)}, liveWay{name: "user", before: nobody, as: nobody},
		liveWay{name: "user and namespaces", before: slices.Concat(nobody, own, []string{"--user", "--map-root-user"}, mount), as: nobody})
}

// TestLive takes dumps of real processes: of this user, of a user without capabilities, and in namespaces of their own.
func TestLive(t *testing.T) {
	programs := livePrograms(t)
	for _, way := range liveWays() {
		t.Run(way.name, func(t *testing.T) {
			if len(way.before) > 0 {
				var words []string
				for _, w := range way.before {
					words = append(words, strings.ReplaceAll(w, "TEMP", "/tmp"))
				}
				if out, err := exec.Command(words[0], append(words[1:], "true")...).CombinedOutput(); err != nil {
					t.Skipf("this machine does not allow it: %v: %s", err, out)
				}
			}
			for _, program := range programs {
				t.Run(filepath.Base(strings.Fields(program)[0]), func(t *testing.T) {
					p := startLive(t, program, way.before, way.as)
					t.Logf(".NET %s, %s", p.Runtime, p.Platform)
					collectLive(t, p)
				})
			}
		})
	}
}

// TestLivePod types the lines of docs/taking-dumps.md about Kubernetes in what pods are made of: a process namespace that both containers share, mount
// namespaces of their own, a volume at one path, and a user that is not root.
func TestLivePod(t *testing.T) {
	programs := livePrograms(t)
	if os.Getuid() != 0 {
		t.Skip("only root makes namespaces with other users in them")
	}
	own := []string{"unshare", "--pid", "--fork", "--mount", "--mount-proc", "--kill-child", "sh", "-c"}
	if out, err := exec.Command(own[0], append(own[1:], "mount -t tmpfs none /mnt")...).CombinedOutput(); err != nil {
		t.Skipf("this machine does not allow it: %v: %s", err, out)
	}
	nobody := []string{"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--bounding-set", "-all", "--inh-caps", "-all"}
	const mounts = "mount -t tmpfs -o mode=1777 none TEMP && mount --bind VOLUME /mnt && "
	for name, first := range map[string]string{"sidecar": `exec 3<&0; "$@" <&3 & wait`, "debug": `exec "$@"`} { // with process 1 of the pod, or as process 1
		t.Run(name, func(t *testing.T) {
			for _, program := range programs {
				t.Run(filepath.Base(strings.Fields(program)[0]), func(t *testing.T) {
					volume, scratch := openFolder(t), openFolder(t)
					p := startLive(t, program, slices.Concat(own, []string{strings.ReplaceAll(mounts, "VOLUME", volume) + first, "sh"}, nobody), nil)
					kind := []string{"-type", "full"} // single files have no other
					if strings.HasPrefix(p.Platform, "linux") && fileExists(filepath.Join(filepath.Dir(p.program), "createdump")) {
						kind = nil
					}
					beside := []string{"nsenter", "--target", strconv.Itoa(p.PID), "--pid", "unshare", "--mount", "sh", "-c", "mount -t proc none /proc && mount --bind " + volume +
						" /mnt && mount --bind " + scratch + ` /tmp && mount -t tmpfs none /var/tmp && exec "$@"`, "sh"} // the program is not in its file system
					list := psLive(t, slices.Concat(beside, nobody))
					require.Len(t, list, 1)
					assert.True(t, list[0].Answers)
					assert.Equal(t, name == "debug", list[0].PID == 1)
					id := []string{"-p", strconv.Itoa(list[0].PID)}
					_, errs, _ := sosgoAs(t, slices.Concat(beside, nobody), "/", append([]string{"collect", "-type", "full", "-o", "/mnt/first.dmp"}, id...)...)
					if !allowDumper(t, p, errs) {
						require.NoError(t, os.Remove(filepath.Join(volume, "first.dmp")))
					}
					if name == "sidecar" {
						podSidecar(t, slices.Concat(beside, nobody), volume, slices.Concat(id, kind))
					} else {
						podDebug(t, beside, nobody, scratch, slices.Concat(id, kind))
					}
					assert.Empty(t, leftInside(t, p))
				})
			}
		})
	}
}

func fileExists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// podSidecar takes a dump from a container of the same user, into a volume that both have at one path: it is not copied.
func podSidecar(t *testing.T, as []string, volume string, options []string) {
	out, errs, code := sosgoAs(t, as, "/", append([]string{"collect", "-o", "/mnt/app.dmp"}, options...)...)
	require.Equal(t, cli.ExitOK, code, "%s%s", out, errs)
	assert.NotContains(t, out, "copied")
	st, err := os.Stat(filepath.Join(volume, "app.dmp"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), st.Mode())
	out, errs, code = sosgoAs(t, as, "/", append([]string{"collect", "-then", "triage", "-delete"}, options...)...)
	assert.Contains(t, []int{cli.ExitOK, cli.ExitGate, cli.ExitNotInDump, cli.ExitCorrupt, cli.ExitUnsupported}, code, "%s%s", out, errs)
	assert.Contains(t, out, "Nothing found:")
	names, err := filepath.Glob(filepath.Join(volume, "*"))
	require.NoError(t, err)
	assert.Len(t, names, 1)
}

// podDebug takes a dump from a container of root, which needs a capability, and of the same user, which needs none. The pack is complete where the
// program's files are not.
func podDebug(t *testing.T, beside, nobody []string, scratch string, options []string) {
	weak := slices.Concat(beside, []string{"setpriv", "--bounding-set", "-sys_ptrace", "--inh-caps", "-all"})
	out, errs, code := sosgoAs(t, weak, "/", append([]string{"collect", "-o", "/tmp/none.dmp"}, options...)...)
	assert.NotEqual(t, cli.ExitOK, code, out)
	assert.Contains(t, errs, "root needs the capability SYS_PTRACE")
	for name, as := range map[string][]string{"root": beside, "user": slices.Concat(beside, nobody)} {
		out, errs, code = sosgoAs(t, as, "/", append([]string{"collect", "-pack", "-o", "/tmp/" + name + ".tar.zst"}, options...)...)
		require.Equal(t, cli.ExitOK, code, "%s%s", out, errs)
		file := filepath.Join(scratch, name+".tar.zst")
		st, err := os.Stat(file)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), st.Mode())
		out, errs, code = sosgoAs(t, nil, "/", "--offline", "-d", file, "doctor")
		require.Equal(t, cli.ExitOK, code, "%s%s", out, errs)
		assert.NotContains(t, out, "Missing files")
		assert.NotContains(t, out, "refused")
		require.NoError(t, os.Remove(file))
	}
	names, err := filepath.Glob(filepath.Join(scratch, "*"))
	require.NoError(t, err)
	assert.Empty(t, names)
}

// startLive starts a program and waits until ps lists it as one that answers.
func startLive(t *testing.T, program string, before, as []string) *liveProgram {
	t.Helper()
	p := &liveProgram{temp: openFolder(t), program: strings.Fields(program)[0], as: as}
	var words []string
	for _, w := range before {
		words = append(words, strings.ReplaceAll(w, "TEMP", p.temp))
	}
	words = append(words, strings.Fields(program)...)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "HOME=" + p.temp, "TMPDIR=" + p.temp, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	var printed bytes.Buffer // createdump's messages, for one
	cmd.Stdout, cmd.Stderr = &printed, &printed
	in, stdin, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, in.Chmod(0o666)) // a program of another user opens /dev/stdin
	cmd.Stdin = in
	require.NoError(t, cmd.Start())
	require.NoError(t, in.Close())
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s printed:\n%s", program, &printed)
		}
	})
	require.Eventually(t, func() bool {
		for _, l := range psLive(t, as) {
			if l.Answers && strings.Contains(l.Port, p.temp+"/") {
				p.psRow = l
				return true
			}
		}
		return false
	}, 20*time.Second, 200*time.Millisecond, "%s does not answer", program)
	return p
}

// openFolder returns a folder that all users can use.
func openFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "live")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o777|os.ModeSticky))
	return dir
}

// psLive returns what ps lists.
func psLive(t *testing.T, as []string) []psRow {
	t.Helper()
	out, _, code := sosgoAs(t, as, "/", "--json", "ps")
	require.Equal(t, cli.ExitOK, code, out)
	var document struct{ Result struct{ Processes []psRow } }
	require.NoError(t, json.Unmarshal([]byte(out), &document))
	return document.Result.Processes
}

// sosgoAs runs sosgo behind another command.
func sosgoAs(t *testing.T, as []string, dir string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	text, err := json.Marshal(args)
	require.NoError(t, err)
	words := append(slices.Clone(as), "/proc/self/fd/3", "-test.run=^TestAsProgram$") // its own file may be closed to other users
	if len(as) == 0 {
		words[0] = os.Args[0]
	}
	cmd := exec.Command(words[0], words[1:]...)
	self, err := os.Open(os.Args[0])
	require.NoError(t, err)
	defer self.Close()
	cmd.ExtraFiles = []*os.File{self}
	cmd.Dir, cmd.Env = dir, append(os.Environ(), argumentsVariable+"="+string(text), "HOME=/")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the exit code says it
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// collectLive takes dumps of a program: of each kind, with a triage and without.
func collectLive(t *testing.T, p *liveProgram) {
	dir := openFolder(t)
	id := []string{"-p", strconv.Itoa(p.PID)}
	single := false
	for _, kind := range []string{"mini", "heap", "full"} {
		file := filepath.Join(dir, kind+".dmp")
		collect := append([]string{"collect", "-type", kind, "-o", file}, id...)
		out, errs, code := sosgoAs(t, p.as, dir, collect...)
		if allowDumper(t, p, errs) || strings.Contains(errs, "try again: createdump") { // a thread may have ended meanwhile
			out, errs, code = sosgoAs(t, p.as, dir, collect...)
		}
		if kind != "full" && (strings.Contains(errs, "Only full dumps are supported by single file apps") || strings.Contains(errs, "only as a full dump")) {
			assert.Contains(t, errs, "-type full")
			assert.NoFileExists(t, filepath.Join(filepath.Dir(p.program), "libmscordaccore.so"), "it could be written")
			assert.NoFileExists(t, file)
			single = true
			continue
		}
		require.Equal(t, cli.ExitOK, code, "%s%s", out, errs)
		st, err := os.Stat(file)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), st.Mode())
		assert.Contains(t, out, p.Runtime)
		out, errs, code = sosgoAs(t, p.as, dir, "-d", file, "clrstack", "-all")
		require.Equal(t, cli.ExitOK, code, errs)
		assert.Contains(t, out, "Child SP")
		require.NoError(t, os.Remove(file))
	}
	kind := "heap"
	if single {
		kind = "full"
	}
	out, errs, code := sosgoAs(t, p.as, dir, append([]string{"collect", "-type", kind, "-then", "triage", "-delete"}, id...)...)
	assert.Contains(t, []int{cli.ExitOK, cli.ExitGate, cli.ExitNotInDump, cli.ExitCorrupt, cli.ExitUnsupported}, code, "%s%s", out, errs) // the program may be busy
	assert.Contains(t, out, "Nothing found:")
	out, errs, code = sosgoAs(t, p.as, dir, append([]string{"collect", "-type", kind, "-pack", "-o", "a.tar.zst"}, id...)...)
	require.Equal(t, cli.ExitOK, code, "%s%s", out, errs)
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.Join(dir, "a.tar.zst")}, names)
	hidden, err := filepath.Glob(filepath.Join(dir, ".*sosgo*"))
	require.NoError(t, err)
	assert.Empty(t, append(hidden, leftInside(t, p)...))
}

// allowDumper makes createdump executable if errs says that it is not: single-file programs of .NET Core 3.1 unpack it so.
func allowDumper(t *testing.T, p *liveProgram, errs string) bool {
	t.Helper()
	_, after, refused := strings.Cut(errs, "may not run ")
	if !refused {
		return false
	}
	assert.Contains(t, errs, "make it executable")
	dumper, _, _ := strings.Cut(after, ",")
	require.NoError(t, os.Chmod(filepath.Join("/proc", strconv.Itoa(p.PID), "root", dumper), 0o755))
	return true
}

// leftInside lists the runtime's dumps that are left in the process's folder for temporary files.
func leftInside(t *testing.T, p *liveProgram) []string {
	t.Helper()
	d, err := os.Open(filepath.Dir(p.Port))
	require.NoError(t, err)
	defer d.Close()
	names, err := d.Readdirnames(0)
	require.True(t, err == nil || err == io.EOF, err)
	return slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, ".sosgo") && !strings.HasSuffix(n, ".dmp") })
}
