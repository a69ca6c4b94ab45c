package dac

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// A LayoutError reports that no source of layout fits a runtime.
type LayoutError struct {
	Runtime string   // path, version and identity of the runtime
	Tried   []string // sources that were tried, each with the reason for its refusal
}

func (e *LayoutError) Error() string {
	return fmt.Sprintf("no layout fits %s: %s", e.Runtime, strings.Join(e.Tried, "; "))
}

// Unwrap returns target.ErrUnsupported.
func (e *LayoutError) Unwrap() error { return target.ErrUnsupported }

// Open chooses the layout of the runtime and opens it. The runtime's own description comes first: its contract
// descriptor in the dump, in the catalogue (for the same build) or in its file. Tables supply the members that
// it lacks. Each combination must pass the probes.
//
// Open uses the debug header of a NativeAOT program. The Runtime then supports what such a program shares with
// a CLR, and returns target.ErrUnsupported for the rest; see Check.
func (i *Instance) Open() (*Runtime, error) {
	if i.Flavor == FlavorNativeAOT {
		r, err := i.openNative()
		if err != nil {
			return nil, fmt.Errorf("%s, a NativeAOT application: %w", target.BaseName(i.Module.Path), err)
		}
		return r, nil
	}
	if i.tgt == nil {
		return nil, target.Argumentf("no process is open")
	}
	platform := i.tgt.Platform()
	if platform.Arch.PointerSize() == 4 {
		return nil, target.Unsupportedf("%s is the CLR of a 32-bit process (%v), for which sosgo has no layout: its objects, types, heap and managed "+
			"stacks can't be read (dotnet-dump analyze of the same bitness reads them); modules, threads, registers and memory can", target.BaseName(i.Module.Path), platform.Arch)
	}
	if i.headless {
		return nil, i.stacksOnlyError()
	}
	own, tried := i.ownParts()
	candidates := i.candidates()
	if len(candidates) == 0 {
		tried = append(tried, fmt.Sprintf("there is none for %v on %v", platform.OS, platform.Arch))
	}
	var best *Runtime
	bestScore := -1
	for n := 0; n < len(candidates); n++ {
		c := candidates[n]
		if c.Lender != "" && best != nil {
			break // the processor's own tables come first
		}
		rt, err := i.try(own, c)
		if err != nil {
			tried = append(tried, fmt.Sprintf("%s: %v", candidateName(c), err))
			candidates = slices.Insert(candidates, n+1, c.Alternatives()...)
			continue
		}
		passed, failed := tally(rt.probes)
		if c.Lender != "" {
			failed = unpassed(rt.probes)
		}
		if len(failed) > 0 || passed == 0 {
			tried = append(tried, fmt.Sprintf("%s: %s", candidateName(c), describe(failed)))
			candidates = slices.Insert(candidates, n+1, c.Alternatives()...)
			continue
		}
		if passed > bestScore {
			best, bestScore = rt, passed
		}
		if i.ofMajor(c.Major) {
			break // the runtime's own version and the probes agree
		}
	}
	if best == nil {
		if err := i.sizeError(); err != nil {
			return nil, err
		}
	}
	if best == nil && i.stacksOnly() {
		return nil, i.stacksOnlyError()
	}
	if best == nil {
		return nil, &LayoutError{Runtime: i.describe(), Tried: tried}
	}
	return best, nil
}

// sizeError returns the contradiction between the list of modules and the header of the runtime's library. Its data then
// seem to be missing.
func (i *Instance) sizeError() error {
	listed := i.Module.SizeOfImage
	if !i.Module.Listed || i.Image.Kind() != image.KindPE || !i.Image.HasHeaders() || i.Image.SizeOfImage() == listed {
		return nil
	}
	return target.Corruptf("%s has %#x bytes in the list of modules, and %#x in its own header", i.Module.Path, listed, i.Image.SizeOfImage())
}

func (i *Instance) describe() string {
	v := i.Version()
	if v == "" {
		v = "unknown version"
	}
	return fmt.Sprintf("%s (%s, %s)", i.Module.Path, v, i.Identity)
}

// candidates returns the tables to try, with the runtime's own version first. If that version has no table for this
// processor and system, tables for others replace it. Tables of other versions come last, if no table has the version
// or it is unknown.
func (i *Instance) candidates() []layout.Candidate {
	platform, version := i.tgt.Platform(), i.Version()
	own := layout.Candidates(platform.OS, platform.Arch, version)
	known := slices.ContainsFunc(own, func(o layout.Candidate) bool { return i.ofMajor(o.Major) })
	var first, last []layout.Candidate
	for _, c := range layout.Borrowed(platform.OS, platform.Arch, version) {
		switch {
		case slices.ContainsFunc(own, func(o layout.Candidate) bool { return o.Major == c.Major }):
		case i.ofMajor(c.Major):
			first = append(first, c)
		case !known:
			last = append(last, c)
		}
	}
	return slices.Concat(first, own, last)
}

