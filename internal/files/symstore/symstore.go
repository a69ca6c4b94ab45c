// Package symstore finds module files in symbol stores: folders and servers that keep files under a key made of
// a file's name and identity (the Simple Symbol Query Protocol, github.com/dotnet/symstore,
// docs/specs/SSQP_Key_Conventions.md). Caches of dotnet-symbol and of debuggers have the same form. The package
// does not verify files; package modfiles does.
//
// Start at Local, Cache and Remote.
package symstore

import (
	"context"
	"encoding/hex"
	"fmt"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/outfile"
	"github.com/sosgo/sosgo/internal/files/modfiles"
	"github.com/sosgo/sosgo/target"
)

// FileKey returns the key of a module's file, "libcoreclr.so/elf-buildid-…/libcoreclr.so", or "" for an
// insufficient identity.
func FileKey(modulePath string, id *image.Identity) string {
	name := fileName(modulePath)
	switch {
	case name == "":
		return ""
	case len(id.BuildID) > 0:
		return path.Join(name, "elf-buildid-"+hex.EncodeToString(id.BuildID), name)
	case id.SizeOfImage != 0:
		// The time stamp has eight digits, the size no leading zeros.
		return path.Join(name, fmt.Sprintf("%08x%x", id.TimeDateStamp, id.SizeOfImage), name)
	}
	return ""
}

// PortablePDBKey returns the key of a portable PDB by the GUID of its id. The first three parts of the GUID are
// little-endian.
func PortablePDBKey(pdbPath string, guid [16]byte) string {
	name := fileName(pdbPath)
	if name == "" {
		return ""
	}
	g := guid
	g[0], g[1], g[2], g[3] = guid[3], guid[2], guid[1], guid[0]
	g[4], g[5], g[6], g[7] = guid[5], guid[4], guid[7], guid[6]
	return path.Join(name, hex.EncodeToString(g[:])+"ffffffff", name)
}

// fileName returns the last part of a path of any system in lower case, as in keys, or "" if it could leave a
// folder.
func fileName(p string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(p, `\`, "/")))
	if name == "." || name == ".." || name == "/" || strings.ContainsAny(name, "\x00:*?\"<>|") {
		return ""
	}
	return name
}

// A Cache is a folder in the form of a symbol store.
type Cache struct{ Dir string }

// DefaultCaches returns the existing folders in which .NET tools keep their downloads. It leaves out a folder among the
// temporary files in which others may write: they could choose what a module's identity does not prove.
func DefaultCaches() []Cache {
	var out []Cache
	add := func(parts ...string) {
		dir := filepath.Join(parts...)
		if st, err := os.Stat(dir); err == nil && st.IsDir() {
			out = append(out, Cache{dir})
		}
	}
	if home, err := os.UserHomeDir(); err == nil {
		add(home, ".dotnet", "symbolcache")
	}
	if outfile.PrivateDir(sharedCache()) == nil {
		add(sharedCache())
	}
	return out
}

// sharedCache returns the folder of the .NET tools among the temporary files.
func sharedCache() string { return filepath.Join(os.TempDir(), "SymbolCache") }

// DownloadCache returns the default folder for downloads. It is the folder of the .NET tools, so that downloads
// are shared. Without a home it is among the temporary files; it fails if others may write in that folder.
func DownloadCache() (Cache, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return Cache{sharedCache()}, outfile.PrivateDir(sharedCache())
	}
	return Cache{filepath.Join(home, ".dotnet", "symbolcache")}, nil
}

// Path returns the path of a key's file in the cache.
func (c Cache) Path(key string) string { return filepath.Join(c.Dir, filepath.FromSlash(key)) }

// Candidates implements modfiles.Source.
func (c Cache) Candidates(m *target.Module, id *image.Identity) iter.Seq[string] {
	return func(yield func(string) bool) {
		key := FileKey(m.Path, id)
		if key == "" {
			return
		}
		p := c.Path(key)
		if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() {
			yield(p)
		}
	}
}

// PortablePDB returns the path of a portable PDB in the cache. It returns os.ErrNotExist if the cache lacks it.
func (c Cache) PortablePDB(_ context.Context, pdbPath string, guid [16]byte) (string, error) {
	key := PortablePDBKey(pdbPath, guid)
	if key == "" {
		return "", os.ErrNotExist
	}
	st, err := os.Stat(c.Path(key))
	if err != nil || !st.Mode().IsRegular() {
		return "", os.ErrNotExist
	}
	return c.Path(key), nil
}

// Local returns the sources on this machine: installed runtimes and symbol caches.
func Local() []modfiles.Source {
	out := []modfiles.Source{&modfiles.Installed{}}
	for _, c := range DefaultCaches() {
		out = append(out, c)
	}
	return out
}
