package minidump

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/target"
)

// TestSystemNumbers covers the processors and systems of winnt.h and minidump_format.h; other
// numbers are unknown.
func TestSystemNumbers(t *testing.T) {
	for v, want := range map[uint16]target.Arch{
		0: target.Arch386, 10: target.Arch386, 1: target.ArchMIPS, 3: target.ArchPPC, 5: target.ArchARM, 6: target.ArchIA64, 9: target.ArchAMD64,
		12: target.ArchARM64, 0x8003: target.ArchARM64, 0x8001: target.ArchSPARC, 0x8002: target.ArchPPC64, 0x8004: target.ArchMIPS64,
		0x8005: target.ArchLoongArch64, 0x8006: target.ArchRISCV64, 0x7777: target.ArchUnknown,
	} {
		assert.Equal(t, want, processorArch(v), "%#x", v)
	}
	for v, want := range map[uint32]target.OS{
		2: target.OSWindows, 0x8101: target.OSDarwin, 0x8201: target.OSLinux, 0x8203: target.OSLinux, 0x8202: target.OSSolaris,
		0x8206: target.OSFuchsia, 0x9999: target.OSUnknown,
	} {
		assert.Equal(t, want, platformOS(v), "%#x", v)
	}
}

// TestTimes: a time of 0, and an impossible duration, are not recorded.
func TestTimes(t *testing.T) {
	assert.True(t, unixTime(0).IsZero())
	assert.Equal(t, time.Date(2106, 2, 7, 6, 28, 15, 0, time.UTC), unixTime(math.MaxUint32))
	assert.Equal(t, time.Second, ticks(10_000_000))
	assert.Zero(t, ticks(math.MaxUint64))
}
