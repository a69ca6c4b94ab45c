package modfiles

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// TestNamesLocalFile checks that only recorded paths of local files are tried, on every system: no path may
// make the machine contact another one.
func TestNamesLocalFile(t *testing.T) {
	for _, p := range []string{`C:\app\x.dll`, `d:/app/x.dll`, `C:\`} {
		assert.True(t, namesLocalFile("windows", p), p)
		assert.False(t, namesLocalFile("linux", p), p)
	}
	for _, p := range []string{"/app/x.dll", "/", `/srv\x`} {
		assert.True(t, namesLocalFile("linux", p), p)
		assert.True(t, namesLocalFile("darwin", p), p)
	}
	for _, p := range []string{
		"", "x.dll", `x\y.dll`, `C:x.dll`, `C:`, `\\srv\share\x.dll`, `//srv/share/x.dll`, `/\srv\share\x.dll`, `\/srv\share\x.dll`,
		`\??\UNC\srv\share\x.dll`, `\\?\UNC\srv\share\x.dll`, `\\.\pipe\x`, `\x.dll`, `/app/x.dll`, `C:\app\x.dll:stream`,
		`C:\app\x.dll` + "\x00", `1:\x.dll`, `CC:\x.dll`, ` C:\x.dll`, "C:\\" + string(make([]byte, limits.PathBytes)),
	} {
		assert.False(t, namesLocalFile("windows", p), "%q", p)
	}
	for _, p := range []string{"", "x.dll", "./x", "//srv/share/x", `\\srv\share`, "/app/x\x00y"} {
		assert.False(t, namesLocalFile("linux", p), "%q", p)
	}
}

// TestHarmlessFiles checks that only regular, nonempty files on a file system that stores files are read.
// Others are refused at once.
func TestHarmlessFiles(t *testing.T) {
	dir := t.TempDir()
	big := write(t, filepath.Join(dir, "big.dll"), nil)
	require.NoError(t, os.Truncate(big, 100))
	link := filepath.Join(dir, "link.pdb")
	require.NoError(t, os.Symlink("/proc/self/pagemap", link))
	list := []string{dir, write(t, filepath.Join(dir, "empty.pdb"), nil), big, link,
		"/proc/self/pagemap", "/proc/kmsg", "/proc/kcore", "/sys/kernel/notes", "/dev/zero", "/dev/tty"}
	if fifo := makeFIFO(t, filepath.Join(dir, "fifo.pdb")); fifo != "" {
		list = append(list, fifo)
	}
	start := time.Now()
	for _, p := range list {
		f, err := (&Policy{}).open(p, 99)
		if err == nil {
			t.Errorf("%s is opened", p)
			require.NoError(t, f.Close())
		}
		_, err = (&Policy{Recorded: true}).openPDB(p, target.GUID{}, func([]byte) error { return nil })
		assert.Error(t, err, p)
	}
	assert.Less(t, time.Since(start), 5*time.Second)
}

// TestRecordedDeleted checks that the kernel's mark of a deleted file is not part of its path.
func TestRecordedDeleted(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "libx.so"), library(1))
	im, _, err := find(t, &Finder{Policy: Policy{Recorded: true}}, &target.Module{Path: path + " (deleted)"},
		image.Identity{BuildID: []byte{1, 2, 3, 4}})
	require.NoError(t, err)
	require.NoError(t, im.Close())
}

// FuzzRecorded checks that only paths of this system are tried.
func FuzzRecorded(f *testing.F) {
	for _, p := range []string{"/a/b", `C:\a`, `\\srv\a`, "//a", "/a (deleted)"} {
		f.Add(p)
	}
	p := &Policy{Recorded: true}
	f.Fuzz(func(t *testing.T, path string) {
		if got := p.recorded(path); got != "" && !namesLocalFile("linux", got) && !namesLocalFile("windows", got) {
			t.Errorf("%q becomes %q", path, got)
		}
	})
}
