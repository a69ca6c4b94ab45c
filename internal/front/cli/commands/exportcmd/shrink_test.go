package exportcmd_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// documents runs commands in one session and returns their JSON output without the name of the file.
func documents(t *testing.T, file string, commands []string) (docs []string) {
	t.Helper()
	args := []string{"-d", file, "--json"}
	for _, line := range commands {
		args = append(args, "-c", line)
	}
	out, _, _ := run(t, args...)
	for d := json.NewDecoder(strings.NewReader(out)); d.More(); {
		var doc map[string]any
		require.NoError(t, d.Decode(&doc))
		delete(doc, "dump")
		b, err := json.MarshalIndent(doc, "", " ")
		require.NoError(t, err)
		docs = append(docs, string(b))
	}
	return docs
}

// someObjects returns the addresses of eight objects spread over a heap.
func someObjects(t *testing.T, file string) (out []target.Addr) {
	t.Helper()
	d, err := sosgo.Open(file, sosgo.Options{Offline: true})
	require.NoError(t, err)
	defer d.Close()
	h, err := d.Heap()
	if err != nil {
		return nil
	}
	var all []target.Addr
	for o, err := range h.Objects() {
		if err == nil && !o.Free {
			all = append(all, o.Addr)
		}
	}
	for i := range min(8, len(all)) {
		out = append(out, all[len(all)*i/min(8, len(all))])
	}
	return out
}

// TestShrinkAnswers checks that a shrunk dump gives the same answers about the process as the original.
func TestShrinkAnswers(t *testing.T) {
	for _, name := range testcase.Sample(t, []string{"net10-zoo", "net31-zoo", "net8-zoo", "win-net8-zoo", "net10-zoo-servergc", "nativeaot-crash", "net10-crash-null-triage", "net10-arm64", "waits/net10-asyncwaits", "win-net6-zoo"}, 3) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			in := unpacked(t, name)
			out := filepath.Join(t.TempDir(), "out.dmp")
			said, errs, code := run(t, "shrink", in, "-o", out)
			require.Contains(t, []int{0, 3}, code, errs)
			assert.Contains(t, said, "left out")
			commands := slices.Concat(why, []string{
				"dominators", "asyncstacks", "parallelstacks", "eeheap", "gchandles", "eeversion", "process", "sqlpools", "requests", "caches",
			})
			commands = slices.DeleteFunc(commands, func(s string) bool { return s == "memory" }) // it counts the removed memory
			for _, o := range someObjects(t, in) {
				commands = append(commands, fmt.Sprintf("gcroot %v", o), fmt.Sprintf("retained -object %v", o), fmt.Sprintf("referrers %v", o))
			}
			want, got := documents(t, in, commands), documents(t, out, commands)
			require.Len(t, got, len(want))
			for i := range want {
				assert.Equal(t, want[i], got[i], commands[i])
			}
		})
	}
}

// TestShrinkReads checks that every read of removed memory gives a specific error and never a number. The strings of
// the dump identify the texts.
func TestShrinkReads(t *testing.T) {
	in := unpacked(t, "net10-zoo")
	out := filepath.Join(t.TempDir(), "out.dmp")
	_, errs, code := run(t, "shrink", in, "-o", out)
	require.Zero(t, code, errs)
	before, after := texts(t, in), texts(t, out)
	gone := target.Addr(0)
	for a, text := range before {
		if got, ok := after[a]; ok {
			assert.Equal(t, text, got, "what stays is whole")
		} else if gone == 0 || target.Addr(a) < gone {
			gone = target.Addr(a)
		}
	}
	require.NotZero(t, gone)
	text, errs, code := run(t, "-d", out, "dumpobj", gone.String())
	assert.Zero(t, code)
	assert.Contains(t, text, "String:      <left out>")
	assert.Contains(t, errs, "left out when the dump was shrunk")
	_, errs, code = run(t, "-d", out, "dumpstring", gone.String())
	assert.Equal(t, 3, code)
	assert.Contains(t, errs, "left out when the dump was shrunk")
	assert.Contains(t, errs, "the dump that was shrunk has it")
	_, errs, code = run(t, "-d", out, "dq", (gone + 16).String(), "-count", "1")
	assert.Equal(t, 3, code, errs)

	text, _, _ = run(t, "-d", in, "dumpheap", "-type", "System.Double[]")
	_, row, _ := strings.Cut(text, "\n")
	text, errs, _ = run(t, "-d", out, "dumparray", strings.Fields(row)[0])
	assert.Contains(t, text, "Number of elements 20000")
	assert.Contains(t, text, "[0] <left out>")
	assert.Contains(t, errs, "not in dump")

	// Counts of contents are known to be incomplete.
	for _, line := range []string{"dumpheap -strings -stat", "dumpheap -strings", "waste"} {
		_, errs, _ := run(t, "-d", in, "-c", line)
		assert.Empty(t, errs, line)
		_, errs, _ = run(t, "-d", out, "-c", line)
		assert.Contains(t, errs, "left out when the dump was shrunk", line)
	}
	for _, line := range []string{"doctor", "memory"} {
		text, _, _ = run(t, "-d", in, line)
		assert.NotContains(t, text, "sosgo shrink", line)
		text, _, _ = run(t, "-d", out, line)
		assert.Contains(t, text, "sosgo shrink", line)
	}
}

