package acceptance_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/app/signature"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// crashNames are the crashes of the dumped programs, by a part of the dump's name.
var crashNames = []struct{ part, crash string }{
	{"crash-nested", "Scenario.Submit"}, {"ae-nested", "Scenario.Submit"}, {"crash-null", "Scenario.Dereference"}, {"ae-null", "Scenario.Dereference"},
	{"crash-aggregate", "Scenario.Run waits"}, {"nativeaot-crash", "Program.Ship"}, {"net10-single", "Pocket killed"}, {"net10-arm64", "Pocket killed"},
}

// TestCrashSignatures: the same crash on another version or system, with and without module files,
// has the same signature, unless one of them is weak. Different crashes have different signatures.
func TestCrashSignatures(t *testing.T) {
	strong, count := map[string]string{}, map[string]int{} // signatures by crash, and the number of dumps with it
	crashOf := map[string]string{}                         // crashes by strong signature
	see := func(t *testing.T, d *sosgo.Dump, known string, withFiles bool) {
		v, err := d.View("")
		require.NoError(t, err)
		c, err := crash.Describe(t.Context(), v.Process, crash.Options{})
		require.NoError(t, err)
		if c.Alive {
			assert.Empty(t, known, "a crash is seen")
			return
		}
		require.NotEmpty(t, known, "the table names all crashes: %s", c.Reason)
		id := signature.Crash(c, nil)
		if id.SignatureStrength == answer.SignatureWeak {
			// A small dump has no list of causes.
			assert.False(t, withFiles && !strings.Contains(known, " waits"), "%s %q", known, id.SignatureParts)
			return
		}
		if strong[known] == "" {
			strong[known] = id.Signature
			assert.Empty(t, crashOf[id.Signature], "%s %q", known, id.SignatureParts)
			crashOf[id.Signature] = known
		}
		count[known]++
		assert.Equal(t, strong[known], id.Signature, "%s %q", known, id.SignatureParts)
	}
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		crash := ""
		for _, n := range crashNames {
			if strings.Contains(d.Case.Name, n.part) {
				crash = n.crash
			}
		}
		see(t, d.Dump, crash, true)
		if crash == "" || d.Case.Modules == "" {
			return
		}
		without, err := sosgo.Open(d.Case.Path, sosgo.Options{NoLocalFiles: true})
		require.NoError(t, err)
		defer without.Close()
		see(t, without, crash, false)
	})
	for _, name := range []string{"game-server__1", "game-server__2", "game-server__5"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), name)
			require.NoError(t, os.WriteFile(file, testcase.Foreign(t, name+".dmp"), 0o600))
			d, err := sosgo.Open(file, sosgo.Options{NoLocalFiles: true})
			require.NoError(t, err)
			defer d.Close()
			see(t, d, name, true)
		})
	}
	t.Logf("dumps by crash: %v", count)
	if !testing.Short() && strong["Scenario.Run waits"] != "" {
		assert.GreaterOrEqual(t, count["Scenario.Submit"], 4, "more than one version and system is compared")
	}
}

// An unnamed process has a dump without the metadata of its modules.
type unnamed struct {
	target.Target
	lacks []target.Range
}

// first returns the first missing byte among n bytes at a.
func (u unnamed) first(a target.Addr, n int) (first target.Addr, lacks bool) {
	end := a + target.Addr(n)
	first = end
	for _, r := range u.lacks {
		if r.Start < end && a < r.End {
			first = min(first, max(a, r.Start))
		}
	}
	return first, first < end
}

func (u unnamed) ReadMemory(p []byte, a target.Addr) (int, error) {
	first, lacks := u.first(a, len(p))
	n, err := u.Target.ReadMemory(p[:first-a], a)
	if err == nil && lacks {
		err = &target.MemoryError{Addr: first, Size: len(p) - n, Err: target.ErrNotInDump}
	}
	return n, err
}

func (u unnamed) View(a target.Addr, n int) ([]byte, bool) {
	if _, lacks := u.first(a, n); lacks {
		return nil, false
	}
	return u.Target.View(a, n)
}

func (u unnamed) Span(a target.Addr) []byte {
	b := u.Target.Span(a)
	first, _ := u.first(a, len(b))
	return b[:first-a]
}

