package dac

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// errNoSubDescriptor is the error for a part of the runtime that has not published its descriptor yet.
var errNoSubDescriptor = target.Unsupportedf("the process has not published it yet")

// withSubDescriptors returns the parts of a descriptor: its own, then its sub-descriptors by name (.NET 11:
// "GC"). The error lists the unreadable sub-descriptors; the readable ones are returned with it.
func (i *Instance) withSubDescriptors(own ownPart, h descriptorHeader) ([]ownPart, error) {
	parts := []ownPart{own}
	seen := map[target.Addr]bool{i.descriptor: true}
	type level struct {
		part   *layout.Part
		header descriptorHeader
	}
	var errs []error
	for queue := []level{{own.part, h}}; len(queue) > 0; queue = queue[1:] {
		subs := queue[0].part.SubDescriptors()
		for _, name := range slices.Sorted(maps.Keys(subs)) {
			at, err := i.subDescriptorAt(queue[0].header, subs[name])
			if err == nil && seen[at] {
				err = target.Corruptf("it is a descriptor that was read already")
			}
			if err == nil && len(seen) >= limits.SubDescriptors {
				err = target.Corruptf("there are more than %d", limits.SubDescriptors)
			}
			var sub ownPart
			var header descriptorHeader
			if err == nil {
				seen[at] = true
				sub, header, err = i.descriptorAt(at, name+"'s contract descriptor in the dump")
			}
			for n := 0; n < len(parts) && err == nil; n++ {
				err = parts[n].part.Conflict(sub.part)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("sub-descriptor %s: %w", name, err))
				continue
			}
			parts = append(parts, sub)
			queue = append(queue, level{sub.part, header})
		}
	}
	return parts, errors.Join(errs...)
}

// subDescriptorAt returns the address of a sub-descriptor's header. The pointer data has the address of a
// variable that points to it. The header may be in another module: a standalone GC.
func (i *Instance) subDescriptorAt(h descriptorHeader, index int) (target.Addr, error) {
	if index < 0 || uint64(index) >= uint64(h.pointers) {
		return 0, target.Corruptf("index %d of %d pointers", index, h.pointers)
	}
	variable, err := target.Pointer(i.mem, h.data+target.Addr(8*index))
	if err != nil {
		return 0, err
	}
	if variable == 0 {
		return 0, errNoSubDescriptor
	}
	at, err := target.Pointer(i.mem, variable)
	if err == nil && at == 0 {
		err = errNoSubDescriptor
	}
	return at, err
}

// descriptorAt reads the descriptor at an address. Its globals may be in any module.
func (i *Instance) descriptorAt(at target.Addr, source string) (ownPart, descriptorHeader, error) {
	h, err := i.descriptorHeader(at)
	if err != nil {
		return ownPart{}, h, err
	}
	if !target.Available(i.mem, h.json, int(h.jsonSize)) {
		return ownPart{}, h, &target.MemoryError{Addr: h.json, Size: int(h.jsonSize), Err: target.ErrNotInDump}
	}
	raw, err := target.Bytes(i.mem, h.json, int(h.jsonSize))
	if err != nil {
		return ownPart{}, h, err
	}
	p, err := layout.ParseDescriptor(raw, source)
	return ownPart{p, layout.Addresses{Pointer: func(n int) (target.Addr, bool) { return i.pointerOf(h, n) }}}, h, err
}

// pointerOf returns pointer n of a descriptor's pointer data. Unlike descriptorPointer it accepts any address.
func (i *Instance) pointerOf(h descriptorHeader, n int) (target.Addr, bool) {
	if n < 0 || uint64(n) >= uint64(h.pointers) {
		return 0, false
	}
	a, err := target.Pointer(i.mem, h.data+target.Addr(8*n))
	return a, err == nil
}
