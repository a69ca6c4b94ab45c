package remote

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/sosgo/sosgo/internal/base/outfile"
)

// DefaultDisk is the default size of the page cache on disk, in bytes.
const DefaultDisk = 8 << 30

// A disk caches the pages of one version of a file in its own folder, each with a checksum. It ignores write errors,
// since the file can be read again.
type disk struct {
	dir  string
	mu   sync.Mutex
	left int64 // bytes that may still be added
}

// openDisk opens the cache folder below dir for a version of a file. It makes room by removing the least recently
// used folders.
func openDisk(dir, version string, most int64) (*disk, error) {
	if most <= 0 {
		most = DefaultDisk
	}
	sum := sha256.Sum256([]byte(version))
	d := &disk{dir: filepath.Join(dir, prefix+hex.EncodeToString(sum[:16])), left: most}
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return nil, err
	}
	for _, folder := range []string{dir, d.dir} { // checksums don't help against a person who may write there
		if err := outfile.PrivateDir(folder); err != nil {
			return nil, err
		}
	}
	now := time.Now()
	_ = os.Chtimes(d.dir, now, now)
	type folder struct {
		path string
		used time.Time
		size int64
	}
	var all []folder
	list, _ := filepath.Glob(filepath.Join(dir, prefix+"*"))
	for _, path := range list {
		if !ours.MatchString(filepath.Base(path)) {
			continue
		}
		st, err := os.Lstat(path)
		if err != nil || !st.IsDir() {
			continue
		}
		one := folder{path, st.ModTime(), 0}
		_ = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				if info, err := e.Info(); err == nil {
					one.size += info.Size()
				}
			}
			return nil
		})
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b folder) int { return b.used.Compare(a.used) })
	for _, one := range all {
		if one.path != d.dir && one.size > d.left {
			removePages(one.path)
			continue
		}
		d.left -= one.size
	}
	return d, nil
}

// prefix begins the names of cache folders, and ours matches them.
const prefix = "pages-"

var ours = regexp.MustCompile("^" + prefix + "[0-9a-f]{32}$")

// pageFile matches the names of files in a cache folder: pages, and pages that are being written.
var pageFile = regexp.MustCompile("^(new-)?[0-9]+$")

// removePages removes the pages in a cache folder, and the folder if nothing else is in it.
func removePages(folder string) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if e.Type().IsRegular() && pageFile.MatchString(e.Name()) {
			_ = os.Remove(filepath.Join(folder, e.Name()))
		}
	}
	_ = os.Remove(folder)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// get returns a page of that size, or nil if it is missing or damaged.
func (d *disk) get(n, size int64) []byte {
	b, err := os.ReadFile(d.file(n))
	if err != nil || int64(len(b)) != size+4 || crc32.Checksum(b[4:], castagnoli) != binary.LittleEndian.Uint32(b) {
		return nil
	}
	return b[4:]
}

// put caches a page if there is room.
func (d *disk) put(n int64, data []byte) {
	d.mu.Lock()
	fits := d.left >= int64(len(data))+4
	if fits {
		d.left -= int64(len(data)) + 4
	}
	d.mu.Unlock()
	if !fits {
		return
	}
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, len(data)+4), crc32.Checksum(data, castagnoli))
	t, err := os.CreateTemp(d.dir, "new-") // readable only by the user
	if err != nil {
		return
	}
	_, err = t.Write(append(b, data...))
	if err2 := t.Close(); err != nil || err2 != nil || os.Rename(t.Name(), d.file(n)) != nil {
		_ = os.Remove(t.Name())
	}
}

func (d *disk) file(n int64) string { return filepath.Join(d.dir, strconv.FormatInt(n, 10)) }
