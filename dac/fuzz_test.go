package dac

import (
	"testing"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// FuzzLookupMap reads arbitrary lookup maps {next, table, count, mask}. Their parts must follow each other and
// end.
func FuzzLookupMap(f *testing.F) {
	f.Add(words(heapBase+32, heapBase+64, 2, 1, 0, heapBase+64, 3, 0, 0x5001, 0x6000, 0).b, uint32(4))
	f.Add(words(heapBase, heapBase, 1, 0).b, uint32(1))
	f.Fuzz(func(t *testing.T, b []byte, rows uint32) {
		r := &Runtime{mem: &rangeMemory{base: heapBase, b: b}}
		o := &r.off.LookupMap
		o.Next, o.TableData, o.Count, o.Mask = 0, 8, 16, 24
		m := &Module{r: r, Addr: heapBase}
		next, n := uint32(0), 0
		parts, _ := m.lookupParts(MapTypeDef)
		for _, part := range parts {
			if part.first != next || part.count > limits.LookupMapEntries {
				t.Fatalf("part of %d entries from %d on, after %d", part.count, part.first, next)
			}
			next = part.first + part.count
			m.entries(&part, rows&0xffff, func(e MapEntry, err error) bool {
				if n++; err == nil && e.Row > rows&0xffff {
					t.Fatalf("row %d of %d", e.Row, rows&0xffff)
				}
				return n < 1000
			})
		}
		_, _ = m.Lookup(MapTypeDef, rows)
	})
}

// FuzzTypeHash reads tables of constructed types in both forms.
func FuzzTypeHash(f *testing.F) {
	f.Add(words(heapBase+8, heapBase+24, 3, 2, 0, 0x7001, heapBase+40, 0x7000, 0).b, true)
	f.Add(words(heapBase+8, heapBase+24, 0x100000001, heapBase+24, 0, heapBase+24).b, false)
	f.Fuzz(func(t *testing.T, b []byte, modern bool) {
		r := &Runtime{mem: &rangeMemory{base: heapBase, b: b}}
		o := &r.off.TypeHash
		o.Buckets, o.Count, o.Value, o.Next = 0, 8, 0, 8
		o.WarmBuckets, o.WarmBucketCount = layout.Absent, layout.Absent
		if !modern {
			o.Buckets, o.WarmBuckets, o.WarmBucketCount = layout.Absent, 0, 12
		}
		m := &Module{r: r, Addr: heapBase}
		types := 0
		for th, err := range m.ConstructedTypes() {
			if types++; err == nil && th&1 != 0 {
				t.Fatalf("the handle %#x is odd", uint64(th))
			}
			if types > len(b)+typeSlack+10_000 {
				t.Fatalf("%d types and errors in %d bytes", types, len(b))
			}
			if th == target.Addr(0) && err != nil && types > 1000 {
				break
			}
		}
	})
}
