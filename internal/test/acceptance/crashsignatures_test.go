package acceptance_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/signature"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// crashNames name the crash that dumps are of, by a part of their names and by what the programs do.
var crashNames = []struct{ part, crash string }{
	{"crash-nested", "Scenario.Submit"}, {"ae-nested", "Scenario.Submit"}, {"crash-null", "Scenario.Dereference"}, {"ae-null", "Scenario.Dereference"},
	{"crash-aggregate", "Scenario.Run waits"}, {"nativeaot-crash", "Program.Ship"}, {"net10-single", "Pocket killed"}, {"net10-arm64", "Pocket killed"},
}

// TestCrashSignatures: the same crash on another version, another system, with and without module files has the same signature, or one of the two is weak;
// a different one has another.
func TestCrashSignatures(t *testing.T) {
	strong, count := map[string]string{}, map[string]int{} // signatures by crash, and how many dumps have it
	crashOf := map[string]string{}                         // crashes by strong signature
	see := func(t *testing.T, d *sosgo.Dump, crash string, withFiles bool) {
		v, err := d.View("")
		require.NoError(t, err)
		c, err := v.Crash(t.Context())
		require.NoError(t, err)
		if c.Alive {
			assert.Empty(t, crash, "a crash is seen")
			return
		}
		require.NotEmpty(t, crash, "the table names all crashes: %s", c.Reason)
		id := signature.Crash(c, nil)
		if id.SignatureStrength == answer.SignatureWeak {
			assert.False(t, withFiles && !strings.Contains(crash, " waits"), "%s %q", crash, id.SignatureParts) // a small dump lacks the list of causes
			return
		}
		if strong[crash] == "" {
			strong[crash] = id.Signature
			assert.Empty(t, crashOf[id.Signature], "%s %q", crash, id.SignatureParts)
			crashOf[id.Signature] = crash
		}
		count[crash]++
		assert.Equal(t, strong[crash], id.Signature, "%s %q", crash, id.SignatureParts)
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

// A faulting process has a fault that its dump does not have.
type faulting struct {
	target.Target
	exception target.Exception
}

func (f faulting) Exception() (target.Exception, bool) { return f.exception, true }

// TestNativeCrashSignatures: in processes of Windows a thread that the runtime does not know dies in a native module. The time stamp and size of the module
// and the offset identify the place with and without module files, as the build id does on Linux.
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
			c, err := v.Crash(t.Context())
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
