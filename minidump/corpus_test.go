package minidump_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/minidump"
	"github.com/sosgo/sosgo/target"
)

// manifest is the part of a case's manifest that a container can be held to.
type manifest struct {
	Dump    string `json:"dump"`
	Runtime string `json:"runtime"`
	Kind    string `json:"kind"`
	Tool    string `json:"tool"`
	PID     uint32 `json:"pid"`
	Threads []struct {
		TID  uint32 `json:"tid"`
		Comm string `json:"comm"`
	} `json:"threads"`
}

// hex is a number that the oracle writes as "0x…".
type hex uint64

func (h *hex) UnmarshalText(b []byte) error {
	v, err := strconv.ParseUint(string(b), 0, 64)
	*h = hex(v)
	return err
}

// corpusCases are the folders of the Windows cases; the test is skipped where
// the corpus isn't unpacked.
func corpusCases(t testing.TB) []string {
	root := os.Getenv("SOSGO_CORPUS")
	if root == "" {
		t.Skip("SOSGO_CORPUS is not set")
	}
	cases, err := filepath.Glob(filepath.Join(root, "win-*"))
	require.NoError(t, err)
	if len(cases) == 0 {
		t.Skip("no Windows case in SOSGO_CORPUS")
	}
	return cases
}

func readFile(t testing.TB, path string) []byte {
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return b
}

// jsonLines decodes the lines of a file, and none where there is no such file.
func jsonLines[T any](t *testing.T, path string) []T {
	r, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	defer r.Close()
	var out []T
	for s := bufio.NewScanner(r); s.Scan(); {
		var v T
		require.NoError(t, json.Unmarshal(s.Bytes(), &v))
		out = append(out, v)
	}
	return out
}

func TestCorpus(t *testing.T) {
	for _, dir := range corpusCases(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var m manifest
			require.NoError(t, json.Unmarshal(readFile(t, filepath.Join(dir, "manifest.json")), &m))
			f := open(t, readFile(t, filepath.Join(dir, m.Dump)))

			assert.Empty(t, f.Warnings())
			assert.Equal(t, target.OSWindows, f.Platform().OS)
			assert.Equal(t, target.ArchAMD64, f.Platform().Arch)
			p := f.Process()
			assert.Equal(t, m.PID, p.ID)
			assert.Contains(t, p.Command, "Debuggee")
			assert.True(t, p.DumpTime.After(p.Created) && p.DumpTime.Sub(p.Created) < time.Hour, "%v, %v", p.Created, p.DumpTime)

			checkException(t, f, m)
			checkThreads(t, f, m)
			checkModules(t, f, filepath.Join(dir, "oracle"))
			checkRegions(t, f)
			checkStacks(t, f, filepath.Join(dir, "oracle"))
		})
	}
}

// checkThreads compares the threads with the manifest, which was written just
// before the dump.
func checkThreads(t *testing.T, f *minidump.File, m manifest) {
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
	if m.Kind != "triage" { // which is written without MiniDumpWithThreadInfo
		assert.Len(t, f.ThreadInfos(), len(f.Threads()))
	}
}

// checkModules compares the modules with the oracle's.
func checkModules(t *testing.T, f *minidump.File, oracle string) {
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
	for _, m := range jsonLines[versioned](t, filepath.Join(oracle, "nativemodules.jsonl")) {
		want = append(want, m.module)
		versions[m.Name] = m.Version
	}
	for _, m := range f.Modules() {
		got = append(got, module{hex(m.Base), m.Path, hex(m.SizeOfImage), hex(m.TimeDateStamp)})
		// The oracle reads the version from the image, so mostly it has none.
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

// checkException asserts that the dumps of a postmortem debugger, and no
// others, have an exception, and that it is one that the runtime raises.
func checkException(t *testing.T, f *minidump.File, m manifest) {
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
		// A null reference: reading an address in the first page. The runtime
		// raises it again, so that the address is the first fault's.
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

// checkRegions asserts that the regions are ascending and disjoint, and that
// they account for every stored byte.
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

// checkStacks compares the threads' stacks with what the runtime knows of
// them, and asserts that the oracle's frames lie in them.
func checkStacks(t *testing.T, f *minidump.File, oracle string) {
	threads := make(map[uint32]target.Thread)
	for _, th := range f.Threads() {
		threads[th.ID] = th
	}
	type managed struct {
		Thread uint32 `json:"osId"`
		Base   hex    `json:"stackBase"`
		Limit  hex    `json:"stackLimit"`
	}
	for _, m := range jsonLines[managed](t, filepath.Join(oracle, "threads.jsonl")) {
		if th, ok := threads[m.Thread]; ok && m.Base != 0 {
			assert.Equal(t, target.Addr(m.Base), th.Stack.End, "thread %#x", th.ID)
			assert.GreaterOrEqual(t, th.Stack.Start, target.Addr(m.Limit), "thread %#x: committed below what is reserved", th.ID)
		}
	}
	type frame struct {
		Thread uint32 `json:"osId"`
		SP     hex    `json:"sp"`
	}
	for _, fr := range jsonLines[frame](t, filepath.Join(oracle, "stacks.jsonl")) {
		th, ok := threads[fr.Thread]
		if ok && fr.SP != 0 && !th.Stack.Contains(target.Addr(fr.SP)) {
			t.Errorf("thread %#x: frame at %#x outside of %v", th.ID, uint64(fr.SP), th.Stack)
		}
	}
}
