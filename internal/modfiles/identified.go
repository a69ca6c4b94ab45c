package modfiles

import (
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/target"
)

// An identified proposes the files of a folder that have the module's identity, whatever their names: a program that was
// renamed since, or is kept under the name of the dump. The files are looked at once, when no name was enough.
type identified struct {
	*folder
	policy *Policy
	once   sync.Once
	images map[string][]string // by what identifies them
}

func (d *identified) Candidates(_ *target.Module, id *image.Identity) iter.Seq[string] {
	key := identityKey(id.BuildID, id.TimeDateStamp, id.SizeOfImage)
	if key == "" {
		return func(func(string) bool) {}
	}
	d.once.Do(d.read)
	return slices.Values(d.images[key])
}

// identityKey is empty where nothing identifies the image.
func identityKey(buildID []byte, stamp, size uint32) string {
	if len(buildID) == 0 && size == 0 {
		return ""
	}
	id := image.Identity{BuildID: buildID, TimeDateStamp: stamp, SizeOfImage: size}
	return id.String()
}

// read reads the headers of all files. What is no image, or can't be opened, has no identity.
func (d *identified) read() {
	d.folder.once.Do(d.list)
	d.images = map[string][]string{}
	n := 0
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		for _, p := range d.files[name] {
			if n++; n > limits.FolderImages {
				return
			}
			if key := d.key(p); key != "" {
				d.images[key] = append(d.images[key], p)
			}
		}
	}
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
