package minidump_test

import (
	"errors"
	"testing"

	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/minidump"
	"github.com/sosgo/sosgo/target"
)

// isKnown reports whether err wraps one of the sentinel errors.
func isKnown(err error) bool {
	return errors.Is(err, target.ErrCorrupt) || errors.Is(err, target.ErrUnsupported) || errors.Is(err, target.ErrNotInDump)
}

func FuzzOpen(f *testing.F) {
	f.Add(sample())
	f.Add(everything().Bytes())
	reporter := breakpad()
	reporter.Crashpad([]synth.MinidumpNote{{Key: "k", Value: "v"}}, 1, []string{"line"}, []synth.MinidumpNote{{Key: "k", Value: "v"}},
		[]synth.MinidumpNote{{Key: "object", Value: "text"}})
	f.Add(reporter.Bytes())
	for _, arch := range []uint16{synth.MinidumpX86, synth.MinidumpARM64} {
		m := synth.NewMinidump()
		m.SystemInfo(arch)
		m.Threads(synth.MinidumpThread{ID: 1, TEB: tebAddr, Context: synth.ARM64Context(0x400003, 0, [33]uint64{})})
		m.Modules(synth.MinidumpModule{Base: heapAddr, Size: 0x1000, Path: "x"})
		m.Memory(memory()...)
		m.Memory64(memory()[2:]...)
		f.Add(m.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := minidump.Open(target.BytesSource(b))
		if err != nil {
			if !isKnown(err) {
				t.Fatalf("%v is none of the sentinels", err)
			}
			return
		}
		if first, second := touch(d), touch(d); first != second {
			t.Fatal("two walks differ")
		}
		for _, w := range d.Warnings() {
			if !isKnown(w) {
				t.Fatalf("warning %v is none of the sentinels", w)
			}
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	dump := sample()
	b.ReportAllocs()
	for b.Loop() {
		touch(open(b, dump))
	}
}

// BenchmarkOpenCorpus opens a Windows dump of the corpus.
func BenchmarkOpenCorpus(b *testing.B) {
	src := readFile(b, testcase.Open(b, "win-net10-zoo-withheap").Path)
	for b.Loop() {
		open(b, src).Warnings()
	}
}

// BenchmarkOpenManyRanges opens a dump with the ranges of a 10 GB process.
func BenchmarkOpenManyRanges(b *testing.B) {
	ranges := make([]synth.MinidumpRange, 100_000)
	for i := range ranges {
		ranges[i] = synth.MinidumpRange{Addr: heapAddr + uint64(i)*0x2000, Data: page()[:16]}
	}
	m := synth.NewMinidump()
	process(m)
	m.Memory64(ranges...)
	dump := m.Bytes()
	b.ReportAllocs()
	for b.Loop() {
		open(b, dump)
	}
}

func BenchmarkReadPointer(b *testing.B) {
	f := open(b, sample())
	b.ReportAllocs()
	for b.Loop() {
		if v, err := target.Pointer(f, heapAddr); err != nil || v != 0x1122334455667788 {
			b.Fatal(v, err)
		}
	}
}
