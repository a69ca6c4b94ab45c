package offheap

import (
	"io/fs"
	"os"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// largeFrom is the size in bytes from which memory uses large pages. Smaller arrays would waste
// much of a page of 2 MB, which the system zeroes as a whole.
const largeFrom = 16 << 20

// large requests large pages. An error is ignored: the memory works without them.
func (m *memory) large() {
	if m.size >= largeFrom && !returned() {
		m.advise(unix.MADV_HUGEPAGE)
	}
}

// small cancels large.
func (m *memory) small() {
	if m.size >= largeFrom {
		m.advise(unix.MADV_NOHUGEPAGE)
	}
}

func (m *memory) advise(advice int) {
	_ = unix.Madvise(unsafe.Slice((*byte)(m.base), m.size), advice)
}

// returned reports whether this is a virtual machine that returns free memory to its host. It
// returns large pages only, so the host must provide them again when touched. That took 3 to 4 s
// for 1 GB, and 0.7 to 1 s with small pages. On other machines large pages take 0.15 s.
var returned = sync.OnceValue(func() bool { return reporting(os.DirFS("/sys/bus/virtio/devices")) })

// reporting reports whether one of the devices is a memory balloon that negotiated free page
// reporting with the host.
func reporting(devices fs.FS) bool {
	const (
		balloon = "0x0005"
		feature = 5
	)
	list, _ := fs.ReadDir(devices, ".") // the folder is missing on most hosts
	for _, d := range list {
		kind, _ := fs.ReadFile(devices, d.Name()+"/device")
		features, _ := fs.ReadFile(devices, d.Name()+"/features")
		if strings.TrimSpace(string(kind)) == balloon && len(features) > feature && features[feature] == '1' {
			return true
		}
	}
	return false
}
