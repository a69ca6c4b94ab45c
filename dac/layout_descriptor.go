package dac

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// The exports of a single-file app are in pages of its file, which kernel cores lack. The contract descriptor,
// the addresses in it and the runtime's table of globals are data that the loader wrote to, so every core has
// them.

// findInData returns the address of the first word of the module's writable data for which accept returns true,
// or 0.
func (i *Instance) findInData(accept func(at target.Addr, v uint64) bool) target.Addr {
	for _, s := range i.Image.Sections() {
		start, err := i.Image.Address(s.RVA)
		if err != nil || s.Prot&target.ProtWrite == 0 {
			continue
		}
		found := target.Addr(0)
		_ = i.eachWord(target.RangeAt(start, s.Size), func(at target.Addr, v uint64) error {
			if found == 0 && accept(at, v) {
				found = at
				_, _ = target.Uint64(i.mem, at) // not only searched
				return errFound
			}
			return nil
		})
		if found != 0 {
			return found
		}
	}
	return 0
}

// errFound ends a search.
var errFound = target.Unsupportedf("found")

// findDescriptor finds a contract descriptor that is not exported, or with the export missing from the dump:
// its magic number, followed by the JSON's address and addresses in the module.
func (i *Instance) findDescriptor() target.Addr {
	return i.findInData(func(at target.Addr, v uint64) bool {
		if v != descMagic {
			return false
		}
		h, err := i.descriptorHeader(at)
		if err != nil || h.jsonSize == 0 || h.pointers < 2 || !i.inData(h.data) || !i.Module.Contains(h.json) {
			return false
		}
		for n := uint32(1); n < h.pointers; n++ { // the first pointer is always zero
			if a, ok := i.descriptorPointer(h, int(n)); !ok || a == 0 {
				return false
			}
		}
		return true
	})
}

func (i *Instance) descriptorHeader(at target.Addr) (descriptorHeader, error) {
	b, err := target.Bytes(i.mem, at, descHeaderSize)
	if err != nil {
		return descriptorHeader{}, err
	}
	return decodeDescriptorHeader(b)
}

// descriptorPointer returns pointer n of a descriptor's pointer data, if it is in the runtime's module.
func (i *Instance) descriptorPointer(h descriptorHeader, n int) (target.Addr, bool) {
	if n < 0 || uint64(n) >= uint64(h.pointers) {
		return 0, false
	}
	a, err := target.Pointer(i.mem, h.data+target.Addr(8*n))
	return a, err == nil && i.Module.Contains(a)
}

// contradiction returns an error if a descriptor in the process differs from the catalogue's for the same build, which
// has the same bytes: the process's is damaged. Pointers that the dump lacks are not compared.
func (i *Instance) contradiction(p *layout.Part, h descriptorHeader) error {
	b, err := layout.KnownBuild(i.Identity)
	if err != nil || b == nil {
		return nil //nolint:nilerr // ownParts reports it
	}
	known, err := b.Part()
	if err != nil {
		return nil //nolint:nilerr // ownParts reports it
	}
	if err := known.Contradicts(p); err != nil {
		return err
	}
	for n, rva := range b.PointerRVAs {
		a, err := target.Pointer(i.mem, h.data+target.Addr(8*n))
		if err == nil && rva != 0 && a != i.Module.Base+target.Addr(rva) {
			return target.Corruptf("pointer %d of the contract descriptor is %x, and %x in all processes of this build", n, a, i.Module.Base+target.Addr(rva))
		}
	}
	return nil
}

// likeDescriptor returns the descriptor of another build with the same size of JSON and number of pointers,
// with the process's pointers. Servicing releases change neither. If the builds differ after all, the probes
// refuse it.
func (i *Instance) likeDescriptor() (ownPart, error) {
	h, err := i.descriptorHeader(i.descriptor)
	if err != nil {
		return ownPart{}, err
	}
	platform := i.tgt.Platform()
	p, err := layout.LikeBuild(platform.OS, platform.Arch, h.jsonSize, h.pointers)
	if err != nil {
		return ownPart{}, err
	}
	if p == nil {
		return ownPart{}, target.Unsupportedf("no known descriptor has %d bytes and %d pointers", h.jsonSize, h.pointers)
	}
	return ownPart{p, layout.Addresses{Pointer: func(n int) (target.Addr, bool) { return i.descriptorPointer(h, n) }}}, nil
}

// searchSlots finds the runtime's table of globals by addresses from the descriptor, which must be in the slots
// of the measured build. It returns nil if fewer than half of them are: it is another table, or another
// build's.
func (i *Instance) searchSlots(p *layout.Part, known *layout.Layout) *slotTable {
	t := p.DacTable()
	if t == nil || t.Slot == slotRVA || t.Slots == 0 || t.Slots > maxDacSlots {
		return nil
	}
	const fewest = 4
	type entry struct {
		index int
		at    target.Addr
	}
	var entries []entry
	for _, s := range p.Slots() {
		if a, err := known.Variable(s.Name); err == nil && !s.VTable && a != 0 {
			entries = append(entries, entry{s.Index, a})
		}
	}
	if len(entries) < fewest {
		return nil
	}
	first := entries[0]
	start := target.Addr(0)
	i.findInData(func(at target.Addr, v uint64) bool {
		if target.Addr(v) != first.at {
			return false
		}
		base, same := at-target.Addr(8*first.index), 0
		for _, e := range entries {
			if a, err := target.Pointer(i.mem, base+target.Addr(8*e.index)); err == nil && a == e.at {
				same++
			}
		}
		if 2*same < len(entries) || same < fewest {
			return false
		}
		start = base
		return true
	})
	if start == 0 {
		return nil
	}
	out := &slotTable{values: make([]target.Addr, t.Slots)}
	for n := range out.values {
		if v, err := target.Pointer(i.mem, start+target.Addr(8*n)); err == nil && i.Module.Contains(v) {
			out.values[n] = v
		}
	}
	return out
}

// DescriptorError returns why the contract descriptor in the process, or one of its sub-descriptors, is
// refused, with its address. It returns nil if they are readable, and if the runtime or the dump lacks them.
func (i *Instance) DescriptorError() error {
	if i.descriptor == 0 {
		return nil
	}
	parts, err := i.descriptorInDump()
	for _, p := range parts {
		if bad := p.part.TypeErrors(); bad != nil {
			err = errors.Join(err, bad)
		}
	}
	if err == nil || errors.Is(err, target.ErrNotInDump) || errors.Is(err, errNoSubDescriptor) {
		return nil
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("contract descriptor at %016x, byte %d of its JSON: %w", uint64(i.descriptor), syntax.Offset, err)
	}
	return fmt.Errorf("contract descriptor at %016x: %w", uint64(i.descriptor), err)
}
