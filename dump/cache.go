package dump

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/machine"
	"github.com/sosgo/sosgo/internal/base/mmapfile"
	"github.com/sosgo/sosgo/target"
)

// A cache keeps unpacked copies of compressed dumps, so that many commands unpack a dump once. Its
// folder belongs to one user. An entry is two files:
//
//	KEY.dump   the unpacked dump
//	KEY.json   an entryRecord
//
// KEY is the SHA-256 of the whole compressed file, so that another file can't take an entry's
// place. An entry is valid only if its file is unchanged: it has the recorded size and time and the
// same bytes at the sampled places, and only the user can write to it. Entries that were unused for
// days are removed. Then the least recently used ones are removed until the rest fits.
//
// Several processes may share a cache. Files are written under a temporary name and linked, and a
// file that another process has open stays until it is closed.
type cache struct {
	dir  string
	size int64 // maximum number of bytes of all entries
}

// Parts of the names of files in the cache.
const (
	entryDump   = ".dump"
	entryJSON   = ".json"
	entryUnborn = "unpacking-" // prefix while the file is written
)

// mostRecord is more than the bytes of an entryRecord.
const mostRecord = 4 << 10

// An entryRecord describes an entry as it was written.
type entryRecord struct {
	Size    int64     `json:"size"`
	Written time.Time `json:"written"`
	Samples string    `json:"samples"` // SHA-256 of the samples
}

// DefaultCache returns the folder for unpacked dumps in the user's cache folder, or "" without
// one.
func DefaultCache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "sosgo", "unpacked")
}

// cache returns the cache for a compressed file of the given size, or nil.
func (o *Options) cache(size int64) *cache {
	least := int64(limits.CacheLeast)
	if o.CacheLeast > 0 {
		least = o.CacheLeast
	}
	if o.Cache == "" || size < least {
		return nil
	}
	c := &cache{o.Cache, limits.CacheSize}
	if o.CacheSize > 0 {
		c.size = o.CacheSize
	}
	if size > c.size { // what it unpacks to is not kept, either
		return nil
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return nil
	}
	if link, err := os.Lstat(c.dir); err != nil || !isOwn(link) { // another user may lead it anywhere
		return nil
	}
	if info, err := os.Stat(c.dir); err != nil || !info.IsDir() || !isPrivate(info) {
		return nil
	}
	return c
}

// key returns the name of the entry for src.
func (c *cache) key(ctx context.Context, src target.Source) (string, error) {
	h := sha256.New()
	in := &progressReader{ctx: ctx, r: io.NewSectionReader(src, 0, src.Size())}
	if _, err := io.CopyBuffer(h, in, make([]byte, 1<<20)); err != nil {
		return "", err
	}
	if err := machine.Lost(src); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (c *cache) path(key, suffix string) string { return filepath.Join(c.dir, key+suffix) }

// open returns the unpacked dump with the key, or nil if there is no valid one.
func (c *cache) open(key string) *os.File {
	c.sweep(0)
	dir, err := os.OpenRoot(c.dir)
	if err != nil {
		return nil
	}
	defer dir.Close()
	text, err := mmapfile.ReadOwn(dir, key+entryJSON, mostRecord)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) { // another process may be about to write it
			c.remove(key)
		}
		return nil
	}
	var record entryRecord
	f, err := mmapfile.OpenOwn(dir, key+entryDump)
	if err != nil {
		c.remove(key)
		return nil
	}
	if json.Unmarshal(text, &record) != nil || !record.describes(f) {
		f.Close()
		c.remove(key)
		return nil
	}
	now := time.Now()
	_ = os.Chtimes(c.path(key, entryJSON), now, now) // records the use; on failure the entry is only removed earlier
	return f
}

// describes reports whether f is unchanged.
func (r *entryRecord) describes(f *os.File) bool {
	info, err := os.Lstat(f.Name())
	if err != nil || !info.Mode().IsRegular() || !isPrivate(info) || info.Size() != r.Size || !info.ModTime().Equal(r.Written) {
		return false
	}
	opened, err := f.Stat()
	if err != nil || !os.SameFile(info, opened) {
		return false
	}
	samples, err := hashSamples(f, r.Size)
	return err == nil && samples == r.Samples
}

