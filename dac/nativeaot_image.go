package dac

import (
	"encoding/binary"
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/nativeformat"
	"github.com/sosgo/sosgo/target"
)

// A nativeImage holds the structures found by searching the image of a NativeAOT program. It is read once.
type nativeImage struct {
	headers []nativeSections
	strings []target.Addr // addresses of words like the start of System.String's MethodTable; others may look the same
	err     error         // why headers may be missing
}

// nativeSections maps kinds to the sections of a header.
type nativeSections map[uint32]nativeformat.Section

// nativeImage searches the program's image.
func (i *Instance) nativeImage() *nativeImage {
	found, _ := i.aot.Get(func() (*nativeImage, error) {
		n := &nativeImage{}
		m := &i.Module
		n.err = i.eachWord(target.RangeAt(m.Base, m.Size), func(at target.Addr, v uint64) error {
			// A string has components of two bytes, and this size without them.
			if v>>32 == stringBaseSize && uint16(v) == 2 && len(n.strings) < limits.NativeStrings {
				n.strings = append(n.strings, at)
			}
			if uint32(v) != nativeformat.HeaderSignature {
				return nil
			}
			h, err := i.nativeHeader(at)
			if h == nil || err != nil {
				return err
			}
			if n.headers = append(n.headers, h); len(n.headers) > limits.NativeHeaders {
				return target.Corruptf("the program has more than %d ReadyToRun headers", limits.NativeHeaders)
			}
			return nil
		})
		return n, nil
	})
	return found
}

// nativeHeader returns the ReadyToRun header at an address, or nil. All its rows must be in the program, and
// one must be a section of metadata or of static fields.
func (i *Instance) nativeHeader(at target.Addr) (nativeSections, error) {
	b, err := target.Bytes(i.mem, at, nativeformat.HeaderSize)
	if err != nil {
		return nil, nil
	}
	size, err := nativeformat.RowsOf(b)
	if err != nil {
		return nil, nil
	}
	if b, err = target.Bytes(i.mem, at+nativeformat.HeaderSize, size); err != nil {
		return nil, fmt.Errorf("ReadyToRun header: %w", err)
	}
	m := &i.Module
	list, err := nativeformat.Sections(b, target.RangeAt(m.Base, m.Size))
	if err != nil {
		return nil, nil
	}
	sections := nativeSections{}
	for _, s := range list {
		sections[s.Kind] = s
	}
	_, named := sections[nativeformat.SectionMetadata]
	if _, ok := sections[nativeformat.SectionGCStatics]; !ok && !named {
		return nil, nil
	}
	return sections, nil
}

// searchPiece is the number of bytes that eachWord reads at once.
const searchPiece = 4096

// eachWord calls use for each aligned word of a range that is in the dump. It searches the memory: use reads again what it takes.
func (i *Instance) eachWord(in target.Range, use func(at target.Addr, v uint64) error) error {
	mem, buf := target.Searching(i.mem), make([]byte, searchPiece)
	for at := (in.Start + 7) &^ 7; in.Contains(at); {
		n, _ := mem.ReadMemory(buf[:min(searchPiece, uint64(in.End-at))], at) // the rest is not in the dump
		if n < 8 {
			next, ok := target.NextStored(i.tgt, at+8)
			if !ok || !in.Contains(next) {
				return nil
			}
			at = (next + 7) &^ 7
			continue
		}
		for b := buf[:n]; len(b) >= 8 && in.Contains(at); at, b = at+8, b[8:] {
			if err := use(at, binary.LittleEndian.Uint64(b)); err != nil {
				return err
			}
		}
	}
	return nil
}

// blob reads a section.
func (i *Instance) blob(h nativeSections, kind uint32) ([]byte, target.Addr, error) {
	s, ok := h[kind]
	switch size := uint64(s.End - s.Start); {
	case !ok || size == 0:
		return nil, 0, target.Unsupportedf("the program was compiled without it")
	case size > limits.NativeBlob:
		return nil, 0, target.Corruptf("section %d has %d bytes", kind, size)
	default:
		var out []byte
		for at := s.Start; at < s.End; { // missing memory ends the loop early
			n := min(blobPiece, int(s.End-at))
			b, err := target.Bytes(i.mem, at, n)
			if err != nil {
				return nil, 0, err
			}
			out, at = append(out, b...), at+target.Addr(n)
		}
		return out, s.Start, nil
	}
}

// blobPiece is the number of bytes of a section to read at once.
const blobPiece = 2 << 10

func (i *Instance) nativeMetadata(h nativeSections) (*nativeformat.Metadata, error) {
	b, _, err := i.blob(h, nativeformat.SectionMetadata)
	if err != nil {
		return nil, fmt.Errorf("metadata of the program: %w", err)
	}
	return nativeformat.Open(b)
}

// relative returns the address at the 32-bit distance stored at an address.
func (i *Instance) relative(at target.Addr) (target.Addr, error) {
	v, err := target.Uint32(i.mem, at)
	return at + target.Addr(int32(v)), err
}

// fixup returns the address that an entry of the table of fixups leads to.
func (i *Instance) fixup(h nativeSections, n uint32) (target.Addr, error) {
	fixups, ok := h[nativeformat.SectionFixups]
	if !ok {
		return 0, target.Unsupportedf("the program has no table of fixups")
	}
	cell := fixups.Start + 4*target.Addr(n)
	if cell >= fixups.End {
		return 0, target.Corruptf("fixup %d of a table of %d bytes", n, fixups.End-fixups.Start)
	}
	return i.relative(cell)
}
