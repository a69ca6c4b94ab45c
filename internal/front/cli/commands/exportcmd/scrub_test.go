package exportcmd_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

const dumps = "../../../../../testdata/dumps/"

// run runs a command line and returns its output.
func run(t *testing.T, args ...string) (out, errs string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	code = cli.Main(t.Context(), args, strings.NewReader(""), &o, &e, cli.Env{Commands: commands.All(), Open: func(ctx context.Context, path string, oo cli.OpenOptions) (cli.Dump, error) {
		oo.Offline, oo.NoCache = true, true
		return commands.Open(ctx, path, oo)
	}})
	return o.String(), e.String(), code
}

// unpacked writes a canned dump to a file.
func unpacked(t *testing.T, name string) string {
	t.Helper()
	packed, err := os.ReadFile(dumps + name + "/" + filepath.Base(name) + ".dmp.zst")
	if err != nil {
		t.Skip("no canned dump")
	}
	file := filepath.Join(t.TempDir(), "in.dmp")
	require.NoError(t, os.WriteFile(file, unzstd(t, packed), 0o644))
	return file
}

func unzstd(t *testing.T, packed []byte) []byte {
	t.Helper()
	d, err := zstd.NewReader(nil)
	require.NoError(t, err)
	defer d.Close()
	b, err := d.DecodeAll(packed, nil)
	require.NoError(t, err)
	return b
}

// texts returns the strings of a heap by address.
func texts(t *testing.T, file string) map[uint64]string {
	t.Helper()
	d, err := sosgo.Open(file, sosgo.Options{Offline: true})
	require.NoError(t, err)
	defer d.Close()
	out := map[uint64]string{}
	h, err := d.Heap()
	if err != nil {
		return out
	}
	rt, err := d.Runtime()
	require.NoError(t, err)
	for o, err := range h.Objects() {
		if err == nil && o.Type.Addr == rt.WellKnown().String {
			chars, n, err := rt.StringChars(o.Addr)
			if err != nil {
				continue
			}
			if b, err := target.Bytes(h.Memory(), chars, int(2*n)); err == nil {
				out[uint64(o.Addr)] = utf16text.String(b)
			}
		}
	}
	return out
}

// why lists commands that explain a process.
var why = []string{"crashinfo", "clrthreads", "threads", "clrstack -all", "printexception", "dumpexceptions", "syncblk -all", "locks", "waits", "tasks", "dumpasync", "threadpool", "timerinfo",
	"dumpheap -stat", "gchandles -stat", "finalizequeue -stat", "eeheap -gc", "gcheapstat", "retained", "leaks", "statics -all", "clrmodules", "assemblies", "runtimes", "memory",
	"verifyheap", "analyzeoom", "triage", "heapmap", "stacks", "initializers"}

// answers runs the commands of why and gcroot for an object in one session, and returns the documents.
func answers(t *testing.T, file string, object uint64) (docs []any) {
	t.Helper()
	args := []string{"-d", file, "--json"}
	for _, line := range why {
		args = append(args, "-c", line)
	}
	args = append(args, "-c", fmt.Sprintf("gcroot -all %x", object))
	out, errs, _ := run(t, args...)
	require.NotContains(t, errs, "usage:")
	for d := json.NewDecoder(strings.NewReader(out)); d.More(); {
		var doc map[string]any
		require.NoError(t, d.Decode(&doc))
		delete(doc, "messages") // warnings list missing parts in one line
		delete(doc, "dump")
		docs = append(docs, doc)
	}
	return docs
}

// A mapping maps the replacement texts of a scrubbed dump to the original texts.
type mapping struct {
	whole   map[string]string
	fresh   map[string]string // original text to replacement
	pairs   []string          // long texts only
	parts   *strings.Replacer // of pairs
	cut     *strings.Replacer // like parts, without the full stop that answers omit
	numbers bool              // numbers were replaced, too
}

