package remote

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/sosgo/sosgo/internal/base/mmapfile"
	"github.com/sosgo/sosgo/internal/base/outfile"
)

// DefaultDisk is the default size of the page cache on disk, in bytes.
const DefaultDisk = 8 << 30

// A disk caches the pages of one version of a file in its own folder, each with a checksum. It ignores write errors,
// since the file can be read again. It reaches its folders by what it opened and checked: others could exchange what a
// path leads to.
type disk struct {
	dir  *os.Root
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
	name := prefix + hex.EncodeToString(sum[:16])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	top, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	if err := outfile.PrivateRoot(top); err != nil { // checksums don't help against a person who may write there
		return nil, err
	}
	if err := top.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	d := &disk{left: most}
	if d.dir, err = top.OpenRoot(name); err != nil {
		return nil, err
	}
	if err := outfile.PrivateRoot(d.dir); err != nil {
		return nil, errors.Join(err, d.dir.Close())
	}
	now := time.Now()
	_ = top.Chtimes(name, now, now)
	d.makeRoom(top, name)
	return d, nil
}

// makeRoom counts the pages in the cache folders below top, and removes the least recently used ones that do not fit. The
// folder own stays.
func (d *disk) makeRoom(top *os.Root, own string) {
	type folder struct {
		name string
		used time.Time
		size int64
	}
	var all []folder
	list, _ := fs.ReadDir(top.FS(), ".")
	for _, e := range list {
		info, err := e.Info()
		if err != nil || !e.IsDir() || !ours().MatchString(e.Name()) {
			continue
		}
		one := folder{e.Name(), info.ModTime(), 0}
		_ = fs.WalkDir(top.FS(), e.Name(), func(_ string, e fs.DirEntry, err error) error {
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
		if one.name != own && one.size > d.left {
			removePages(top, one.name)
			continue
		}
		d.left -= one.size
	}
}

// prefix begins the names of cache folders, and ours matches them.
const prefix = "pages-"

var ours = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^" + prefix + "[0-9a-f]{32}$") })

// pageFile matches the names of files in a cache folder: pages, and pages that are being written.
var pageFile = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^([0-9]+|" + unborn + "[0-9A-Z]+)$") })

// unborn begins the names of pages that are being written.
const unborn = "new-"

// removePages removes the pages in a cache folder, and the folder if nothing else is in it.
func removePages(top *os.Root, folder string) {
	entries, _ := fs.ReadDir(top.FS(), folder)
	for _, e := range entries {
		if e.Type().IsRegular() && pageFile().MatchString(e.Name()) {
			_ = top.Remove(filepath.Join(folder, e.Name()))
		}
	}
	_ = top.Remove(folder)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// get returns a page of that size, or nil if it is missing or damaged.
func (d *disk) get(n, size int64) []byte {
	b, err := mmapfile.ReadOwn(d.dir, pageName(n), size+4)
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
	part := unborn + rand.Text()
	err := d.dir.WriteFile(part, append(b, data...), 0o600)
	if err == nil {
		err = d.dir.Rename(part, pageName(n))
	}
	if err != nil {
		_ = d.dir.Remove(part)
	}
}

func pageName(n int64) string { return strconv.FormatInt(n, 10) }