// TestUnnamedCrashSignatures: without module files, in Windows dumps without method names, crashes
// of one build have one signature if they are the same, and different ones otherwise. All are weak,
// because names would change them. In dumps without a crash, the test adds faults of the managed
// threads.
func TestUnnamedCrashSignatures(t *testing.T) {
	without := sosgo.Options{Offline: true, NoLocalFiles: true}
	crashOf, signatureOf := map[string]string{}, map[string]string{}
	defined, count := 0, map[string]int{} // frames, and dumps by crash
	open := func(t *testing.T, tgt target.Target, o sosgo.Options) (*sosgo.View, *answer.Crash) {
		d, err := sosgo.OpenTarget(tgt, o)
		require.NoError(t, err)
		t.Cleanup(func() { d.Close() })
		v, err := d.View("")
		require.NoError(t, err)
		c, err := crash.Describe(t.Context(), v.Process, crash.Options{})
		require.NoError(t, err)
		return v, c
	}
	see := func(t *testing.T, d *testdump.Dump, with, without target.Target, o sosgo.Options, crash string) {
		v, named := open(t, with, d.Options())
		_, c := open(t, without, o)
		if len(c.Stack)+len(c.Exceptions) == 0 { // the finalizer waits in native code
			return
		}
		methods := map[target.Addr]string{} // of the frames, by address
		for i := range named.Stack {
			methods[named.Stack[i].IP] = named.Stack[i].Method.S
		}
		for i := range named.Exceptions {
			for _, f := range named.Exceptions[i].Frames {
				methods[f.IP] = f.Method.S
			}
		}
		rt, err := v.Runtime()
		require.NoError(t, err)
		modules, err := rt.Modules()
		require.NoError(t, err)
		check := func(ip target.Addr, def *answer.Definition) {
			if def == nil {
				return
			}
			i := slices.IndexFunc(modules, func(m *dac.Module) bool { return m.Label() == def.Module })
			require.GreaterOrEqual(t, i, 0)
			md, err := modules[i].Metadata()
			require.NoError(t, err)
			name, err := md.MethodDefName(metadata.Token(def.Token).Row())
			require.NoError(t, err)
			assert.Equal(t, signature.Method(methods[ip]), signature.Method(name), "%v", def)
			defined++
		}
		for i := range c.Stack {
			check(c.Stack[i].IP, c.Stack[i].Definition)
		}
		for i := range c.Exceptions {
			for _, f := range c.Exceptions[i].Frames {
				check(f.IP, f.Definition)
			}
		}
		id := signature.Crash(c, nil)
		assert.Equal(t, answer.SignatureWeak, id.SignatureStrength, "%q", id.SignatureParts)
		assert.NotEqual(t, signature.Crash(named, nil).Signature, id.Signature)
		if crashOf[id.Signature] == "" {
			crashOf[id.Signature] = crash
		}
		if signatureOf[crash] == "" {
			signatureOf[crash] = id.Signature
		}
		assert.Equal(t, crash, crashOf[id.Signature], "%q", id.SignatureParts)
		assert.Equal(t, signatureOf[crash], id.Signature, "%q", id.SignatureParts)
		count[crash]++
	}
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		if d.Case.Manifest.OS != "windows" {
			return
		}
		for _, n := range crashNames {
			if strings.Contains(d.Case.Name, n.part) {
				version, _, _ := strings.Cut(strings.TrimPrefix(d.Case.Name, "win-"), "-")
				see(t, d, d.Target(), d.Target(), without, n.crash+" on "+version)
				return
			}
		}
		if d.Case.Name != "win-net10-zoo" && d.Case.Name != "win-net8-zoo" { // everything of these is in testdata
			return
		}
		v, err := d.View("")
		require.NoError(t, err)
		rt, err := v.Runtime()
		require.NoError(t, err)
		modules, err := rt.Modules()
		require.NoError(t, err)
		bare := unnamed{Target: d.Target()}
		for _, m := range modules {
			if _, err := m.Metadata(); err == nil && m.MetadataSource().Addr != 0 {
				from := m.MetadataSource()
				bare.lacks = append(bare.lacks, target.Range{Start: from.Addr, End: from.Addr + target.Addr(from.Size)})
			}
		}
		list, err := v.Threads()
		require.NoError(t, err)
		for i := range list {
			if list[i].Managed == nil || list[i].OS == nil || !list[i].OS.Registers.Known() {
				continue
			}
			x := target.Exception{Code: 0xc0000005, Words: "0xc0000005", Final: true, ThreadID: list[i].ID(), Registers: list[i].OS.Registers}
			x.Address, x.HasAddress = x.Registers.IP()
			see(t, d, faulting{d.Target(), x}, faulting{bare, x}, without, d.Case.Name+" "+strconv.Itoa(i))
		}
	})
	t.Logf("%d frames, dumps by crash: %v", defined, count)
	assert.NotZero(t, defined)
}

// A faulting process has an added fault.
type faulting struct {
	target.Target
	exception target.Exception
}

func (f faulting) Exception() (target.Exception, bool) { return f.exception, true }

// TestNativeCrashSignatures: in Windows processes a thread without a runtime thread dies in a
// native module. The module's time stamp and size and the offset identify the place with and
// without module files, like the build id on Linux.
func TestNativeCrashSignatures(t *testing.T) {
	seen := 0
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		if d.Case.Manifest.OS != "windows" {
			return
		}
		x := target.Exception{Code: 0xc0000005, Words: "0xc0000005", Final: true}
		v, err := d.View("")
		require.NoError(t, err)
		list, err := v.Threads()
		require.NoError(t, err)
		for i := range list {
			if list[i].Managed == nil && list[i].OS != nil && list[i].OS.Registers.Known() {
				x.ThreadID, x.Registers = list[i].ID(), list[i].OS.Registers
			}
		}
		modules := d.Target().Modules()
		i := slices.IndexFunc(modules, func(m target.Module) bool { return strings.EqualFold(target.BaseName(m.Path), "coreclr.dll") })
		if x.ThreadID == 0 || i < 0 {
			return
		}
		signed := func(offset target.Addr, o sosgo.Options) signature.CrashID {
			x := x
			x.Address, x.HasAddress = modules[i].Base+offset, true
			x.Registers.SetIP(x.Address)
			over, err := sosgo.OpenTarget(faulting{d.Target(), x}, o)
			require.NoError(t, err)
			defer over.Close()
			v, err := over.View("")
			require.NoError(t, err)
			c, err := crash.Describe(t.Context(), v.Process, crash.Options{})
			require.NoError(t, err)
			require.False(t, c.Alive)
			id := signature.Crash(c, nil)
			assert.Equal(t, answer.SignatureStrong, id.SignatureStrength, "%q %v", id.SignatureParts, c.Noted())
			return id
		}
		with, without := signed(0x12340, d.Options()), signed(0x12340, sosgo.Options{Offline: true, NoLocalFiles: true})
		assert.Equal(t, with, without)
		assert.Len(t, with.SignatureParts, 2)
		assert.NotEqual(t, with.Signature, signed(0x12350, d.Options()).Signature)
		seen++
	})
	t.Logf("%d dumps", seen)
	assert.NotZero(t, seen)
}
