package dump

import (
	"bufio"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/sosgo/sosgo/internal/base/limits"
)

// The file systems that store files in memory (linux/magic.h).
const (
	tmpfsMagic = 0x01021994
	ramfsMagic = 0x858458f6
)

// freeSpace returns how many bytes may be written to the file system of f. If it is in memory, this
// is a fraction of the available memory.
func freeSpace(f *os.File) (int64, bool) {
	var s syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &s); err != nil || s.Bsize <= 0 {
		return 0, false
	}
	free := int64(math.MaxInt64)
	if s.Bavail < math.MaxInt64/uint64(s.Bsize) {
		free = int64(s.Bavail) * int64(s.Bsize) //nolint:unconvert // Bsize has 32 bits on some processors
	}
	if uint32(s.Type) == tmpfsMagic || uint32(s.Type) == ramfsMagic {
		if available, ok := availableMemory(); ok {
			free = min(free, available/limits.MemoryShare)
		}
	}
	return free, true
}

// availableMemory reads /proc/meminfo (proc(5)).
func availableMemory() (int64, bool) {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), "MemAvailable:"); ok {
			kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 53)
			return kb << 10, err == nil
		}
	}
	return 0, false
}
