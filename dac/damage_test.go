package dac

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// FuzzReadyToRun overwrites words of the structures that lead to the code of an image: the ReadyToRunInfo, its
// hash table, the table of functions and the headers of the image. Each word is three bytes of position and
// eight of value. The runtime is opened once; each input has a new Reader and looks up code in the damaged
// images.
func FuzzReadyToRun(f *testing.F) {
	var mem testcase.Overlay
	mem.Set()
	rt := openCanned(f, "net10-zoo", func(m target.Memory) target.Memory { mem.Memory = m; return &mem }, nil)
	c, err := CodeOf(rt).members()
	if err != nil {
		f.Fatal(err)
	}
	sections, err := CodeOf(rt).RangeSections()
	if err != nil {
		f.Fatal(err)
	}
	type start struct {
		at  target.Addr
		ips [2]target.Addr
	}
	var starts []start
	images := 0
	off, err := rt.Layout().Offset("Module", "ReadyToRunInfo")
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range sections {
		if s.Kind != CodeReadyToRun || images == 3 {
			continue
		}
		info, err := target.Pointer(rt.Memory(), s.Image+target.Addr(off))
		if err != nil {
			continue
		}
		images++
		ips := [2]target.Addr{s.Range.Start + target.Addr(s.Range.Size()/2), s.Range.Start + 0x1000}
		starts = append(starts, start{s.Image, ips}, start{info, ips}, start{s.Range.Start, ips})
		for k := range 16 {
			if at, err := target.Pointer(rt.Memory(), info+target.Addr(8*k)); err == nil && at > 1<<20 {
				starts = append(starts, start{at, ips})
			}
		}
	}
	f.Add([]byte{1, 0, 3, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		mem.Set()
		r := &CodeReader{rt: rt, mem: rt.Memory()} // shares the bound layout
		if _, err := r.bound.Get(func() (*members, error) { return c, nil }); err != nil {
			t.Fatal(err)
		}
		var damage []testcase.Damage
		ips := map[target.Addr]bool{}
		for ; len(b) >= 11; b = b[11:] {
			s := starts[int(b[0])%len(starts)]
			damage = append(damage, testcase.Damage{At: s.at + target.Addr(8*(int(b[1])|int(b[2])<<8)), Bytes: b[3:11]})
			ips[s.ips[0]], ips[s.ips[1]] = true, true
		}
		mem.Set(damage...)
		for _, ip := range slices.Sorted(maps.Keys(ips)) {
			info, err := r.MethodAt(ip)
			if err != nil {
				continue
			}
			_, _ = r.Functions(info)
			_, _ = r.GCInfo(info)
			_, _ = r.EHClauses(info)
			_, _ = r.Variables(info)
		}
	})
}

// FuzzInstances decodes tables of instances in ReadyToRun images.
func FuzzInstances(f *testing.F) {
	seed := []byte{0x00, 2, 9, 0x55, 0x02, 0, 0, 0x04, 7, 1, 0x3E, 0x10}
	f.Add(seed)
	f.Add(slices.Concat(seed[:8], bytes.Repeat([]byte{0x1D}, 100), seed[8:])) // arrays of arrays, deeper than types nest
	f.Fuzz(func(t *testing.T, b []byte) {
		p := &Precompiled{entries: map[uint32]metadata.InstanceSig{}}
		if err := p.addInstances(b); err != nil && !errors.Is(err, target.ErrLimit) {
			require.ErrorIs(t, err, target.ErrCorrupt)
		}
		require.LessOrEqual(t, len(p.entries), len(b))
	})
}
