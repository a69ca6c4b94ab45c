package code_test

import (
	"testing"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/internal/testdump"
	"github.com/sosgo/sosgo/target"
)

// An overlaid memory has other bytes at some addresses.
type overlaid struct {
	target.Memory
	words map[target.Addr]byte
}

func (o *overlaid) ReadMemory(p []byte, a target.Addr) (int, error) {
	n, err := o.Memory.ReadMemory(p, a)
	for i := range p[:n] {
		if b, ok := o.words[a+target.Addr(i)]; ok {
			p[i] = b
		}
	}
	return n, err
}

func (o *overlaid) View(target.Addr, int) ([]byte, bool) { return nil, false }

func (o *overlaid) Span(target.Addr) []byte { return nil }

// FuzzReadyToRun overwrites words of the structures that lead to the code of an
// image: of the ReadyToRunInfo, of its hash table, of the table of functions and
// of the headers of the image. Each word is three bytes of where and eight of
// what.
func FuzzReadyToRun(f *testing.F) {
	o := testdump.Open(f, "net10-zoo").Options()
	mem := &overlaid{}
	o.WrapMemory = func(m target.Memory) target.Memory { mem.Memory = m; return mem }
	d, err := sosgo.Open(testdump.Open(f, "net10-zoo").Path, o)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { d.Close() })
	rt, err := d.Runtime()
	if err != nil {
		f.Fatal(err)
	}
	sections, err := code.Of(rt).RangeSections()
	if err != nil {
		f.Fatal(err)
	}
	var starts, ips []target.Addr
	off, err := rt.Layout().Offset("Module", "ReadyToRunInfo")
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range sections {
		if s.Kind != code.ReadyToRun || len(ips) >= 6 {
			continue
		}
		info, err := target.Pointer(rt.Memory(), s.Image+target.Addr(off))
		if err != nil {
			continue
		}
		starts = append(starts, s.Image, info, s.Range.Start)
		for k := range 16 {
			if at, err := target.Pointer(rt.Memory(), info+target.Addr(8*k)); err == nil && at > 1<<20 {
				starts = append(starts, at)
			}
		}
		ips = append(ips, s.Range.Start+target.Addr(s.Range.Size()/2), s.Range.Start+0x1000)
	}
	f.Add([]byte{1, 0, 3, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		words := map[target.Addr]byte{}
		for ; len(b) >= 11; b = b[11:] {
			at := starts[int(b[0])%len(starts)] + target.Addr(8*(int(b[1])|int(b[2])<<8))
			for i, v := range b[3:11] {
				words[at+target.Addr(i)] = v
			}
		}
		mem.words = nil
		rt, err := d.Runtimes()[0].Open()
		if err != nil {
			t.Fatal(err)
		}
		mem.words = words
		r := code.Of(rt)
		for _, ip := range ips {
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
