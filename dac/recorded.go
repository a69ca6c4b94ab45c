package dac

import (
	"encoding/binary"
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/internal/image/codeinfo"
	"github.com/sosgo/sosgo/target"
)

// The ReadyToRun header of an image (readytorun.h, READYTORUN_HEADER and READYTORUN_SECTION) contains a
// signature, the version of the format, and the sections by type.
const (
	r2rSignature    = 0x00525452 // "RTR"
	r2rMajorOffset  = 4
	r2rFlagsOffset  = 8
	r2rCountOffset  = 12
	r2rHeaderSize   = 16
	r2rSectionSize  = 12
	r2rSectionStart = 4 // followed by the size in bytes
	r2rMaxSections  = 1024

	r2rSectionEH = 104 // ReadyToRunSectionType::ExceptionInfo

	r2rComponent    = 0x20 // READYTORUN_FLAG_COMPONENT: the code is in a composite image
	r2rSectionOwner = 116  // ReadyToRunSectionType::OwnerCompositeExecutable, a file name
)

// DecodeGCInfo prepares d to decode the GC info of the code described by info: the registers and stack slots
// with references.
func (r *CodeReader) DecodeGCInfo(d *GCDecoder, info CodeInfo) error {
	if info.GCInfo == 0 {
		return info.unknown("GC info")
	}
	version, err := r.gcInfoVersion(info)
	if err != nil {
		return err
	}
	mem, err := r.codeMemory(info)
	if err != nil {
		return err
	}
	d.Arch = r.Runtime().Target().Platform().Arch
	return d.ResetAt(mem, info.GCInfo, version)
}

// gcInfoVersion returns the version of the GC info of the code: the runtime's for code compiled in the process,
// or the version of the image's compiler.
func (r *CodeReader) gcInfoVersion(info CodeInfo) (int, error) {
	if info.Kind == CodeReadyToRun {
		h, err := r.r2rHeader(info)
		if err != nil {
			return 0, err
		}
		return codeinfo.GCInfoVersionReadyToRun(h.major), nil
	}
	version, err := r.Runtime().Layout().Uint("GCInfoVersion")
	return int(version), err
}

// gcCodeLength returns the size in bytes of the code with its funclets from its GC info. The compiler
// determines the version of the GC info: it differs in an image made for another major version.
func (r *CodeReader) gcCodeLength(mem target.Memory, info CodeInfo) (uint64, error) {
	version, err := r.gcInfoVersion(info)
	if err != nil {
		return 0, err
	}
	n, err := codeinfo.ReadCodeLength(mem, info.GCInfo, r.Runtime().Target().Platform().Arch, version)
	return uint64(n), err
}

// EHClauses returns the exception clauses of the code described by info.
func (r *CodeReader) EHClauses(info CodeInfo) ([]EHClause, error) {
	switch info.Kind {
	case CodeJIT:
		c, err := r.members()
		if err != nil {
			return nil, err
		}
		at, err := r.ptr(info.Header, c.CodeHeader.EHInfo, "RealCodeHeader.EHInfo")
		if err != nil {
			return nil, err
		}
		return codeinfo.ReadEHClauses(r.mem, at)
	case CodeReadyToRun:
		h, err := r.r2rHeader(info)
		if err != nil {
			return nil, err
		}
		table, err := h.section(r2rSectionEH)
		if err != nil {
			return nil, err
		}
		return codeinfo.ReadImageEHClauses(h.mem, info.Base, table, uint32(info.Start-info.Base))
	}
	return nil, nil
}

// An r2rHeader is the header of an image with ReadyToRun code. For a component it is the composite image's.
type r2rHeader struct {
	mem      target.Memory // completed with the image's file
	base     target.Addr
	major    uint16
	flags    uint32
	sections []byte
}

// r2rHeader reads the header of the image with the code described by info.
func (r *CodeReader) r2rHeader(info CodeInfo) (r2rHeader, error) {
	c, err := r.members()
	if err != nil {
		return r2rHeader{}, err
	}
	im, err := r.imageOf(c, info)
	if err != nil {
		return r2rHeader{}, err
	}
	at := im.info
	if o := c.ReadyToRun.Composite; o != layout.Absent {
		if at, err = r.ptr(at, o, "ReadyToRunInfo.CompositeInfo"); err != nil {
			return r2rHeader{}, err
		}
	}
	if at, err = r.ptr(at, c.ReadyToRun.Header, "ReadyToRunInfo.ReadyToRunHeader"); err != nil {
		return r2rHeader{}, err
	}
	h := r2rHeader{mem: im.mem, base: im.base}
	if err := h.read(at); err != nil {
		return r2rHeader{}, fmt.Errorf("ReadyToRun header of %s: %w", im.module.Label(), err)
	}
	return h, nil
}

func (h *r2rHeader) read(at target.Addr) error {
	b, err := target.Bytes(h.mem, at, r2rHeaderSize)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	n := le.Uint32(b[r2rCountOffset:])
	if le.Uint32(b) != r2rSignature || n > r2rMaxSections {
		return target.Corruptf("signature %#x, %d sections", le.Uint32(b), n)
	}
	h.major, h.flags = le.Uint16(b[r2rMajorOffset:]), le.Uint32(b[r2rFlagsOffset:])
	h.sections, err = target.Bytes(h.mem, at+r2rHeaderSize, int(n)*r2rSectionSize)
	return err
}

// section returns the range of the image's section of a type, or an empty range. It returns
// target.ErrUnsupported for a component's header, which lacks the sections of its code: they are in the
// composite image, and no structure of the runtime leads to its header. No dump of such a process was measured.
func (h *r2rHeader) section(kind uint32) (target.Range, error) {
	if h.flags&r2rComponent != 0 {
		return target.Range{}, target.Unsupportedf("the code is in a composite ReadyToRun image, whose header is unknown: " +
			"what the compiler recorded beside the code can't be read")
	}
	return h.find(kind), nil
}

// find returns the section of a type, of any header.
func (h *r2rHeader) find(kind uint32) target.Range {
	le := binary.LittleEndian
	for b := h.sections; len(b) >= r2rSectionSize; b = b[r2rSectionSize:] {
		if le.Uint32(b) == kind {
			start := h.base + target.Addr(le.Uint32(b[r2rSectionStart:]))
			return target.RangeAt(start, uint64(le.Uint32(b[r2rSectionStart+4:])))
		}
	}
	return target.Range{}
}

// Code returns the machine code of the body described by info, with its funclets and without its cold part.
func (r *CodeReader) Code(info CodeInfo) ([]byte, error) {
	switch {
	case info.Size == 0:
		return nil, info.unknown("size")
	case info.Size > limits.MethodCode:
		return nil, target.Corruptf("code at %016x of %d bytes", uint64(info.Start), info.Size)
	}
	mem, err := r.codeMemory(info)
	if err != nil {
		return nil, err
	}
	b, err := target.Bytes(mem, info.Start, int(info.Size))
	if err != nil {
		return nil, fmt.Errorf("code at %016x: %w", uint64(info.Start), err)
	}
	return b, nil
}
