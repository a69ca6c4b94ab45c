package dac_test

import (
	"testing"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/testdump"
)

// BenchmarkOpen opens a runtime anew: what every command does before it answers.
func BenchmarkOpen(b *testing.B) {
	for _, name := range []string{"net10-zoo", "net8-zoo"} {
		b.Run(name, func(b *testing.B) {
			d := testdump.Open(b, name)
			for _, inst := range dac.Find(d.Target(), d.Memory(), nil) {
				if _, err := inst.Open(); err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := inst.Open(); err != nil {
						b.Fatal(err)
					}
				}
				return
			}
			b.Skip("no runtime")
		})
	}
}