// TestShrinkAgain checks that a shrunk dump can be copied but not scrubbed.
func TestShrinkAgain(t *testing.T) {
	for _, name := range testcase.Sample(t, []string{"net10-crash-null-triage", "win-net8-zoo"}, 2) {
		in := unpacked(t, name)
		dir := t.TempDir()
		once, packed, again := filepath.Join(dir, "once.dmp"), filepath.Join(dir, "once.dmp.zst"), filepath.Join(dir, "again.dmp")
		_, errs, code := run(t, "shrink", in, "-o", once)
		require.Zero(t, code, errs)
		text, errs, code := run(t, "shrink", once, "-o", packed)
		require.Zero(t, code, errs)
		assert.Contains(t, text, "shrunk before")
		_, errs, code = run(t, "shrink", packed, "-o", again)
		require.Zero(t, code, errs)
		want, err := os.ReadFile(once)
		require.NoError(t, err)
		got, err := os.ReadFile(again)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(want, got), name)
		if runtime.GOOS != "windows" {
			st, err := os.Stat(once)
			require.NoError(t, err)
			assert.EqualValues(t, 0o600, st.Mode().Perm())
		}
		_, errs, code = run(t, "scrub", once, "-o", filepath.Join(dir, "scrubbed.dmp"))
		assert.Equal(t, 5, code)
		assert.Contains(t, errs, "scrub the dump before")

		scrubbed, both := filepath.Join(dir, "s.dmp"), filepath.Join(dir, "b.dmp")
		_, errs, code = run(t, "scrub", in, "-o", scrubbed)
		require.Contains(t, []int{0, 3}, code, errs)
		_, errs, code = run(t, "shrink", scrubbed, "-o", both)
		require.Zero(t, code, errs)
	}
}

// TestShrinkKeepsSize checks that a new file that is no smaller, as of a minidump, says why and what helps.
func TestShrinkKeepsSize(t *testing.T) {
	in := unpacked(t, "win-net10-zoo")
	before, err := os.Stat(in)
	require.NoError(t, err)
	for name, same := range map[string]bool{"out.dmp": true, "out.dmp.zst": false} {
		out := filepath.Join(t.TempDir(), name)
		said, errs, code := run(t, "shrink", in, "-o", out)
		require.Contains(t, []int{0, 3}, code, errs)
		after, err := os.Stat(out)
		require.NoError(t, err)
		assert.Equal(t, same, after.Size() >= before.Size(), name)
		assert.Equal(t, same, strings.Contains(said, "no smaller"), said)
	}
}

// TestShrinkRefused checks that files are not overwritten, failures leave no file, and unsupported kinds are named.
func TestShrinkRefused(t *testing.T) {
	in := unpacked(t, "net10-crash-null-triage")
	dir := t.TempDir()
	there := filepath.Join(dir, "there")
	require.NoError(t, os.WriteFile(there, []byte("mine"), 0o644))
	_, errs, code := run(t, "shrink", in, "-o", there)
	assert.Equal(t, 1, code, errs)
	assert.Contains(t, errs, "already exists")
	if runtime.GOOS == "linux" {
		_, errs, code = run(t, "shrink", in, "-o", "/dev/full")
		assert.NotZero(t, code)
		assert.Contains(t, errs, "no space")
	}
	refused := func(name string, kind int, words string) {
		t.Helper()
		out := filepath.Join(dir, "out")
		_, errs, code := run(t, "shrink", name, "-o", out)
		assert.Equal(t, kind, code, errs)
		assert.Contains(t, errs, words)
		assert.NoFileExists(t, out)
	}
	refused(unpacked(t, "win-net10-zoo-triage"), 3, "GC heap")
	made := func(b []byte) string {
		file := filepath.Join(t.TempDir(), "made.dmp")
		require.NoError(t, os.WriteFile(file, b, 0o600))
		return file
	}
	foreign := synth.NewMinidump()
	foreign.ForeignSystem(synth.MinidumpAMD64, synth.MinidumpLinux, "Linux")
	foreign.Memory(synth.MinidumpRange{Addr: 0x10000, Data: make([]byte, 64)})
	refused(made(foreign.Bytes()), 5, "no runtime")
	native := synth.ELFCore{Notes: []synth.ELFNote{synth.ELFThread(7, 6, make([]uint64, 27))}, Segments: []synth.ELFSegment{{Addr: 0x10000, Data: make([]byte, 4096), Flags: 6}}}
	refused(made(native.Bytes()), 5, "no runtime")
	raw, err := os.ReadFile(in)
	require.NoError(t, err)
	cut := filepath.Join(dir, "cut")
	require.NoError(t, os.WriteFile(cut, raw[:len(raw)/8], 0o600))
	_, errs, code = run(t, "shrink", cut, "-o", filepath.Join(dir, "out"))
	assert.NotZero(t, code, errs)
	assert.NoFileExists(t, filepath.Join(dir, "out"))
}

