package scrub

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// A runtimeOf is a runtime of the process with its heap, which is nil if unreadable.
type runtimeOf struct {
	view    *process.Process
	rt      *dac.Runtime
	module  target.Module // the runtime's image
	heap    *heap.Heap
	planner *planner
	indexes []*objectIndex
}

// regionAreas returns how to treat mappings, and the memory that pointers may refer to. Memory of an image's
// file stays; memory that the process can write to, and other files, are data.
func regionAreas(t target.Target) (out areas, mapped []target.Range) {
	var images, regions []area
	for _, m := range t.Modules() {
		images = append(images, area{Range: target.RangeAt(m.Base, m.Size), kind: areaKeep})
	}
	for r := range t.Regions() {
		a := area{Range: target.RangeAt(r.Start, r.Size)}
		if a.Start >= a.End || r.Kind == target.RegionFree {
			continue
		}
		mapped = append(mapped, a.Range)
		switch {
		case r.Kind == target.RegionUnknown && isDescription(t, r.Start):
			a.kind = areaKeep
		case r.Kind == target.RegionStack:
			a.kind = areaStack
		case r.Prot&target.ProtWrite != 0:
			a.kind = areaWords
		case r.Kind == target.RegionImage || isImageFile(r.Path):
			a.kind = areaKeep
		default:
			continue
		}
		regions = append(regions, a)
	}
	var stacks []area
	for _, th := range t.Threads() {
		stacks = append(stacks, area{Range: th.Stack, kind: areaStack})
	}
	for _, m := range images {
		mapped = append(mapped, m.Range)
	}
	return areas(nil).overlay(images).overlay(regions).overlay(stacks), withSurroundings(mapped)
}

// A pointer may refer to memory that the dump does not list. Memory within nearPointers bytes of listed memory
// may exist, but not below lowPointers: values there are numbers.
const nearPointers, lowPointers = 256 << 20, 4 << 30

// withSurroundings joins ranges with their surroundings.
func withSurroundings(list []target.Range) []target.Range {
	for i, r := range list {
		if r.Start >= lowPointers {
			list[i] = target.Range{Start: max(r.Start-nearPointers, lowPointers), End: max(r.End, r.End+nearPointers)}
		}
	}
	return joinRanges(list)
}

// descriptionMark starts the page that createdump adds (debug/createdump/specialdiaginfo.h).
const descriptionMark = "DIAGINFOHEADER\x00"

// isDescription reports whether that page is at a.
func isDescription(t target.Target, a target.Addr) bool {
	b, err := target.Bytes(t, a, len(descriptionMark))
	return err == nil && string(b) == descriptionMark
}

// joinRanges sorts ranges and joins adjacent ones.
func joinRanges(list []target.Range) []target.Range {
	slices.SortStableFunc(list, func(a, b target.Range) int {
		switch {
		case a.Start < b.Start:
			return -1
		case a.Start > b.Start:
			return 1
		}
		return 0
	})
	out := list[:0]
	for _, r := range list {
		if n := len(out); n > 0 && r.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, r.End)
		} else if r.Start < r.End {
			out = append(out, r)
		}
	}
	return out
}

// isImageFile reports whether a mapped file contains code. Other files contain data.
func isImageFile(name string) bool {
	base := strings.ToLower(path.Base(strings.TrimSuffix(name, " (deleted)")))
	return strings.HasSuffix(base, ".dll") || strings.HasSuffix(base, ".exe") || strings.HasSuffix(base, ".so") || strings.Contains(base, ".so.")
}

// runtimeAreas returns how to treat the memory of a runtime. Its loader heaps, its code and the collector's
// tables describe types and methods, and stay. So do images and metadata of modules.
func (r *runtimeOf) runtimeAreas() (out []area) {
	add := func(start target.Addr, size uint64, kind areaKind) {
		if end := start + target.Addr(size); end > start {
			out = append(out, area{Range: target.Range{Start: start, End: end}, kind: kind})
		}
	}
	if loader, err := r.rt.LoaderHeaps(); err == nil {
		for i := range loader.Heaps {
			for _, b := range loader.Heaps[i].Blocks {
				add(b.Address, b.Size, areaKeep)
			}
		}
	}
	modules, _ := r.rt.KnownModules() // the readable ones
	for _, m := range modules {
		if img, err := m.Image(); err == nil {
			add(img.Start, img.Size(), areaKeep)
		}
		if _, err := m.Metadata(); err == nil {
			s := m.MetadataSource()
			add(s.Addr, s.Size, areaKeep)
		}
	}
	if r.rt.Check(dac.FeatureModules) != nil { // types and handles of NativeAOT are in the data of its image
		m := r.module
		add(m.Base, m.Size, areaKeep)
	}
	if r.heap == nil {
		return out
	}
	if tables, err := r.heap.Bookkeeping(); err == nil && tables != nil {
		for _, t := range tables.Tables {
			add(t.Start, t.Size(), areaKeep)
		}
	}
	return out
}

// heapAreas returns the segments: objects with the header of the first one, and unused memory after them.
func (r *runtimeOf) heapAreas() (out []area) {
	if r.heap == nil {
		return nil
	}
	segments := r.heap.Segments()
	for i := range segments {
		s := &segments[i]
		a := area{Range: target.Range{Start: s.Objects.Start - wordSize, End: s.Objects.End}, kind: areaHeap}
		if i < len(r.indexes) {
			a.heap = r.indexes[i]
		}
		out = append(out, a)
		if s.Committed.End > s.Objects.End {
			out = append(out, area{Range: target.Range{Start: s.Objects.End, End: s.Committed.End}, kind: areaZero})
		}
	}
	return out
}

// literals adds the literals of .NET's own modules.
func (r *runtimeOf) literals(into map[string]bool) {
	modules, _ := r.rt.KnownModules()
	for _, m := range modules {
		name, err := m.SimpleName()
		if err != nil || !ofFramework(name) {
			continue
		}
		md, err := m.Metadata()
		if err != nil {
			continue
		}
		for text := range md.UserStrings() {
			if len(text) <= longestLiteral && len(into) < mostLiterals {
				into[string(text)] = true
			}
		}
	}
}

// mostLiterals bounds the number of literals.
const mostLiterals = 1 << 20

// versionMark starts the constant with the version of a native library of .NET. Readers search the image for it.
const versionMark, longestVersion = "@(#)Version ", 256

// markVersions marks these constants.
func (j *job) markVersions(t target.Target) {
	modules := t.Modules()
	for r := range t.Regions() {
		if !slices.ContainsFunc(modules, func(m target.Module) bool { return r.Start-m.Base < target.Addr(m.Size) }) {
			continue
		}
		for at := uint64(0); at < r.Stored; at += chunkSize {
			b, err := target.Bytes(t, r.Start+target.Addr(at), int(min(r.Stored-at, chunkSize+longestVersion)))
			if err != nil {
				break
			}
			for from := 0; ; {
				i := bytes.Index(b[from:], []byte(versionMark))
				if i < 0 {
					break
				}
				from += i
				n := bytes.IndexByte(b[from:min(from+longestVersion, len(b))], 0)
				j.marks.add(r.Start+target.Addr(at)+target.Addr(from), n)
				from++
			}
		}
	}
}
