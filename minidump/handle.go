package minidump

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
)

// MINIDUMP_HANDLE_DATA_STREAM and MINIDUMP_HANDLE_DESCRIPTOR. The second form of the descriptor has
// additional fields at its end.
const (
	handleDataSize       = 16
	handleDescriptorSize = 32
)

// A Handle is an operating-system handle of the process (MINIDUMP_HANDLE_DESCRIPTOR).
type Handle struct {
	Value         uint64
	Type          string // "Event", "File", …
	Name          string // of the object, mostly empty
	Attributes    uint32
	GrantedAccess uint32
	HandleCount   uint32 // of the object, in all processes
	PointerCount  uint32
}

// Handles lists the handles in the dump's order. It is empty if the dump was written without them.
// The caller must not change the slice.
func (f *File) Handles() []Handle { return f.handles.get(f.loadHandles) }

func (f *File) loadHandles(n *notes) []Handle {
	s, ok := f.section(HandleDataStream, n)
	if !ok {
		return nil
	}
	t := s.headedList(handleDataSize, handleDescriptorSize, false, bound{elements: limits.Handles}, n)
	r := f.names(s.name)
	out := make([]Handle, t.len())
	for i := range out {
		e := t.at(i)
		h := Handle{
			Value:         le.Uint64(e),
			Attributes:    le.Uint32(e[16:]),
			GrantedAccess: le.Uint32(e[20:]),
			HandleCount:   le.Uint32(e[24:]),
			PointerCount:  le.Uint32(e[28:]),
		}
		var err error
		if h.Type, err = r.string(le.Uint32(e[8:])); err != nil {
			n.add(fmt.Errorf("handle %#x: type: %w", h.Value, err))
		}
		if h.Name, err = r.string(le.Uint32(e[12:])); err != nil {
			n.add(fmt.Errorf("handle %#x: name: %w", h.Value, err))
		}
		out[i] = h
	}
	return out
}
