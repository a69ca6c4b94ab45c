package main

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/sosgo/sosgo/internal/base/memmap"
	"github.com/sosgo/sosgo/target"
)

// The streams that are rewritten (minidumpapiset.h).
const (
	threadListStream     = 3
	memoryListStream     = 5
	memory64ListStream   = 9
	memoryInfoListStream = 16
)

var le = binary.LittleEndian

// A minidumpContainer is a Windows minidump.
type minidumpContainer struct {
	raw          []byte
	stored       []memmap.Range
	dir, streams int   // position of the directory and number of its entries
	lists        []int // file offsets of the directory entries of memory lists
	stacks       []int // file offsets of the stacks' MINIDUMP_MEMORY_DESCRIPTORs
}

func openMinidump(raw []byte) (*minidumpContainer, error) {
	if len(raw) < 32 || string(raw[:4]) != "MDMP" {
		return nil, target.Unsupportedf("neither an ELF core nor a minidump")
	}
	m := &minidumpContainer{raw: raw, streams: int(le.Uint32(raw[8:])), dir: int(le.Uint32(raw[12:]))}
	for e := m.dir; e < m.dir+12*m.streams; e += 12 {
		at := int(le.Uint32(raw[e+8:]))
		switch le.Uint32(raw[e:]) {
		case threadListStream:
			for i := range int(le.Uint32(raw[at:])) {
				m.stacks = append(m.stacks, at+4+48*i+24)
			}
		case memoryListStream:
			m.lists = append(m.lists, e)
			for i := range int(le.Uint32(raw[at:])) {
				d := raw[at+4+16*i:]
				m.add(le.Uint64(d), uint64(le.Uint32(d[8:])), uint64(le.Uint32(d[12:])))
			}
		case memory64ListStream:
			m.lists = append(m.lists, e)
			off := le.Uint64(raw[at+8:])
			for i := range int(le.Uint64(raw[at:])) {
				d := raw[at+16+16*i:]
				m.add(le.Uint64(d), le.Uint64(d[8:]), off)
				off += le.Uint64(d[8:])
			}
		}
	}
	return m, nil
}

func (m *minidumpContainer) add(addr, size, off uint64) {
	m.stored = append(m.stored, memmap.Range{Addr: target.Addr(addr), Size: size, Offset: int64(off)})
}

func (m *minidumpContainer) ranges() []memmap.Range { return m.stored }

// build keeps the file up to its memory, because it contains offsets in many places. A new list and
// its memory follow.
func (m *minidumpContainer) build(pieces []piece) ([]byte, error) {
	out, err := m.head()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(pieces, func(a, b piece) int { return cmp.Compare(a.addr, b.addr) })
	list := len(out)
	out = le.AppendUint64(out, uint64(len(pieces)))
	out = le.AppendUint64(out, uint64(list+16+16*len(pieces)))
	size := list + 16 + 16*len(pieces)
	for _, p := range pieces {
		out = le.AppendUint64(out, p.addr)
		out = le.AppendUint64(out, uint64(len(p.data)))
	}
	for _, p := range pieces {
		out = append(out, p.data...)
	}
	if len(m.lists) == 0 || uint64(len(out)) > math.MaxUint32 {
		return nil, errors.New("no list of memory to replace, or too much memory")
	}
	for i, e := range m.lists {
		if i > 0 {
			clear(out[e : e+12]) // an unused entry
			continue
		}
		le.PutUint32(out[e:], memory64ListStream)
		le.PutUint32(out[e+4:], uint32(size-list))
		le.PutUint32(out[e+8:], uint32(list))
	}
	for _, d := range m.stacks {
		// The bytes are found through the list, as in createdump's full dumps.
		le.PutUint32(out[d+12:], 0)
	}
	return out, nil
}

// head returns the file without its memory: everything before it, and the MemoryInfoList, which has
// no offsets and can be moved.
func (m *minidumpContainer) head() ([]byte, error) {
	start, end := int64(len(m.raw)), int64(0)
	for _, r := range m.stored {
		start, end = min(start, r.Offset), max(end, r.Offset+int64(r.Size))
	}
	out := slices.Clone(m.raw[:start])
	for e := m.dir; e < m.dir+12*m.streams; e += 12 {
		typ, size, at := le.Uint32(out[e:]), int64(le.Uint32(out[e+4:])), int64(le.Uint32(out[e+8:]))
		switch {
		case typ == 0 || at < start || typ == memoryListStream || typ == memory64ListStream: // unchanged, or replaced
		case typ == memoryInfoListStream && at >= end:
			le.PutUint32(out[e+8:], uint32(len(out)))
			out = append(out, m.raw[at:at+size]...)
		default:
			return nil, fmt.Errorf("stream %d lies among the memory", typ)
		}
	}
	return out, nil
}
