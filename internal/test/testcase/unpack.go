package testcase

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Unpack makes the case readable: it unpacks a compressed dump of the corpus, and its module files,
// into the cache, where they stay. The cache has the layout of the corpus's own tools, so that
// SOSGO_DUMP_CACHE can name it for both.
func (c *Case) Unpack() error { return c.unpacked() }

// Plain returns the path of the unpacked dump. Canned dumps are unpacked into the cache once for
// all test binaries, because each of about fifty opens most of them. If the cache can't be written,
// Plain returns the compressed file.
func (c *Case) Plain() string {
	if c.plain == nil || filepath.Ext(c.Path) != ".zst" { // not loaded from a manifest, or a copy with another file
		return c.Path
	}
	if path, err := c.plain(); err == nil {
		return path
	}
	return c.Path
}

func (c *Case) unpackCanned() (string, error) {
	if !c.Canned || filepath.Ext(c.Path) != ".zst" {
		return c.Path, nil
	}
	b, err := os.ReadFile(c.Path)
	if err != nil {
		return "", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b) // clones with different dumps of one name may share the cache
	plain := filepath.Join(cache, "canned", c.Name+"-"+hex.EncodeToString(sum[:16])+".dmp")
	if _, err := os.Stat(plain); err == nil {
		return plain, nil
	}
	r, err := openZstd(c.Path)
	if err != nil {
		return "", err
	}
	defer r.Close()
	return plain, writeFile(plain, r)
}

func (c *Case) mustUnpack(t testing.TB) {
	t.Helper()
	if err := c.Unpack(); err != nil {
		t.Fatal(err)
	}
}

func (c *Case) unpack() error {
	if c.Canned {
		return nil
	}
	if c.Modules != "" {
		dir, err := moduleSet(c.Modules)
		if err != nil {
			return err
		}
		c.Modules = dir
	}
	if filepath.Ext(c.Path) != ".zst" {
		return nil
	}
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	plain := filepath.Join(cache, strings.TrimSuffix(filepath.Base(c.Path), ".zst"))
	if err := unpackFile(plain, c.Path); err != nil {
		return err
	}
	c.Path = plain
	return nil
}

// moduleSet returns the unpacked folder of a set of module files that a manifest names as
// ARCHIVE/SET.
func moduleSet(set string) (string, error) {
	if _, err := os.Stat(set); err == nil {
		return set, nil
	}
	archive := filepath.Dir(set) + ".tar.zst"
	info, err := os.Stat(archive)
	if err != nil {
		return "", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "modules", strconv.FormatInt(info.Size(), 10))
	return filepath.Join(dir, filepath.Base(set)), unpackModules(dir, archive)
}

// ModuleSets returns the folders of all sets of module files in the corpus, by name. It skips the
// test without a corpus.
func ModuleSets(t testing.TB) []string {
	t.Helper()
	var out []string
	t.Attr(AttrCase, "modules")
	for _, c := range corpus(t) {
		if c.Modules != "" {
			c.mustUnpack(t)
			out = append(out, c.Modules)
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	if len(out) == 0 {
		t.Fatal("the corpus has no module files")
	}
	return out
}

// ModuleSet returns the folder of one set of module files in the corpus.
func ModuleSet(t testing.TB, name string) string {
	t.Helper()
	for _, dir := range ModuleSets(t) {
		if filepath.Base(dir) == name {
			return dir
		}
	}
	t.Fatalf("the corpus has no module files %s", name)
	return ""
}

func cacheDir() (string, error) {
	dir := os.Getenv("SOSGO_DUMP_CACHE")
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			user = os.TempDir()
		}
		dir = filepath.Join(user, "sosgo-dumps")
	}
	return dir, os.MkdirAll(dir, 0o755)
}

// unpackFile unpacks src to dst. Other test binaries may do the same at this time: each writes its
// own file and renames it.
func unpackFile(dst, src string) error {
	from, err := os.Stat(src)
	if err != nil {
		return err
	}
	if to, err := os.Stat(dst); err == nil && to.ModTime().After(from.ModTime()) {
		return nil
	}
	r, err := openZstd(src)
	if err != nil {
		return err
	}
	defer r.Close()
	return writeFile(dst, r)
}

func writeFile(dst string, r io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(dst), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(dst), ".unpacking*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = io.Copy(tmp, r)
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), dst)
}

// zstdMagic is at the start of every file compressed with zstd (RFC 8878).
var zstdMagic = []byte("\x28\xb5\x2f\xfd")

type zstdFile struct {
	io.ReadCloser
	f *os.File
}

func (z zstdFile) Close() error { return errors.Join(z.ReadCloser.Close(), z.f.Close()) }

func openZstd(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	dec, err := zstd.NewReader(f, zstd.WithDecoderMaxWindow(1<<27))
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return zstdFile{dec.IOReadCloser(), f}, nil
}

// unpackModules unpacks an archive of module files to dir, unless dir exists.
func unpackModules(dir, archive string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	r, err := openZstd(archive)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".unpacking")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := untar(tmp, tar.NewReader(r)); err != nil {
		return fmt.Errorf("%s: %w", archive, err)
	}
	// The archive has one folder with the archive's own name.
	err = os.Rename(filepath.Join(tmp, strings.TrimSuffix(filepath.Base(archive), ".tar.zst")), dir)
	if _, statErr := os.Stat(dir); statErr == nil {
		return nil // another test binary was faster
	}
	return err
}

func untar(dir string, t *tar.Reader) error {
	for {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if !filepath.IsLocal(h.Name) {
			return fmt.Errorf("%s leads out of the archive", h.Name)
		}
		path := filepath.Join(dir, h.Name)
		switch h.Typeflag {
		case tar.TypeReg:
			err = writeFile(path, t)
		case tar.TypeSymlink:
			err = os.Symlink(h.Linkname, path)
		case tar.TypeLink:
			err = os.Link(filepath.Join(dir, h.Linkname), path)
		case tar.TypeDir:
			err = os.MkdirAll(path, 0o755)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
}