// names adds the names of threads, which may not be objects.
func (m *mapping) names(want, got any) {
	switch w := want.(type) {
	case map[string]any:
		g, _ := got.(map[string]any)
		for k, v := range w {
			if name, ok := v.(string); ok && (k == "name" || k == "threadName") {
				if fresh, _ := g[k].(string); fresh != name && len(fresh) == len(name) && m.whole[fresh] == "" {
					m.whole[fresh] = name
					m.pairs = append(m.pairs, fresh, name)
				}
			}
			m.names(v, g[k])
		}
	case []any:
		g, _ := got.([]any)
		for i := range min(len(w), len(g)) {
			m.names(w[i], g[i])
		}
	}
}

// same compares two answers, ignoring replaced texts.
func (m *mapping) same(t *testing.T, path string, want, got any) bool {
	switch w := want.(type) {
	case map[string]any:
		g, _ := got.(map[string]any)
		if !assert.Len(t, g, len(w), path) {
			return false
		}
		for k, v := range w {
			if k == "fp" {
				continue // a register that may not be a pointer
			}
			if (k == "start" || k == "end") && w["type"] != nil && strings.HasSuffix(path, "args") {
				continue // where an argument is in a text: another text may have a full stop more
			}
			if (k == "value" || k == "text") && (w["type"] == "System.Char" || m.numbers && strings.HasPrefix(path, "statics")) {
				continue // a single character, or a number
			}
			if !m.same(t, path+"."+k, v, g[k]) {
				return false
			}
		}
		return true
	case []any:
		g, _ := got.([]any)
		if !assert.Len(t, g, len(w), path) {
			return false
		}
		for i := range w {
			if !m.same(t, path, w[i], g[i]) {
				return false
			}
		}
		return true
	case string:
		g, _ := got.(string)
		if text, err := strconv.Unquote(g); err == nil && m.whole[text] != "" {
			g = strconv.Quote(m.whole[text])
		}
		if strings.Contains(g, "\x00") && (len(g) == len(w) || len(g) == len(w)+1) {
			return true // a text without a walkable heap, or without its full stop
		}
		return w == g || m.whole[g] == w || w == m.cut.Replace(g) || assert.Equal(t, w, m.parts.Replace(g), path)
	}
	return assert.Equal(t, want, got, path)
}

// TestScrubAnswers checks that a scrubbed dump gives the same answers as the original, except for texts.
func TestScrubAnswers(t *testing.T) {
	for _, name := range testcase.Sample(t, []string{"net10-zoo", "net31-zoo", "nativeaot-crash", "win-net8-zoo", "net10-crash-null-triage", "net10-arm64", "waits/net10-asyncwaits"}, 3) {
		t.Run(filepath.Base(name), func(t *testing.T) { sameAnswers(t, unpacked(t, name)) })
	}
	t.Run("numbers", func(t *testing.T) { sameAnswers(t, unpacked(t, "net10-zoo"), "-numbers") })
}

// scrubbed are dumps of all kinds: with and without heap, of Linux and Windows, .NET 3.1 to 10, collectible types,
// two runtimes in one process, NativeAOT and ARM64.
var scrubbed = []string{"net10-loaders-withheap", "net10-crash-nested-withheap", "net31-zoo-normal", "net8-zoo-triage", "net9-zoo-normal", "nativeaot-crash-full", "sxs-full", "arm64-net10-zoo-withheap",
	"win-net6-zoo-withheap", "win-net8-ae-null-normal", "win-net8-crash-nested-withheap", "win-net10-crash-aggregate-triage"}

// TestScrubCorpus runs sameAnswers for whole dumps, or those matching SOSGO_SCRUB. No replaced text may remain
// anywhere in the file.
func TestScrubCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	names := scrubbed
	if others := os.Getenv("SOSGO_SCRUB"); others != "" {
		names = strings.Split(others, ",")
	}
	testcase.Corpus(t, testcase.Named(names...), func(t *testing.T, c *testcase.Case) int { return sameAnswers(t, c.Path) })
}

