package scrub

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/sosgo/sosgo/internal/base/leftout"
	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/target"
)

// A piece is a part of the dump's file that stays.
type piece struct {
	at        int64 // offset without the parts that are gone
	off, size int64 // in the dump's file
}

// keep sets the parts of the file that stay, and the size of the new file. gone is by offset and disjoint.
func (s *shrinker) keep(gone []span) {
	var at, off int64
	for _, g := range append(slices.Clone(gone), span{off: s.src.Size()}) {
		if n := g.off - off; n > 0 {
			s.stays = append(s.stays, piece{at: at, off: off, size: n})
			at += n
		}
		off = g.off + g.size
	}
	s.size = at + int64(len(s.block))
}

// mostRuns bounds the runs of pages that a new file does not store. Each takes a program header or two.
const mostRuns = 32 << 10

// unstored returns the pages that the new file does not store, and their places in the dump's file.
func (s *shrinker) unstored(ctx context.Context, jobs int, check *fileCheck) (runs []leftout.Run, gone []span, err error) {
	type part struct {
		off, size int64
		addr      target.Addr
	}
	var parts []part
	for _, p := range s.layout.spans {
		skip := int64(-p.addr & (leftout.Page - 1))
		for at := skip; p.memory && at+leftout.Page <= p.size; at += chunkSize {
			parts = append(parts, part{p.off + at, min(chunkSize, p.size-at) &^ (leftout.Page - 1), p.addr + target.Addr(at)})
		}
	}
	found := make([][]leftout.Run, len(parts))
	errs := make([]error, len(parts))
	buffers := sync.Pool{New: func() any { return new([chunkSize]byte) }}
	err = workers.Each(ctx, jobs, len(parts), func(i int) {
		p := &parts[i]
		buf := buffers.Get().(*[chunkSize]byte)
		defer buffers.Put(buf)
		b := buf[:p.size]
		if errs[i] = s.content(b, p.off); errs[i] != nil {
			return
		}
		for at := 0; at < len(b); at += leftout.Page {
			page := b[at : at+leftout.Page]
			kind, ok := s.spare(page, p.addr+target.Addr(at))
			if ok && kind == leftout.InFile {
				kind, ok = check.kind(page, p.addr+target.Addr(at))
			}
			if !ok {
				continue
			}
			r := leftout.Run{Addr: p.addr + target.Addr(at), Size: leftout.Page, Kind: kind}
			if kind == leftout.InFile || kind == mayBeInFile {
				r.Sums = []uint64{leftout.Sum(page)}
			}
			found[i] = appendRun(found[i], r)
		}
	})
	s.counted = true
	for _, e := range errs {
		if err == nil {
			err = e
		}
	}
	if err != nil {
		return nil, nil, err
	}
	total := 0
	for i := range found {
		total += len(found[i])
	}
	least := uint64(leftout.Page)
	for ; total > mostRuns; least *= 2 {
		total = 0
		for i := range found {
			found[i] = slices.DeleteFunc(found[i], func(r leftout.Run) bool { return r.Size < 2*least })
			total += len(found[i])
		}
	}
	for i := range found {
		for _, r := range found[i] {
			switch r.Kind {
			case leftout.InFile:
				s.counts[spareFiles].Add(r.Size)
			case mayBeInFile:
				s.counts[spareUnseen].Add(r.Size)
				r.Kind = leftout.InFile
			}
			runs = append(runs, r)
			g := span{off: parts[i].off + int64(r.Addr-parts[i].addr), size: int64(r.Size)}
			if n := len(gone); n > 0 && gone[n-1].off+gone[n-1].size == g.off {
				gone[n-1].size += g.size
			} else {
				gone = append(gone, g)
			}
		}
	}
	slices.SortFunc(runs, func(a, b leftout.Run) int { return cmp.Compare(a.Addr, b.Addr) })
	joined := runs[:0]
	for _, r := range runs {
		joined = appendRun(joined, r)
	}
	return joined, gone, nil
}

// appendRun appends a run, or extends the last one.
func appendRun(list []leftout.Run, r leftout.Run) []leftout.Run {
	if n := len(list); n > 0 && list[n-1].Kind == r.Kind && list[n-1].Addr+target.Addr(list[n-1].Size) == r.Addr {
		list[n-1].Size += r.Size
		list[n-1].Sums = append(list[n-1].Sums, r.Sums...)
		return list
	}
	return append(list, r)
}

// unread returns the kind of the memory at a, and reports whether n bytes from there are of one area and no question read them.
func (s *shrinker) unread(a target.Addr, n int) (areaKind, bool) {
	area := s.job.areas.at(a)
	return area.kind, area.through(a, n) == n && s.job.marks.page(a) == nil
}

var zeroPage [leftout.Page]byte

// spare reports whether the new file need not store b, the page at a: all of it is zero, left out, or in a module's
// file and not read. Zeros beside memory that was left out count as left out, unless they are in objects or were read.
func (s *shrinker) spare(b []byte, a target.Addr) (kind leftout.Kind, ok bool) {
	if bytes.Equal(b, zeroPage[:]) {
		return leftout.Zeros, true
	}
	kept, unread := s.unread(a, len(b))
	if kept == areaFile {
		return leftout.InFile, unread
	}
	mixed := unread && kept != areaHeap && kept != areaKeep
	zeros := uint64(0)
	for w := range slices.Chunk(b, wordSize) {
		switch v := le.Uint64(w); {
		case v == uint64(s.mark):
		case v == 0 && mixed:
			zeros += wordSize
		default:
			return 0, false
		}
	}
	s.counts[spareNative].Add(zeros)
	return leftout.Nowhere, true
}
