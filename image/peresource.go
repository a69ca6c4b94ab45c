package image

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/target"
)

// Resource types (winuser.h).
const (
	ResourceRCData  = 10
	ResourceVersion = 16
)

const (
	resourceDirSize   = 16
	resourceEntrySize = 8
	resourceEntries   = 1 << 16
	resourceHigh      = 1 << 31 // in a name: a string; in an offset: a directory
)

// resourceTree is the resource directory of a PE image (PE/COFF specification, "The .rsrc Section").
type resourceTree struct {
	im   *Image
	root Directory
}

// Resource returns the data of the resource with the given type and name, in its first language.
// Names are compared without case; "#5" is number 5. A missing resource is target.ErrUnsupported.
func (im *Image) Resource(typ uint16, name string) ([]byte, error) {
	d, err := im.peDirectory(dirResource, "resources")
	if err != nil {
		return nil, err
	}
	t := resourceTree{im, d}
	off, err := t.find(0, fmt.Sprintf("#%d", typ))
	if err == nil {
		off, err = t.find(off, name)
	}
	if err == nil {
		off, err = t.find(off, "")
	}
	if err != nil {
		return nil, fmt.Errorf("resource %s: %w", name, err)
	}
	b, err := t.bytes(off, 8)
	if err != nil {
		return nil, fmt.Errorf("resource %s: %w", name, err)
	}
	return im.directory(directoryAt(b, 0), peResourceSize)
}

func (t *resourceTree) bytes(off uint32, n int) ([]byte, error) {
	if uint64(off) > t.root.Size || uint64(n) > t.root.Size-uint64(off) {
		return nil, target.Corruptf("%d bytes at %#x of the resources lie outside them", n, off)
	}
	return t.im.BytesRVA(t.root.RVA+RVA(off), n)
}

// find returns the value of the entry with a name in the directory at dir; "" means the first
// entry. The tree has three levels, and find is called once for each, so a cycle can't trap it.
func (t *resourceTree) find(dir uint32, name string) (uint32, error) {
	dir &^= resourceHigh
	h, err := t.bytes(dir, resourceDirSize)
	if err != nil {
		return 0, err
	}
	n := int(le16(h, 12)) + int(le16(h, 14))
	if n > resourceEntries {
		return 0, target.Corruptf("resource directory with %d entries", n)
	}
	b, err := t.bytes(dir+resourceDirSize, n*resourceEntrySize)
	if err != nil {
		return 0, err
	}
	for ; len(b) > 0; b = b[resourceEntrySize:] {
		if name == "" {
			return le32(b, 4), nil
		}
		ok, err := t.hasName(le32(b, 0), name)
		if err != nil {
			return 0, err
		}
		if ok {
			return le32(b, 4), nil
		}
	}
	return 0, target.Unsupportedf("the image has no such resource")
}

// hasName reports whether the name v of an entry equals name.
func (t *resourceTree) hasName(v uint32, name string) (bool, error) {
	if v&resourceHigh == 0 {
		return fmt.Sprintf("#%d", v) == name, nil
	}
	v &^= resourceHigh
	b, err := t.bytes(v, 2)
	if err != nil {
		return false, err
	}
	// Most names differ in length.
	n := int(le16(b, 0))
	if n != len(utf16.Encode([]rune(name))) {
		return false, nil
	}
	if b, err = t.bytes(v+2, 2*n); err != nil {
		return false, err
	}
	return strings.EqualFold(utf16text.String(b), name), nil
}
