package main

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// choose selects the memory of d to keep.
func (j *job) choose(d *sosgo.Dump, box container, offsets, addrs *reads) []piece {
	own, inStack, inUse := ownMemory(d), stackMemory(d.Target(), false), stackMemory(d.Target(), true)
	pages := maps.Clone(addrs.parts.pages)
	for _, r := range box.ranges() {
		for a := uint64(r.Addr); a < uint64(r.Addr)+r.Size; a = (a/j.grain + 1) * j.grain {
			n := min((a/j.grain+1)*j.grain, uint64(r.Addr)+r.Size) - a
			off := uint64(r.Offset) + a - uint64(r.Addr)
			searched := offsets.pages.read(off, n) || addrs.pages.read(a, n)
			if offsets.parts.read(off, n) || inUse(a) ||
				own(a) && (searched || (!j.lean || inStack(a)) && (r.Size <= smallRange || !zero(d, a, n))) {
				pages[a/j.grain] = true
			}
		}
	}
	// Readers of images treat a page as whole or missing.
	for _, p := range slices.Collect(maps.Keys(pages)) {
		if at := p * j.grain; !own(at) {
			for a := at / pageSize * pageSize; a < (at/pageSize+1)*pageSize; a += j.grain {
				pages[a/j.grain] = true
			}
		}
	}
	var pieces []piece
	for _, p := range slices.Sorted(maps.Keys(pages)) {
		pieces = appendPage(pieces, d, p*j.grain, j.grain)
	}
	for _, inst := range d.Runtimes() {
		if p, ok := versionConstant(d, inst); ok && !target.Available(d.Target(), target.Addr(p.addr), 1) {
			pieces = append(pieces, p)
		}
	}
	return pieces
}

// ownMemory reports which addresses belong to the process itself and not to files. The runtimes'
// variables belong to it, and so do files without a name, through which runtimes map code twice.
func ownMemory(d *sosgo.Dump) func(a uint64) bool {
	var regions []target.Region
	for r := range d.Target().Regions() {
		file := r.Kind == target.RegionImage || r.Path != "" && !strings.HasPrefix(r.Path, "/memfd:")
		if file && !isVariables(d, r) {
			regions = append(regions, r)
		}
	}
	return func(a uint64) bool {
		_, found := slices.BinarySearchFunc(regions, a, func(r target.Region, a uint64) int {
			switch {
			case uint64(r.Start) > a:
				return 1
			case a-uint64(r.Start) >= r.Size:
				return -1
			}
			return 0
		})
		return !found
	}
}

// stackMemory reports which addresses belong to stacks: to the region of a thread's stack pointer
// or, with inUse, to the used part. Scans of stacks are not recorded.
func stackMemory(t target.Target, inUse bool) func(a uint64) bool {
	var stacks []target.Range
	for _, th := range t.Threads() {
		sp, ok := th.Registers.SP()
		for r := range t.Regions() {
			if at := uint64(sp - r.Start); !ok || at >= r.Size {
				continue
			}
			if stack := (target.RangeAt(r.Start, r.Size)); inUse {
				stacks = append(stacks, target.Range{Start: sp &^ (pageSize - 1), End: stack.End})
			} else {
				stacks = append(stacks, stack)
			}
		}
	}
	return func(a uint64) bool {
		return slices.ContainsFunc(stacks, func(r target.Range) bool { return r.Contains(target.Addr(a)) })
	}
}

// isVariables reports whether r is a writable part of a runtime. An executable writable page is one
// that the loader has not copied for writing.
func isVariables(d *sosgo.Dump, r target.Region) bool {
	if r.Prot&(target.ProtWrite|target.ProtExec) != target.ProtWrite {
		return false
	}
	return slices.ContainsFunc(d.Runtimes(), func(inst *dac.Instance) bool { return inst.Module.Contains(r.Start) })
}

func zero(d *sosgo.Dump, a, n uint64) bool {
	b, err := target.Bytes(d.Target(), target.Addr(a), int(n))
	return err == nil && len(bytes.Trim(b, "\x00")) == 0
}

// appendPage adds the readable bytes of the grain at a, from the dump and from module files.
func appendPage(pieces []piece, d *sosgo.Dump, a, grain uint64) []piece {
	for at, end := a, a+grain; at < end; {
		b := make([]byte, end-at)
		n, _ := d.Memory().ReadMemory(b, target.Addr(at))
		if last := len(pieces) - 1; n > 0 && last >= 0 && pieces[last].end() == at {
			pieces[last].data = append(pieces[last].data, b[:n]...)
		} else if n > 0 {
			pieces = append(pieces, piece{at, b[:n]})
		}
		// Parts of files begin anywhere in a page.
		at = max(at+uint64(n), at+1)
	}
	return pieces
}
