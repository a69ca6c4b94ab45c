package modfiles

import (
	"context"
	"iter"
	"maps"
	"path"
	"runtime"
	"slices"
	"sync"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/target"
)

// An identified proposes the files of a folder with the module's identity, whatever their names: a renamed
// program, or one stored under the dump's name. It reads the files once for each format, and only if names did
// not suffice.
type identified struct {
	*folder
	policy *Policy
	elf    identityIndex
	pe     identityIndex
}

// An identityIndex maps identities to files, in the order of their names.
type identityIndex struct {
	once   sync.Once
	images map[string][]string
}

func (d *identified) Candidates(_ *target.Module, id *image.Identity) iter.Seq[string] {
	key := identityKey(id.BuildID, id.TimeDateStamp, id.SizeOfImage)
	if key == "" {
		return func(func(string) bool) {}
	}
	index, kind := &d.pe, image.KindPE
	if len(id.BuildID) > 0 {
		index, kind = &d.elf, image.KindELF
	}
	index.once.Do(func() { index.images = d.read(kind) })
	return slices.Values(index.images[key])
}

// identityKey returns the key of an identity, or "" for an image without one.
func identityKey(buildID []byte, stamp, size uint32) string {
	if len(buildID) == 0 && size == 0 {
		return ""
	}
	id := image.Identity{BuildID: buildID, TimeDateStamp: stamp, SizeOfImage: size}
	return id.String()
}

// read reads the headers of all files that may be images of the kind. Other and unreadable files have no
// identity.
func (d *identified) read(kind image.Kind) map[string][]string {
	d.folder.once.Do(d.list)
	var paths []string
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		if mayBe(kind, name) {
			paths = append(paths, d.files[name]...)
		}
	}
	paths = paths[:min(len(paths), limits.FolderImages)]
	keys := make([]string, len(paths))
	// The background context never ends, so Each does not fail.
	_ = workers.Each(context.Background(), runtime.GOMAXPROCS(0), len(paths), func(i int) { keys[i] = d.key(paths[i]) })
	images := map[string][]string{}
	for i, key := range keys {
		if key != "" {
			images[key] = append(images[key], paths[i])
		}
	}
	return images
}

// mayBe reports whether a file with the given lower-case name may be an image of the kind. A few extensions
// cannot.
func mayBe(kind image.Kind, name string) bool {
	switch path.Ext(name) {
	case ".pdb", ".json", ".xml":
		return false
	case ".dll", ".exe":
		return kind == image.KindPE
	case ".so", ".dbg", ".debug":
		return kind == image.KindELF
	}
	return true
}

func (d *identified) key(path string) string {
	im, err := d.policy.openImage(path)
	if err != nil {
		return ""
	}
	defer im.Close()
	if im.Kind() == image.KindPE {
		return identityKey(nil, im.TimeDateStamp(), im.SizeOfImage())
	}
	id, err := im.BuildID()
	if err != nil {
		return ""
	}
	return identityKey(id, 0, 0)
}