// sameAnswers scrubs a dump and compares the answers before and after.
func sameAnswers(t *testing.T, in string, options ...string) (compared int) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.dmp")
	_, errs, code := run(t, append([]string{"scrub", in, "-o", out}, options...)...)
	require.Contains(t, []int{0, 3}, code, errs)
	before := texts(t, in)
	m := checkTexts(t, before, texts(t, out))
	m.numbers = len(options) > 0
	object := uint64(1)
	if len(before) > 0 {
		object = slices.Min(slices.Collect(maps.Keys(before)))
	}
	want, got := answers(t, in, object), answers(t, out, object)
	require.Len(t, got, len(want))
	m.names(want, got)
	m.parts = strings.NewReplacer(m.pairs...)
	cut := slices.Clone(m.pairs)
	for i := 1; i < len(cut); i += 2 {
		cut[i] = strings.TrimSuffix(cut[i], ".")
	}
	m.cut = strings.NewReplacer(cut...)
	for i := range want {
		m.same(t, append(why, "gcroot")[i], want[i], got[i])
	}
	b, err := os.ReadFile(out)
	require.NoError(t, err)
	var gone []string // in UTF-8 and UTF-16
	for text, fresh := range m.fresh {
		if fresh != text && len(text) > leastSearched && strings.Contains(text, " ") && !ofFramework.MatchString(text) {
			gone = append(gone, text, string(wide(text)))
		}
	}
	left := foundIn(b, gone)
	assert.Empty(t, left[:min(10, len(left))], "they are left in the file")
	return len(want)
}

// foundIn returns the texts found in b. It looks at each byte once, so that it can search for thousands of texts.
func foundIn(b []byte, texts []string) (found []string) {
	var marks [1 << 16]bool
	mark := func(start uint64) *bool { return &marks[start*0x9e3779b97f4a7c15>>48] }
	byStart := map[uint64][]string{}
	for _, text := range texts {
		start := binary.LittleEndian.Uint64([]byte(text)) // all texts have at least eight bytes
		byStart[start] = append(byStart[start], text)
		*mark(start) = true
	}
	for i := 0; i+8 <= len(b); i++ {
		start := binary.LittleEndian.Uint64(b[i:])
		if !*mark(start) {
			continue
		}
		for _, text := range byStart[start] {
			if bytes.HasPrefix(b[i:], []byte(text)) && !slices.Contains(found, text) {
				found = append(found, text)
			}
		}
	}
	return found
}

// TestFoundIn checks that exactly the contained texts are found.
func TestFoundIn(t *testing.T) {
	texts := []string{"a sentence", "a sentence that goes on", "another sentence", "at the end", "at the start"}
	assert.ElementsMatch(t, []string{"a sentence", "at the end", "at the start"}, foundIn([]byte("at the start, a sentence, a sentence that goes, another, at the end"), texts))
}

// ofFramework matches names with parameters, and messages in .NET's own images.
var ofFramework = regexp.MustCompile(`[(=]|\.NET|^--- End of|^Invariant |ICU package`)

// leastSearched is the minimum length of a searched text. Shorter texts may also be names in modules.
const leastSearched = 12

// checkTexts checks that lengths stay the same, equal texts stay equal and different texts stay different.
func checkTexts(t *testing.T, before, after map[uint64]string) *mapping {
	t.Helper()
	require.Len(t, after, len(before))
	fresh := map[string]string{}
	m := &mapping{whole: map[string]string{}, fresh: fresh}
	for a, text := range before {
		g := after[a]
		assert.Len(t, utf16.Encode([]rune(g)), len(utf16.Encode([]rune(text))), "%q", text)
		if was, ok := fresh[text]; ok {
			assert.Equal(t, was, g, "equal texts stay equal: %q", text)
			continue
		}
		was, ok := m.whole[g]
		assert.False(t, ok, "%q and %q became equal", text, was)
		fresh[text], m.whole[g] = g, text
		if g != text && len(g) > 5 {
			m.pairs = append(m.pairs, g, text)
		}
	}
	if len(before) > 100 {
		assert.Greater(t, len(m.pairs), 10, "texts are replaced")
	}
	return m
}

