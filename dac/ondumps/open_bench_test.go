package ondumps_test

import (
	"testing"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// BenchmarkOpen opens a runtime, which every command does first.
func BenchmarkOpen(b *testing.B) {
	for _, name := range []string{"net10-zoo", "net8-zoo"} {
		b.Run(name, func(b *testing.B) {
			d := testdump.Open(b, name)
			found := dac.Find(d.Target(), d.Memory(), nil)
			if len(found) == 0 {
				b.Fatal("no runtime")
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := found[0].Open(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