// ofMajor reports whether the runtime has a major version. Files of 3.1 are numbered differently.
func (i *Instance) ofMajor(major string) bool {
	return layout.OfMajor(i.Version(), major) || i.IsCore3() && layout.OfMajor(major, "3")
}

// candidateName returns the name of a candidate for the list of tried sources.
func candidateName(c layout.Candidate) string {
	switch {
	case c.Lender != "":
		return c.Major + " on " + c.Lender
	case c.LockGrowth() != 0:
		return fmt.Sprintf("%s with locks %d bytes larger", c.Major, c.LockGrowth())
	}
	return c.Major
}

// unpassed returns the probes that did not pass, for any reason.
func unpassed(probes []Probe) []Probe {
	var out []Probe
	for _, p := range probes {
		if p.Result != ProbePassed {
			out = append(out, p)
		}
	}
	return out
}

func describe(failed []Probe) string {
	if len(failed) == 0 {
		return "nothing in the dump can prove it"
	}
	if failed[0].Result == ProbeNotInDump {
		return fmt.Sprintf("probe %s proves nothing: %s", failed[0].Name, failed[0].Detail)
	}
	return fmt.Sprintf("probe %s failed: %s", failed[0].Name, failed[0].Detail)
}

// An ownPart is a description by the runtime itself, with the addresses of its globals.
type ownPart struct {
	part *layout.Part
	at   layout.Addresses
}

// ownParts collects the runtime's own descriptions of its structures.
func (i *Instance) ownParts() (parts []ownPart, tried []string) {
	if p, err := i.descriptorInDump(); len(p) > 0 {
		parts = append(parts, p...)
	} else if i.descriptor != 0 {
		tried = append(tried, fmt.Sprintf("contract descriptor in the dump: %v", err))
	}
	b, err := layout.KnownBuild(i.Identity)
	var known *layout.Part
	if err == nil && b != nil {
		known, err = b.Part()
	}
	if err != nil {
		tried = append(tried, err.Error())
	} else if known != nil {
		if i.dacTable == 0 && b.DacTableRVA != 0 {
			i.dacTable, i.dacSize = i.Module.Base+b.DacTableRVA, b.DacTableSize
		}
		parts = append(parts, ownPart{known, layout.Addresses{Pointer: func(n int) (target.Addr, bool) {
			if n >= len(b.PointerRVAs) || b.PointerRVAs[n] == 0 {
				return 0, false
			}
			return i.Module.Base + target.Addr(b.PointerRVAs[n]), true
		}}})
	} else if i.descriptor != 0 && len(parts) == 0 {
		p, err := i.descriptorInFile()
		if err != nil {
			tried = append(tried, fmt.Sprintf("contract descriptor in the runtime's file: %v", err))
			p, err = i.likeDescriptor()
		}
		if err == nil {
			parts = append(parts, p)
		} else {
			tried = append(tried, fmt.Sprintf("contract descriptor of another build: %v", err))
		}
	}
	return parts, tried
}

// The header of a contract descriptor (datacontracts, contract-descriptor.md) holds the magic number, flags,
// the size and address of the JSON, the number of pointers, padding, and the address of the pointers.
const (
	descMagic      = 0x0043414443434e44 // "DNCCDAC\0"
	descHeaderSize = 40
)

type descriptorHeader struct {
	flags, jsonSize, pointers uint32
	json, data                target.Addr
}

func decodeDescriptorHeader(b []byte) (descriptorHeader, error) {
	rd := layout.Reader{Mem: layout.BytesMemory(b)}
	if magic := rd.U64(0); rd.Err == nil && magic != descMagic {
		return descriptorHeader{}, target.Corruptf("contract descriptor without its magic number")
	}
	h := descriptorHeader{flags: rd.U32(8), jsonSize: rd.U32(12), json: rd.Ptr(16), pointers: rd.U32(24), data: rd.Ptr(32)}
	if rd.Err == nil && (h.jsonSize > limits.DescriptorJSON || h.pointers > limits.ExportNames) {
		return h, target.Corruptf("contract descriptor of %d bytes with %d pointers", h.jsonSize, h.pointers)
	}
	return h, rd.Err
}