// user is a name in the folder of a program.
const user = "alice-of-the-shop"

// atHome pretends that the program of a dump is in the folder of user.
func atHome(t *testing.T, raw []byte) []byte {
	t.Helper()
	const folder = "/var/tmp/sosgo-debuggee/"
	for _, form := range []func(string) []byte{func(s string) []byte { return []byte(s) }, wide} {
		raw = bytes.ReplaceAll(raw, form(folder), form("/home/"+user+"/"))
		require.True(t, bytes.Contains(raw, form(user)))
	}
	return raw
}

// planted lists the texts in the memory of net10-secrets.
func planted(t *testing.T) (out []string) {
	t.Helper()
	facts, err := os.ReadFile(dumps + "secrets/net10-secrets/facts.txt")
	if err != nil {
		t.Skip("no canned dump")
	}
	for line := range strings.Lines(string(facts)) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case word == "PLANT":
			_, value, _ := strings.Cut(rest, " ")
			for part := range strings.SplitSeq(value, `\n`) {
				out = append(out, part)
			}
		case word == "HIDE":
			out = append(out, rest)
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return len(s) < 5 || strings.HasPrefix(s, "-----") })
}

// wide returns a text in UTF-16.
func wide(text string) (b []byte) {
	for _, c := range utf16.Encode([]rune(text)) {
		b = binary.LittleEndian.AppendUint16(b, c)
	}
	return b
}

// TestScrubSecrets checks that no planted secret remains, for all forms of input and output.
func TestScrubSecrets(t *testing.T) {
	hidden := planted(t)
	require.Greater(t, len(hidden), 75)
	in := unpacked(t, "secrets/net10-secrets")
	raw, err := os.ReadFile(in)
	require.NoError(t, err)
	raw = atHome(t, raw)
	require.NoError(t, os.WriteFile(in, raw, 0o600))
	hidden = append(hidden, user)
	dir := t.TempDir()
	packed := filepath.Join(dir, "in.gz")
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write(raw)
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(packed, z.Bytes(), 0o644))
	pack := filepath.Join(dir, "in.tar.zst")
	_, errs, code := run(t, "-d", in, "-c", "pack -o "+pack)
	require.Zero(t, code, errs)
	for i, from := range []string{in, packed, dumps + "secrets/net10-secrets/net10-secrets.dmp.zst", pack} {
		out := filepath.Join(dir, []string{"a.dmp", "b.dmp.zst", "c.dmp", "d.dmp"}[i])
		args := []string{"scrub", from, "-o", out}
		if i == 2 {
			args = append(args, "-numbers")
		}
		text, errs, code := run(t, args...)
		require.Zero(t, code, errs)
		assert.Contains(t, text, "values known as secrets")
		st, err := os.Stat(out)
		require.NoError(t, err)
		if runtime.GOOS != "windows" {
			assert.EqualValues(t, 0o600, st.Mode().Perm())
		}
		b, err := os.ReadFile(out)
		require.NoError(t, err)
		if strings.HasSuffix(out, ".zst") {
			b = unzstd(t, b)
		}
		require.Len(t, b, len(raw))
		for _, secret := range hidden {
			assert.False(t, bytes.Contains(b, []byte(secret)), "%s has %s", out, secret)
			assert.False(t, bytes.Contains(b, wide(secret)), "%s has %s in UTF-16", out, secret)
		}
	}
	found, narrow := 0, bytes.ReplaceAll(raw, []byte{0}, nil)
	for _, secret := range hidden {
		if bytes.Contains(raw, []byte(secret)) || bytes.Contains(narrow, []byte(secret)) {
			found++
		}
	}
	assert.Greater(t, found, 60, "they are in the dump")
}

