package code

import (
	"encoding/binary"
	"sort"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/image/unwind"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// The sections of a ReadyToRun image that name its methods (readytorun.h, ReadyToRunSectionType, .NET Core 3.1 to 11).
const (
	r2rSectionFunctions = 102 // RuntimeFunctions
	r2rSectionMethods   = 103 // MethodDefEntryPoints
)

// Precompiled names the methods of a ReadyToRun image without a runtime: by the image's entry points and metadata. It knows the
// methods that metadata defines, not the instances of generic ones, and their main parts, not their funclets. It is safe for
// concurrent use.
type Precompiled struct {
	base    target.Addr
	begins  []uint32          // RVAs of functions, ascending
	methods map[uint32]uint32 // number of a function -> row of its MethodDef
	md      *metadata.Metadata
}

// OpenPrecompiled reads the entry points of an image that a process loaded at base. An image without them is
// target.ErrUnsupported.
func OpenPrecompiled(img *image.Image, base target.Addr) (*Precompiled, error) {
	h, err := img.ReadyToRun()
	if err != nil {
		return nil, err
	}
	p := &Precompiled{base: base}
	if err := p.readFunctions(img, &h); err != nil {
		return nil, err
	}
	if err := p.readMethods(img, &h); err != nil {
		return nil, err
	}
	blob, err := img.Metadata()
	if err != nil {
		return nil, err
	}
	p.md, err = metadata.Parse(blob.Data)
	return p, err
}

// readFunctions reads where the functions of the image begin.
func (p *Precompiled) readFunctions(img *image.Image, h *image.ReadyToRunHeader) error {
	stride := uint64(unwind.RuntimeFunctionSize(img.Arch()))
	d, ok := h.Section(r2rSectionFunctions)
	switch {
	case !ok || d.Size == 0:
		return target.Unsupportedf("the image lists no precompiled functions")
	case d.Size%stride != 0 || d.Size/stride > limits.RuntimeFunctions:
		return target.Corruptf("%d bytes of precompiled functions", d.Size)
	}
	b, err := img.BytesRVA(d.RVA, int(d.Size))
	if err != nil {
		return err
	}
	p.begins = make([]uint32, 0, d.Size/stride)
	for ; len(b) > 0; b = b[stride:] {
		begin := binary.LittleEndian.Uint32(b)
		if n := len(p.begins); n > 0 && begin < p.begins[n-1] {
			return target.Corruptf("precompiled function %d begins before function %d", n, n-1)
		}
		p.begins = append(p.begins, begin)
	}
	return nil
}

// readMethods maps functions to the methods whose main parts they are (readytorun-format.md, MethodDefEntryPoints): the number of a
// function, shifted by one, or by two if fixups follow.
func (p *Precompiled) readMethods(img *image.Image, h *image.ReadyToRunHeader) error {
	d, ok := h.Section(r2rSectionMethods)
	if !ok || d.Size > limits.DebugInfoBytes {
		return target.Unsupportedf("the image has no table of methods")
	}
	b, err := img.BytesRVA(d.RVA, int(d.Size))
	if err != nil {
		return err
	}
	methods, err := newNativeArray(b)
	if err != nil {
		return err
	}
	p.methods = make(map[uint32]uint32)
	for i := range min(methods.count, uint32(len(b))) {
		at, ok, err := methods.at(i)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		entry := nativeReader{b: b, pos: at}
		id := entry.uint()
		if id&1 != 0 {
			id >>= 1
		}
		if entry.err != nil {
			return entry.err
		}
		p.methods[id>>1] = i + 1
	}
	return nil
}

// At returns the method that the code at ip belongs to, and where it begins. The name is empty if that is unknown.
func (p *Precompiled) At(ip target.Addr) (name string, start target.Addr) {
	if p == nil || ip < p.base || uint64(ip-p.base) > 1<<32-1 {
		return "", 0
	}
	rva := uint32(ip - p.base)
	i := sort.Search(len(p.begins), func(i int) bool { return p.begins[i] > rva }) - 1
	row, ok := p.methods[uint32(i)]
	if i < 0 || !ok {
		return "", 0
	}
	name, err := p.md.MethodDefName(row)
	if err != nil {
		return "", 0
	}
	return name, p.base + target.Addr(p.begins[i])
}