// hashSamples hashes pages of r, which has size bytes: the first, the last, and some between them.
func hashSamples(r io.ReaderAt, size int64) (string, error) {
	const page, count = 4096, 256
	h := sha256.New()
	b := make([]byte, page)
	for i := range int64(count + 1) {
		n, err := r.ReadAt(b, max(size-page, 0)/count*i)
		if i == count {
			n, err = r.ReadAt(b, max(size-page, 0))
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		h.Write(b[:n])
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// create creates the file for a new entry, in the folder of the cache.
func (c *cache) create(string) (*os.File, error) { return os.CreateTemp(c.dir, entryUnborn+"*") }

// keep makes f, which is complete, the entry of the key, and makes room for it. On failure f stays
// open but has no name.
func (c *cache) keep(key string, f *os.File) {
	if !c.store(key, f) {
		os.Remove(f.Name())
	}
}

func (c *cache) store(key string, f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() > c.size {
		return false
	}
	c.sweep(info.Size())
	record := entryRecord{Size: info.Size(), Written: info.ModTime()}
	if record.Samples, err = hashSamples(f, record.Size); err != nil {
		return false
	}
	text, err := json.Marshal(record)
	if err != nil {
		return false
	}
	beside := f.Name() + entryJSON
	if err := os.WriteFile(beside, text, 0o600); err != nil {
		return false
	}
	// If several processes unpacked one dump at once, the first one makes the entry: unlike a
	// rename, a link replaces nothing.
	defer os.Remove(beside)
	if os.Link(f.Name(), c.path(key, entryDump)) != nil {
		return false
	}
	os.Remove(f.Name())
	if os.Rename(beside, c.path(key, entryJSON)) != nil {
		c.remove(key)
		return false
	}
	return true
}

// remove removes an entry, and what is in its place, such as a folder.
func (c *cache) remove(key string) {
	os.RemoveAll(c.path(key, entryJSON))
	os.RemoveAll(c.path(key, entryDump))
}

// unrecorded is the time that a writer has for the record of its dump. A dump without a record is
// then a leftover of a killed process.
const unrecorded = time.Minute

// sweep removes old entries and, to make room for a new entry of the given size, the least recently
// used ones.
func (c *cache) sweep(room int64) {
	type entry struct {
		key  string
		used time.Time
		size int64
	}
	files, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	old, left := time.Now().AddDate(0, 0, -limits.CacheDays), time.Now().AddDate(0, 0, -1)
	var entries []entry
	var total int64
	for _, file := range files {
		info, err := file.Info()
		if err != nil {
			continue
		}
		key, isDump := strings.CutSuffix(file.Name(), entryDump)
		if !isDump {
			// A record without a dump, or a leftover of a killed process.
			if isUnborn(key) && info.ModTime().Before(left) || info.ModTime().Before(old) && isRecord(key) {
				os.RemoveAll(filepath.Join(c.dir, file.Name()))
			}
			continue
		}
		if !isKey(key) {
			continue // somebody else's
		}
		e := entry{key: key, size: info.Size()} // used stays zero without a record
		if record, err := os.Stat(c.path(key, entryJSON)); err == nil {
			e.used = record.ModTime()
		} else if !errors.Is(err, fs.ErrNotExist) || time.Since(info.ModTime()) < unrecorded {
			continue
		}
		if e.used.Before(old) {
			c.remove(key)
			continue
		}
		entries, total = append(entries, e), total+e.size
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.key, b.key)) })
	for _, e := range entries {
		if total <= c.size-room {
			return
		}
		c.remove(e.key)
		total -= e.size
	}
}

// isRecord reports whether a file has the name of an entry's record.
func isRecord(name string) bool {
	key, ok := strings.CutSuffix(name, entryJSON)
	return ok && isKey(key)
}

// isKey reports whether a name is one that key returns.
func isKey(name string) bool {
	return len(name) == 2*sha256.Size && strings.Trim(name, "0123456789abcdef") == ""
}

// isUnborn reports whether a file has a name that create or store gives one while it is written: a number follows the prefix (os.CreateTemp).
func isUnborn(name string) bool {
	number, ok := strings.CutPrefix(strings.TrimSuffix(name, entryJSON), entryUnborn)
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}