// TestScrubMinidump checks that comments and thread names are replaced, and unknown streams removed.
func TestScrubMinidump(t *testing.T) {
	in := unpacked(t, "win-net8-zoo")
	raw, err := os.ReadFile(in)
	require.NoError(t, err)
	hidden := []string{"a comment about Ms. Smith", "an unknown stream", "zoo worker"}
	n, directory := binary.LittleEndian.Uint32(raw[8:]), binary.LittleEndian.Uint32(raw[12:])
	kinds := []uint32{10, 0x12345}
	for i := range n {
		e := raw[directory+12*i:]
		if binary.LittleEndian.Uint32(e) == 0 && len(kinds) > 0 {
			text := hidden[2-len(kinds)]
			for k, v := range []uint32{kinds[0], uint32(len(text)), uint32(len(raw))} {
				binary.LittleEndian.PutUint32(e[4*k:], v)
			}
			raw, kinds = append(raw, text...), kinds[1:]
		}
	}
	require.Empty(t, kinds, "unused entries of the directory")
	require.NoError(t, os.WriteFile(in, raw, 0o600))
	out := filepath.Join(t.TempDir(), "out.dmp")
	_, errs, code := run(t, "scrub", in, "-o", out)
	require.Contains(t, []int{0, 3}, code, errs)
	b, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Len(t, b, len(raw))
	for _, text := range hidden[:2] {
		assert.True(t, bytes.Contains(raw, []byte(text)))
		assert.False(t, bytes.Contains(b, []byte(text)), text)
	}
	threads, _, _ := run(t, "-d", out, "-c", "threads")
	assert.NotContains(t, threads, hidden[2])
	assert.Contains(t, threads, ".NET Finalizer")
}

// TestScrubForeign checks a minidump of another system's crash reporter. Environment, arguments, annotations and
// stacks are replaced; threads, modules and the crash stay.
func TestScrubForeign(t *testing.T) {
	const secret = "hunter2-of-the-shop"
	m := synth.NewMinidump()
	m.ForeignSystem(synth.MinidumpAMD64, synth.MinidumpLinux, "Linux 6.1.0")
	m.Modules(synth.MinidumpModule{Base: 0x400000, Size: 0x3000, Path: "/opt/app/app"})
	stack := make([]byte, 0x1000)
	copy(stack[0x100:], secret)
	copy(stack[0x200:], wide(secret))
	binary.LittleEndian.PutUint64(stack[0x300:], 0x400123)
	m.Threads(synth.MinidumpThread{ID: 7, StackStart: 0x7ffc00000000, StackSize: 0x1000, Context: synth.AMD64Context(0x10000f, [16]uint64{0: 0x72657474_6e7568, 4: 0x7ffc00000000}, 0x400100, 0x246)})
	m.Memory(synth.MinidumpRange{Addr: 0x7ffc00000000, Data: stack})
	for kind, text := range map[uint32]string{0x47670002: secret, 0x47670006: "/opt/app/app\x00--password\x00" + secret + "\x00", 0x47670007: "TOKEN=" + secret + "\x00DOTNET_gcServer=1\x00",
		0x4d7a0001: secret, 0x47670004: "Pid:\t7\n"} {
		m.Stream(kind, []byte(text))
	}
	m.Crashpad([]synth.MinidumpNote{{Key: "token", Value: secret}}, 0, []string{secret}, nil, nil)
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.dmp"), filepath.Join(dir, "out.dmp")
	require.NoError(t, os.WriteFile(in, m.Bytes(), 0o600))
	_, errs, code := run(t, "scrub", in, "-o", out)
	require.Zero(t, code, errs)
	b, err := os.ReadFile(out)
	require.NoError(t, err)
	for _, form := range [][]byte{[]byte(secret), wide(secret), []byte("hunter2"), []byte("hunter")} {
		assert.False(t, bytes.Contains(b, form), "%q", form)
	}
	for _, stays := range []string{"/opt/app/app", "TOKEN=", "DOTNET_gcServer=1", "#\x01@\x00\x00\x00\x00\x00"} {
		assert.True(t, bytes.Contains(b, []byte(stays)), "%q", stays)
	}

	for _, name := range []string{"game-server__1.dmp", "game-server__2.dmp", "game-server__5.dmp", "rust-minidump__linux-mini.dmp", "swift-lldb__linux-x86_64.dmp"} {
		t.Run(name, func(t *testing.T) {
			raw := testcase.Foreign(t, name)
			in, out := filepath.Join(t.TempDir(), "in.dmp"), filepath.Join(t.TempDir(), "out.dmp")
			require.NoError(t, os.WriteFile(in, raw, 0o600))
			d, err := dump.Open(in, dump.Options{})
			require.NoError(t, err)
			defer d.Close()
			shown := d.Process().Command[:strings.IndexByte(d.Process().Command+" ", ' ')] // the program and paths are kept
			for _, m := range d.Modules() {
				shown += " " + m.Path
			}
			for r := range d.Regions() {
				shown += " " + r.Path
			}
			var hidden []string
			for _, v := range d.Environment() {
				if _, value, _ := strings.Cut(v, "="); len(value) >= 6 && strings.Trim(value, "X") != "" && !strings.Contains(shown, value) {
					hidden = append(hidden, value)
				}
			}
			for i, arg := range strings.Fields(d.Process().Command) {
				if i > 0 && len(arg) >= 6 && strings.Trim(arg, "X") != "" {
					hidden = append(hidden, arg)
				}
			}
			require.NotEmpty(t, hidden)
			_, errs, code := run(t, "scrub", in, "-o", out)
			require.Zero(t, code, errs)
			b, err := os.ReadFile(out)
			require.NoError(t, err)
			for _, h := range hidden {
				assert.False(t, bytes.Contains(b, []byte(h)), "%q", h)
			}
			for _, command := range []string{"threads", "summarize -full"} {
				before, _, _ := run(t, append([]string{"-d", in}, strings.Fields(command)...)...)
				after, _, _ := run(t, append([]string{"-d", out}, strings.Fields(command)...)...)
				if command != "threads" {
					before, after = signatureOf.FindString(before), signatureOf.FindString(after)
				}
				assert.NotEmpty(t, before)
				assert.Equal(t, before, after, command)
			}
		})
	}
}

