package ondumps_test

import (
	"encoding/binary"
	"testing"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// BenchmarkMethodAt looks up code of every kind repeatedly, as the scan of a stack does.
func BenchmarkMethodAt(b *testing.B) {
	d := testdump.Open(b, "net10-stacks")
	rt, err := d.Runtime()
	if err != nil {
		b.Fatal(err)
	}
	methods := dac.CodeOf(rt)
	var ips []target.Addr
	for info, err := range methods.JITCode() {
		if err == nil {
			ips = append(ips, info.Start+target.Addr(info.Size/2))
		}
	}
	for _, t := range d.Target().Threads() {
		sp, _ := t.Registers.SP()
		at, err := target.Bytes(rt.Memory(), sp&^7, 4096)
		for ; err == nil && len(at) >= 8; at = at[8:] {
			ip := target.Addr(binary.LittleEndian.Uint64(at))
			if _, err := methods.MethodAt(ip); err == nil {
				ips = append(ips, ip)
			}
		}
	}
	if len(ips) == 0 {
		b.Skip("no code in the dump")
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		_, _ = methods.MethodAt(ips[i%len(ips)])
	}
}
