package dump

import (
	"math"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// freeSpace returns how many bytes may be written to the volume of f.
func freeSpace(f *os.File) (int64, bool) {
	dir, err := windows.UTF16PtrFromString(filepath.Dir(f.Name()))
	if err != nil {
		return 0, false
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(dir, &free, nil, nil); err != nil {
		return 0, false
	}
	return int64(min(free, math.MaxInt64)), true
}