// TestScrubRefusedKinds checks that unsupported kinds of dumps are named, with advice.
func TestScrubRefusedKinds(t *testing.T) {
	memory := make([]byte, 4096)
	apple := synth.MachOCore{Threads: [][]byte{synth.MachOThread(synth.MachOAMD64([21]uint64{}))}, Segments: []synth.MachOSegment{{Name: "data", Addr: 0x10000, Data: memory, Prot: 3}}}
	small := synth.NewMinidump()
	small.ForeignSystem(synth.MinidumpX86, synth.MinidumpLinux, "Linux")
	small.Memory(synth.MinidumpRange{Addr: 0x10000, Data: memory})
	for words, b := range map[string][]byte{"Mach-O core": apple.Bytes(), "32 bits": small.Bytes()} {
		in, out := filepath.Join(t.TempDir(), "in.dmp"), filepath.Join(t.TempDir(), "out.dmp")
		require.NoError(t, os.WriteFile(in, b, 0o600))
		for _, command := range []string{"scrub", "shrink"} {
			_, errs, code := run(t, command, in, "-o", out)
			assert.Equal(t, 5, code, errs)
			assert.Contains(t, errs, words)
			assert.Contains(t, errs, "sosgo report")
			assert.NoFileExists(t, out)
		}
	}
}

var signatureOf = regexp.MustCompile(`"signature":"[0-9a-f]{16}"`)

