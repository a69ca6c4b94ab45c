package minidump_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/minidump"
	"github.com/sosgo/sosgo/target"
)

// hex is a number that the oracle writes as "0x…".
type hex uint64

func (h *hex) UnmarshalText(b []byte) error {
	v, err := strconv.ParseUint(string(b), 0, 64)
	*h = hex(v)
	return err
}

func readFile(t testing.TB, path string) []byte {
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return b
}

func TestCorpus(t *testing.T) {
	testcase.Corpus(t, testcase.OnWindows, func(t *testing.T, c *testcase.Case) int {
		f, m := open(t, readFile(t, c.Path)), &c.Manifest

		assert.Empty(t, f.Warnings())
		assert.Equal(t, target.OSWindows, f.Platform().OS)
		assert.Equal(t, target.ArchAMD64, f.Platform().Arch)
		p := f.Process()
		assert.Equal(t, m.PID, p.ID)
		assert.Contains(t, p.Command, "Debuggee")
		assert.True(t, p.DumpTime.After(p.Created) && p.DumpTime.Sub(p.Created) < time.Hour, "%v, %v", p.Created, p.DumpTime)

		checkException(t, f, m)
		checkThreads(t, f, m)
		checkModules(t, f, c)
		checkRegions(t, f)
		checkStacks(t, f, c)
		return len(f.Modules())
	})
}

// checkThreads compares the threads with the manifest, which was written just
// before the dump.
func checkThreads(t *testing.T, f *minidump.File, m *testcase.Manifest) {
	names := make(map[uint32]string)
	for _, th := range f.Threads() {
		names[th.ID] = th.Name
		sp, ok := th.Registers.SP()
		assert.True(t, ok && th.Stack.Contains(sp), "thread %#x: stack pointer %#x outside of %v", th.ID, sp, th.Stack)
		assert.Len(t, th.Registers.Float, 512)
		assert.NotZero(t, th.TEB)
		if len(f.ThreadInfos()) > 0 {
			assert.NotZero(t, th.Start)
			assert.False(t, th.Created.IsZero())
		}
		assert.True(t, target.Available(f, sp, 8), "thread %#x: the top of its stack is not in the dump", th.ID)
	}
	for _, want := range m.Threads {
		name, ok := names[want.TID]
		assert.True(t, ok, "thread %#x is missing", want.TID)
		assert.Equal(t, want.Comm, name)
	}
	assert.Len(t, names, len(m.Threads))
	if m.Kind != "triage" { // written without MiniDumpWithThreadInfo
		assert.Len(t, f.ThreadInfos(), len(f.Threads()))
	}
}

// checkModules compares the modules with the oracle's.
func checkModules(t *testing.T, f *minidump.File, c *testcase.Case) {
	type module struct {
		Base      hex    `json:"base"`
		Name      string `json:"name"`
		IndexSize hex    `json:"indexSize"`
		TimeStamp hex    `json:"timeStamp"`
	}
	type versioned struct {
		module
		Version string `json:"version"`
	}
	var want, got []module
	versions := make(map[string]string)
	for _, m := range testcase.OracleIfAny[versioned](t, c, "nativemodules") {
		want = append(want, m.module)
		versions[m.Name] = m.Version
	}
	for _, m := range f.Modules() {
		got = append(got, module{hex(m.Base), m.Path, hex(m.SizeOfImage), hex(m.TimeDateStamp)})
		// The oracle reads the version from the image, which most dumps don't hold.
		if v := m.Version; versions[m.Path] != "0.0" {
			assert.Equal(t, versions[m.Path], fmt.Sprintf("%d.%d.%d.%d", v[0], v[1], v[2], v[3]), m.Path)
		}
		if strings.HasSuffix(m.Path, `\coreclr.dll`) {
			require.NotNil(t, m.PDB)
			assert.Contains(t, m.PDB.Path, "coreclr.pdb")
			assert.NotZero(t, m.Version)
		}
	}
	assert.Equal(t, want, got)
}

// checkException: only dumps of a postmortem debugger have an exception, and it is one that the
// runtime raises.
func checkException(t *testing.T, f *minidump.File, m *testcase.Manifest) {
	e, ok := f.Exception()
	require.Equal(t, m.Tool == "debugger", ok)
	if !ok {
		return
	}
	assert.True(t, slices.ContainsFunc(f.Threads(), func(th target.Thread) bool { return th.ID == e.ThreadID }))
	ip, ok := e.Registers.IP()
	require.True(t, ok)
	raised := slices.ContainsFunc(f.Modules(), func(m target.Module) bool { return m.Contains(ip) })
	assert.True(t, raised, "the instruction pointer %v is in no module", ip)
	if e.Code == 0xc0000005 {
		// A null reference: reading an address in the first page. The runtime raises it again, so
		// the address is the first fault's.
		require.Len(t, e.Parameters, 2)
		assert.Less(t, e.Parameters[1], uint64(0x1000))
		return
	}
	require.Equal(t, uint32(0xe0434352), e.Code, "a managed exception")
	assert.Equal(t, e.Address, ip)
	require.Len(t, e.Parameters, 5)
	i := slices.IndexFunc(f.Modules(), func(m target.Module) bool { return uint64(m.Base) == e.Parameters[4] })
	require.GreaterOrEqual(t, i, 0)
	assert.Equal(t, `C:\app\net`+strings.Split(m.Runtime, ".")[0]+`\coreclr.dll`, f.Modules()[i].Path)
}

// checkRegions: the regions are ascending and disjoint, and account for every stored byte.
func checkRegions(t *testing.T, f *minidump.File) {
	var end target.Addr
	var stored uint64
	for r := range f.Regions() {
		if r.Start < end || r.Size == 0 || r.Stored > r.Size {
			t.Fatalf("region %+v behind %#x", r, uint64(end))
		}
		if r.Stored > 0 && !target.Available(f, r.Start+target.Addr(r.Stored-1), 1) {
			t.Fatalf("region %+v: its last stored byte can't be read", r)
		}
		end = r.Start + target.Addr(r.Size)
		stored += r.Stored
	}
	assert.Equal(t, minidump.StoredBytes(f), stored)
}

// checkStacks compares the threads' stacks with the runtime's data. The oracle's frames must lie in
// them.
func checkStacks(t *testing.T, f *minidump.File, c *testcase.Case) {
	threads := make(map[uint32]target.Thread)
	for _, th := range f.Threads() {
		threads[th.ID] = th
	}
	type managed struct {
		Thread uint32 `json:"osId"`
		Base   hex    `json:"stackBase"`
		Limit  hex    `json:"stackLimit"`
	}
	for _, m := range testcase.OracleIfAny[managed](t, c, "threads") {
		if th, ok := threads[m.Thread]; ok && m.Base != 0 {
			assert.Equal(t, target.Addr(m.Base), th.Stack.End, "thread %#x", th.ID)
			assert.GreaterOrEqual(t, th.Stack.Start, target.Addr(m.Limit), "thread %#x: committed below what is reserved", th.ID)
		}
	}
	type frame struct {
		Thread uint32 `json:"osId"`
		SP     hex    `json:"sp"`
	}
	for _, fr := range testcase.OracleIfAny[frame](t, c, "stacks") {
		th, ok := threads[fr.Thread]
		if ok && fr.SP != 0 && !th.Stack.Contains(target.Addr(fr.SP)) {
			t.Errorf("thread %#x: frame at %#x outside of %v", th.ID, uint64(fr.SP), th.Stack)
		}
	}
}