// TestShrunkDamage checks that a dump with a damaged or newer note is rejected, since the removed memory is unknown.
func TestShrunkDamage(t *testing.T) {
	for _, name := range testcase.Sample(t, []string{"net10-crash-null-triage", "win-net8-zoo"}, 2) {
		in := unpacked(t, name)
		dir := t.TempDir()
		out := filepath.Join(dir, "out.dmp")
		_, errs, code := run(t, "shrink", in, "-o", out)
		require.Zero(t, code, errs)
		good, err := os.ReadFile(out)
		require.NoError(t, err)
		at := bytes.Index(good, []byte("sosgo shrink"))
		require.Positive(t, at)
		for what, damage := range map[string]func(b []byte){
			"magic":   func(b []byte) { b[at] ^= 1 },
			"version": func(b []byte) { b[at+12] = 3 },
			"mark":    func(b []byte) { binary.LittleEndian.PutUint64(b[at+16:], 0) },
		} {
			b := bytes.Clone(good)
			damage(b)
			bad := filepath.Join(dir, what)
			require.NoError(t, os.WriteFile(bad, b, 0o600))
			_, errs, code := run(t, "-d", bad, "threads")
			assert.Equal(t, 2, code, "%s: %s", what, errs)
			assert.Contains(t, errs, "shr", what)
		}
		// A dump truncated after its note still opens.
		cut := filepath.Join(dir, "cut.dmp")
		require.NoError(t, os.WriteFile(cut, good[:len(good)*3/4], 0o600))
		d, err := sosgo.Open(cut, sosgo.Options{Offline: true})
		require.NoError(t, err)
		assert.True(t, d.File().LeftOut())
		require.NoError(t, d.Close())
	}
}

// TestShrinkFiles checks that pages which a dump leaves to module files are there again with the files, as they were.
func TestShrinkFiles(t *testing.T) {
	testcase.Corpus(t, testcase.Named("net10-zoo-withheap", "net8-heap-withheap", "net9-zoo-withheap"), func(t *testing.T, c *testcase.Case) int {
		testcase.NeedModules(t, c)
		out := filepath.Join(t.TempDir(), "out.dmp")
		_, errs, code := run(t, "--modules", c.Modules, "shrink", c.Path, "-o", out)
		require.Zero(t, code, errs)
		before, err := sosgo.Open(c.Path, sosgo.Options{Offline: true})
		require.NoError(t, err)
		defer before.Close()
		after, err := sosgo.Open(out, sosgo.Options{Offline: true, Modules: []string{c.Modules}})
		require.NoError(t, err)
		defer after.Close()
		require.NotZero(t, after.File().InFileBytes())
		pages, some := 0, target.Addr(0)
		for r := range after.Target().Regions() {
			for at := uint64(0); at < r.Stored; at += 4096 {
				a := r.Start + target.Addr(at)
				if _, err := target.Uint8(after.Target(), a); !errors.Is(err, target.ErrInModuleFile) {
					continue
				}
				if _, err := after.ModuleFile(after.ModuleAt(a)); err != nil {
					continue // a library of the system
				}
				pages++
				want, err := target.Bytes(before.Target(), a, 4096)
				require.NoError(t, err)
				got, err := target.Bytes(after.Memory(), a, 4096)
				require.NoError(t, err, "pages that the process had changed stay")
				require.True(t, bytes.Equal(want, got), "page at %v", a)
				some = a
			}
		}
		patchedStays(t, c, before, some)
		return pages
	})
}

// patchedStays checks that a page of an image stays if it differs from the module file.
func patchedStays(t *testing.T, c *testcase.Case, before *sosgo.Dump, page target.Addr) {
	t.Helper()
	want, err := target.Bytes(before.Target(), page, 4096)
	require.NoError(t, err)
	raw, err := c.Raw()
	require.NoError(t, err)
	raw = bytes.Clone(raw)
	at := bytes.Index(raw, want)
	require.Equal(t, at, bytes.LastIndex(raw, want), "the page is in the file once")
	raw[at+100] ^= 0xff
	dir := t.TempDir()
	patched, out := filepath.Join(dir, "patched.dmp"), filepath.Join(dir, "out.dmp")
	require.NoError(t, os.WriteFile(patched, raw, 0o600))
	_, errs, code := run(t, "--modules", c.Modules, "shrink", patched, "-o", out)
	require.Zero(t, code, errs)
	after, err := sosgo.Open(out, sosgo.Options{Offline: true})
	require.NoError(t, err)
	defer after.Close()
	got, err := target.Bytes(after.Target(), page, 4096)
	require.NoError(t, err)
	want = bytes.Clone(want)
	want[100] ^= 0xff
	assert.True(t, bytes.Equal(want, got), "page at %v", page)
}