// TestScrubRefused checks that files are not overwritten, failures leave no file, and a dump without memory is
// rejected.
func TestScrubRefused(t *testing.T) {
	in := unpacked(t, "net10-crash-null-triage")
	before, err := os.ReadFile(in)
	require.NoError(t, err)
	dir := t.TempDir()
	there := filepath.Join(dir, "there")
	require.NoError(t, os.WriteFile(there, []byte("mine"), 0o644))
	for _, out := range []string{in, there} {
		_, errs, code := run(t, "scrub", in, "-o", out)
		assert.Equal(t, 1, code, errs)
		assert.Contains(t, errs, "already exists")
	}
	_, errs, code := run(t, "scrub", in)
	assert.Equal(t, 1, code, errs)
	if full := "/dev/full"; runtime.GOOS == "linux" {
		_, errs, code = run(t, "scrub", in, "-o", full)
		assert.NotZero(t, code)
		assert.Contains(t, errs, "no space")
	}
	_, errs, code = run(t, "scrub", in, "-o", filepath.Join(dir, "none", "out"))
	assert.NotZero(t, code, errs)
	after, err := os.ReadFile(in)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(before, after))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Equal(t, []string{"there"}, slices.Collect(func(yield func(string) bool) {
		for _, e := range left {
			if !yield(e.Name()) {
				return
			}
		}
	}))
}

// TestScrubDamaged checks that a truncated or damaged dump is scrubbed as far as it is readable.
func TestScrubDamaged(t *testing.T) {
	in := unpacked(t, "secrets/net10-secrets")
	raw, err := os.ReadFile(in)
	require.NoError(t, err)
	hidden := planted(t)
	dir := t.TempDir()
	for i, change := range []func([]byte) []byte{
		func(b []byte) []byte { return b[:len(b)/2] },
		func(b []byte) []byte { return b[:len(b)*9/10+3] },
		func(b []byte) []byte {
			for i := len(b) / 3; i < len(b); i += 1 << 14 {
				b[i] ^= 0xff
			}
			return b
		},
		func(b []byte) []byte {
			return bytes.ReplaceAll(b, []byte("DotNetRuntimeInfo"), []byte("DotNetRuntimeNone"))
		},
	} {
		damaged, out := filepath.Join(dir, "in"+string(rune('0'+i))), filepath.Join(dir, "out"+string(rune('0'+i)))
		require.NoError(t, os.WriteFile(damaged, change(bytes.Clone(raw)), 0o600))
		_, errs, code := run(t, "scrub", damaged, "-o", out)
		b, err := os.ReadFile(out)
		if err != nil {
			assert.ErrorIs(t, err, fs.ErrNotExist)
			assert.Contains(t, []int{3, 4, 5}, code, errs)
			t.Logf("change %d: %s", i, errs)
			continue
		}
		for _, secret := range hidden {
			assert.False(t, bytes.Contains(b, []byte(secret)), "change %d leaves %s", i, secret)
		}
	}
}

// withMapping returns an ELF core with one more private mapping, which has the text.
func withMapping(t *testing.T, core, text []byte, at uint64) []byte {
	t.Helper()
	const phoff, phnum, entry, load, rw = 32, 56, 56, 1, 6
	le := binary.LittleEndian
	out := append(bytes.Clone(core), make([]byte, -len(core)&4095)...)
	head := le.AppendUint64(le.AppendUint32(le.AppendUint32(nil, load), rw), uint64(len(out)))
	for _, v := range []uint64{at, 0, uint64(len(text)), uint64(len(text)), 4096} {
		head = le.AppendUint64(head, v)
	}
	require.Len(t, head, entry)
	n, from := le.Uint16(core[phnum:]), le.Uint64(core[phoff:])
	out = append(out, text...)
	le.PutUint64(out[phoff:], uint64(len(out)))
	le.PutUint16(out[phnum:], n+1)
	entries := slices.Collect(slices.Chunk(core[from:from+uint64(n)*entry], entry))
	i := slices.IndexFunc(entries, func(e []byte) bool { return le.Uint32(e) == load && le.Uint64(e[16:]) > at })
	if i < 0 {
		i = len(entries)
	}
	return append(out, slices.Concat(slices.Insert(entries, i, head)...)...)
}