// descriptorInDump reads the descriptor and its sub-descriptors from the process's memory. An error returned
// with parts concerns sub-descriptors.
func (i *Instance) descriptorInDump() ([]ownPart, error) {
	if i.descriptor == 0 {
		return nil, target.Unsupportedf("the runtime exports none")
	}
	p, h, err := i.descriptorAt(i.descriptor, "contract descriptor in the dump")
	if err != nil {
		return nil, err
	}
	p.at.Pointer = func(n int) (target.Addr, bool) { return i.descriptorPointer(h, n) }
	if err := i.contradiction(p.part, h); err != nil {
		return nil, err
	}
	parts, err := i.withSubDescriptors(p, h)
	descriptors := make([]*layout.Part, len(parts))
	for n := range parts {
		descriptors[n] = parts[n].part
	}
	layout.Join(descriptors)
	return parts, err
}

// descriptorInFile reads the descriptor from the file of the same build. The loader relocates its pointers, so
// the file only has the JSON, and the globals come from the DAC table.
func (i *Instance) descriptorInFile() (ownPart, error) {
	file, err := i.openFile()
	if err != nil {
		return ownPart{}, err
	}
	raw, err := descriptorJSON(file)
	if err != nil {
		return ownPart{}, err
	}
	p, err := layout.ParseDescriptor(raw, "contract descriptor in "+file.Path())
	return ownPart{part: p}, err
}

func descriptorJSON(file *image.Image) ([]byte, error) {
	rva, _, err := file.Symbol(symDescriptor)
	if err != nil {
		return nil, err
	}
	b, err := file.BytesRVA(rva, descHeaderSize)
	if err != nil {
		return nil, err
	}
	h, err := decodeDescriptorHeader(b)
	if err != nil {
		return nil, err
	}
	at, err := file.PointerRVA(rva + 16)
	if err != nil {
		return nil, err
	}
	return file.BytesRVA(at, int(h.jsonSize))
}

// try opens the runtime with its own parts and one candidate.
func (i *Instance) try(own []ownPart, c layout.Candidate) (*Runtime, error) {
	if err := c.Load(len(own) == 0); err != nil {
		return nil, err
	}
	descriptors := make([]*layout.Part, len(own))
	for n := range own {
		descriptors[n] = own[n].part
	}
	if err := c.Fits(descriptors...); err != nil {
		return nil, err
	}
	if err := c.Adopt(descriptors...); err != nil {
		return nil, err
	}
	table := c.Parts[len(c.Parts)-1]
	slots := i.readSlots(table.DacTable())
	if slots == nil && len(own) > 0 {
		slots = i.searchSlots(table, merge(own, c, nil))
	}
	return i.tryWith(own, c, slots)
}

// tryWith is try with a given table of globals, which may be nil.
func (i *Instance) tryWith(own []ownPart, c layout.Candidate, slots *slotTable) (*Runtime, error) {
	places, err := i.proveSlots(slots, c.Parts[len(c.Parts)-1], merge(own, c, nil))
	if err != nil {
		return nil, err
	}
	rt, err := newRuntime(i, i.mem, merge(own, c, places), i.files)
	if err != nil {
		return nil, err
	}
	if unproved := rt.unproved(c.Parts[len(c.Parts)-1]); len(unproved) > 0 {
		c.Parts = append(slices.Clone(c.Parts[:len(c.Parts)-1]), c.Parts[len(c.Parts)-1].Without(unproved))
		if rt, err = newRuntime(i, i.mem, merge(own, c, places), i.files); err != nil {
			return nil, err
		}
	}
	rt.measuredOn, rt.lender = c.Major, cmp.Or(c.Lender, c.Parts[len(c.Parts)-1].DerivedFrom())
	rt.probes = rt.runProbes()
	if rt.lender != "" {
		rt.probes = append(rt.probes, runProbes(namedProbe{"stacks", rt.probeStacks})...)
	}
	if rt.places = places; places != nil {
		rt.probes = append(rt.probes, places.probe())
	}
	return rt, nil
}

// merge builds the layout from the runtime's own parts and a candidate. If places is nil, no global comes from
// the runtime's table.
func merge(own []ownPart, c layout.Candidate, places *slotPlaces) *layout.Layout {
	b := layout.NewBuilder()
	for _, p := range own {
		b.Add(p.part, p.at)
	}
	var at layout.Addresses
	if places != nil {
		at.Slot = places.address
	}
	for n, p := range c.Parts {
		if n < len(c.Parts)-1 && len(own) > 0 {
			continue // a descriptor of the same major version: the runtime's own is better
		}
		b.Add(p, at)
	}
	return b.Layout()
}
