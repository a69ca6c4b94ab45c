package elfcore_test

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/mmapfile"
	"github.com/sosgo/sosgo/internal/dump/elfcore"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// corpus calls f for every ELF core of the corpus. f returns how many facts it compared.
func corpus(t *testing.T, f func(*testing.T, *testcase.Case, *elfcore.File) int) {
	testcase.Corpus(t, testcase.OnLinux, func(t *testing.T, c *testcase.Case) int {
		src, err := mmapfile.Open(c.Path, false)
		require.NoError(t, err)
		defer src.Close()
		core, err := elfcore.Open(src)
		require.NoError(t, err)
		return f(t, c, core)
	})
}

func parseHex(t *testing.T, s string) uint64 {
	v, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
	require.NoError(t, err)
	return v
}

func TestCorpusOpens(t *testing.T) {
	corpus(t, func(t *testing.T, c *testcase.Case, core *elfcore.File) int {
		assert.Empty(t, core.Warnings())
		return 1
	})
}

func TestCorpusManifest(t *testing.T) {
	corpus(t, func(t *testing.T, c *testcase.Case, core *elfcore.File) int {
		m := &c.Manifest
		if m.PID != 0 {
			assert.Equal(t, m.PID, core.Process().ID)
		}
		ids := map[uint32]bool{}
		for _, th := range core.Threads() {
			ids[th.ID] = true
			assert.False(t, th.Stack.Size() == 0, "thread %d has no stack", th.ID)
		}
		for _, th := range m.Threads {
			if strings.HasPrefix(th.Comm, ".NET T") {
				continue // a worker of the thread pool or of tiered compilation may have ended since
			}
			assert.True(t, ids[th.TID], "thread %d", th.TID)
		}
		e, ok := core.Exception()
		// The signal that ended the process.
		signal := map[string]string{"runtime": "SIGABRT", "qemu": "SIGSEGV"}[m.Tool]
		assert.Equal(t, signal != "", ok, "exception")
		assert.Equal(t, signal, e.Words)
		return len(ids)
	})
}

// TestCorpusModules compares with the module lists of SOS and ClrMD.
func TestCorpusModules(t *testing.T) {
	line := regexp.MustCompile(`^([0-9A-F]{16}) ([0-9A-F]{8,}) (.+)$`)
	corpus(t, func(t *testing.T, c *testcase.Case, core *elfcore.File) int {
		ours := map[target.Addr]target.Module{}
		for _, m := range core.Modules() {
			ours[m.Base] = m
		}
		listed := map[target.Addr]bool{}
		for s := range strings.Lines(c.SOS(t, "modules.txt")) {
			f := line.FindStringSubmatch(strings.TrimSpace(s))
			if f == nil {
				continue
			}
			base := target.Addr(parseHex(t, f[1]))
			listed[base] = true
			m, ok := ours[base]
			if assert.True(t, ok, "missing: %s", s) {
				assert.Equal(t, f[3], m.Path)
				assert.Equal(t, f[2], fmt.Sprintf("%08X", sizeOfSOS(core, m)), "%v %s", m.Base, m.Path)
			}
		}
		for a, m := range ours {
			// SOS omits the dynamic linker, images whose header is not in the dump, and the second
			// image of a file if the first one's header is missing.
			again := slices.ContainsFunc(core.Modules(), func(o target.Module) bool {
				return o.Path == m.Path && !target.Available(core, o.Base, 2)
			})
			assert.True(t, listed[a] || strings.Contains(m.Path, "/ld-linux") || again, "SOS does not list %v %#x %s", a, m.Size, m.Path)
		}
		return len(listed)
	})
}

// sizeOfSOS returns the size that SOS prints for m. For a PE image it is SizeOfImage, up to the
// next mapped file, even for a flat image.
func sizeOfSOS(f *elfcore.File, m target.Module) uint64 {
	if m.SizeOfImage == 0 {
		return m.Size
	}
	for r := range f.Regions() {
		if r.Start > m.Base && r.Path != "" && r.Path != m.Path && !strings.HasPrefix(r.Path, "/memfd:") {
			return min(uint64(m.SizeOfImage), uint64(r.Start-m.Base))
		}
	}
	return uint64(m.SizeOfImage)
}

// TestCorpusRegisters compares the registers and ids of all threads with SOS.
func TestCorpusRegisters(t *testing.T) {
	thread := regexp.MustCompile(`^[* ]\s*(\d+) 0x([0-9A-F]+) \((\d+)\)`)
	value := regexp.MustCompile(`^\s+(IP|SP|FP)\s+0x([0-9A-F]+)$`)
	corpus(t, func(t *testing.T, c *testcase.Case, core *elfcore.File) int {
		threads := core.Threads()
		current := -1
		for s := range strings.Lines(c.SOS(t, "threads-v.txt")) {
			s = strings.TrimRight(s, "\r\n")
			if f := thread.FindStringSubmatch(s); f != nil {
				current, _ = strconv.Atoi(f[1])
				require.Less(t, current, len(threads))
				assert.Equal(t, parseHex(t, f[2]), uint64(threads[current].ID))
			} else if f := value.FindStringSubmatch(s); f != nil {
				get := map[string]func() (target.Addr, bool){
					"IP": threads[current].Registers.IP, "SP": threads[current].Registers.SP, "FP": threads[current].Registers.FP,
				}[f[1]]
				v, ok := get()
				assert.True(t, ok)
				assert.Equal(t, parseHex(t, f[2]), uint64(v), "thread %d %s", current, f[1])
			}
		}
		assert.Equal(t, len(threads)-1, current)
		return current + 1
	})
}

// TestCorpusRegistersInFull compares every register that SOS prints. SOS prints no flags and
// exchanges R8 and R9: in a thread that waits in the system call futex, R9 is
// FUTEX_BITSET_MATCH_ANY (0xffffffff), which SOS prints as r8.
func TestCorpusRegistersInFull(t *testing.T) {
	set := regexp.MustCompile(`^\$ setthread (\d+)`)
	value := regexp.MustCompile(`^([a-z0-9]+) = 0x([0-9A-F]+)$`)
	names := map[string]string{"r8": "r9", "r9": "r8"}
	corpus(t, func(t *testing.T, c *testcase.Case, core *elfcore.File) int {
		total := 0
		for _, file := range []string{"registers.txt", "registers-00.txt"} {
			// The output lists the commands first, then their results, which begin with cs.
			var order []int
			block, compared := -1, 0
			for s := range strings.Lines(c.SOS(t, file)) {
				s = strings.TrimSpace(s)
				if f := set.FindStringSubmatch(s); f != nil {
					n, _ := strconv.Atoi(f[1])
					order = append(order, n)
				}
				f := value.FindStringSubmatch(s)
				if f == nil || f[1] == "eflags" {
					continue
				}
				if f[1] == "cs" {
					block++
				}
				current := 0
				if len(order) > 0 {
					current = order[block]
				}
				name := cmp.Or(names[f[1]], f[1])
				for r, v := range core.Threads()[current].Registers.All {
					if target.RegName(target.ArchAMD64, r) == name {
						assert.Equal(t, parseHex(t, f[2]), v, "thread %d %s", current, f[1])
						compared++
					}
				}
			}
			assert.Greater(t, compared, 20, file)
			total += compared
		}
		return total
	})
}
