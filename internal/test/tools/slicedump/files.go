package main

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// fileReads records reads of the module files themselves: metadata that is only partly in the dump,
// and constants in writable sections. They are kept byte by byte, because variables may be next to
// a constant. It is safe for concurrent use.
type fileReads struct {
	mu    sync.Mutex
	files map[target.Addr]*fileRead // by the module's base
}

type fileRead struct {
	module target.Module
	image  target.Memory // by RVA
	seen   map[span]bool
	large  touchedPages
}

// A span is a range of an image.
type span struct{ rva, n uint64 }

func newFileReads() *fileReads { return &fileReads{files: map[target.Addr]*fileRead{}} }

// wrap implements sosgo.Options.WrapFile.
func (f *fileReads) wrap(m *target.Module, image target.Memory) target.Memory {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.files[m.Base]
	if r == nil {
		r = &fileRead{module: *m, seen: map[span]bool{}}
		f.files[m.Base] = r
	}
	r.image = image // of the most recently opened dump, whose files are open
	return recordingMemory{image, func(rva uint64, n int) {
		f.mu.Lock()
		defer f.mu.Unlock()
		r.seen[span{rva, uint64(n)}] = true
	}, &r.large}
}

// pieces returns the bytes that were read from the files and that are not in have.
func (f *fileReads) pieces(d *sosgo.Dump, have []piece) ([]piece, error) {
	var out []piece
	for _, base := range slices.Sorted(maps.Keys(f.files)) {
		r := f.files[base]
		img, err := image.OpenMemory(d.Memory(), &r.module)
		if err != nil {
			continue // the dump does not show the file's layout in memory
		}
		err = r.large.touched(func(rva uint64, n int) { r.seen[span{rva, uint64(n)}] = true })
		if err != nil {
			return nil, err
		}
		for _, p := range r.read(img.Kind() == image.KindPE) {
			if at, err := img.Address(image.RVA(p.addr)); err == nil {
				out = append(out, subtract(piece{uint64(at), p.data}, have)...)
			}
		}
	}
	return out, nil
}

// read returns the ranges that were read, by RVA and disjoint. Whole pages of a native image were
// only searched.
func (r *fileRead) read(pages bool) []piece {
	ranges := slices.Collect(maps.Keys(r.seen))
	slices.SortFunc(ranges, func(a, b span) int { return cmp.Or(cmp.Compare(a.rva, b.rva), cmp.Compare(b.n, a.n)) })
	var out []piece
	end := uint64(0)
	for _, p := range ranges {
		if p.n >= pageSize && !pages || p.rva+p.n <= end {
			continue
		}
		from := max(p.rva, end)
		b := make([]byte, p.rva+p.n-from)
		n, _ := r.image.ReadMemory(b, target.Addr(from))
		out = append(out, piece{from, b[:n]})
		end = p.rva + p.n
	}
	return out
}

// subtract returns the parts of p that are in none of the sorted pieces.
func subtract(p piece, have []piece) []piece {
	var out []piece
	i, _ := slices.BinarySearchFunc(have, p.addr, func(h piece, a uint64) int {
		if h.end() <= a {
			return -1
		}
		return 1
	})
	for ; i < len(have) && have[i].addr < p.end() && len(p.data) > 0; i++ {
		if h := have[i]; h.addr > p.addr {
			out = append(out, piece{p.addr, p.data[:h.addr-p.addr]})
		}
		p = piece{min(have[i].end(), p.end()), p.data[min(have[i].end(), p.end())-p.addr:]}
	}
	if len(p.data) > 0 {
		out = append(out, p)
	}
	return out
}