// TestScrubProbes checks that nothing stays of a mapping that readers only look at, to find out whether malloc's memory begins
// there: neither of its first page nor of others, wherever it is and however the file is read.
func TestScrubProbes(t *testing.T) {
	core, err := os.ReadFile(unpacked(t, "secrets/net10-secrets"))
	require.NoError(t, err)
	const words = "owner=anna;passphrase=Germanium-Tide-77;"
	narrow, utf16 := []byte(strings.Repeat(words, 1640)[:1<<16]), wide(strings.Repeat(words, 820))[:1<<16]
	noise := make([]byte, 1<<16)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise) // never fails
	in, out := filepath.Join(t.TempDir(), "in.dmp"), filepath.Join(t.TempDir(), "out.dmp")
	for _, at := range []uint64{0x1000_0000, 0x6f00_0000_0000, 0x6f00_0010_0000} {
		for _, text := range [][]byte{narrow, utf16, noise} {
			for _, mapped := range []bool{true, false} {
				require.NoError(t, os.WriteFile(in, withMapping(t, core, text, at), 0o600))
				args := []string{"scrub", in, "-o", out}
				if !mapped {
					args = append(args, "--no-mmap")
				}
				_, errs, code := run(t, args...)
				require.Zero(t, code, errs)
				b, err := os.ReadFile(out)
				require.NoError(t, err)
				from := (len(core) + 4095) &^ 4095 // letters that replace texts elsewhere can be a short part by chance
				mapping := b[from : from+len(text)]
				for i := 0; i < len(noise); i += 4096 { // a block of memory could begin there
					stays := bytes.Contains(b, noise[i:i+8]) || bytes.Contains(b, noise[i+8:i+16])
					assert.False(t, stays, "%#x %v: a key at %#x", at, mapped, i)
				}
				for _, part := range []string{"anna;", "Germ", "passp", "Tide"} {
					assert.False(t, bytes.Contains(mapping, []byte(part)), "%#x %v: %s", at, mapped, part)
					assert.False(t, bytes.Contains(mapping, wide(part)), "%#x %v: %s in UTF-16", at, mapped, part)
				}
				for _, part := range []string{"passphrase=", "Germanium"} {
					assert.False(t, bytes.Contains(b, []byte(part)) || bytes.Contains(b, wide(part)), "%#x %v: %s", at, mapped, part)
				}
				require.NoError(t, os.Remove(out))
			}
		}
	}
}

// TestScrubStacks checks that no text of a stack stays, also when the file is not mapped, as a dump at an address never is.
func TestScrubStacks(t *testing.T) {
	path := unpacked(t, "net10-zoo")
	core, err := os.ReadFile(path)
	require.NoError(t, err)
	d, err := dump.Open(path, dump.Options{})
	require.NoError(t, err)
	const text, phoff, phnum, entry = "passphrase=Tide-77;", 32, 56, 56
	le, planted := binary.LittleEndian, 0
	headers := core[le.Uint64(core[phoff:]):][:entry*int(le.Uint16(core[phnum:]))]
	for header := range slices.Chunk(bytes.Clone(headers), entry) {
		off, at, size := le.Uint64(header[8:]), le.Uint64(header[16:]), le.Uint64(header[32:])
		ofStack := func(th target.Thread) bool { return th.Stack.Contains(target.Addr(at)) }
		for b := core[off:][:size]; len(b) >= 64 && slices.ContainsFunc(d.Threads(), ofStack); b = b[64:] {
			if len(bytes.Trim(b[:64], "\x00")) == 0 {
				planted += copy(b[8:], text)
			}
		}
	}
	require.NoError(t, d.Close())
	require.Greater(t, planted, 100*len(text))
	in, out := filepath.Join(t.TempDir(), "in.dmp"), filepath.Join(t.TempDir(), "out.dmp")
	require.NoError(t, os.WriteFile(in, core, 0o600))
	for _, args := range [][]string{{}, {"--no-mmap"}} {
		_, errs, code := run(t, append(args, "scrub", in, "-o", out)...)
		require.Zero(t, code, errs)
		b, err := os.ReadFile(out)
		require.NoError(t, err)
		assert.Less(t, bytes.Count(b, []byte(text[:8])), 4, "%v: the runtime's own frames, which are read, may have some", args) // of thousands
		require.NoError(t, os.Remove(out))
	}
}
