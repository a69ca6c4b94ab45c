package corefile

import (
	"strings"

	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/target"
)

// createdump adds memory to the dump at an address that no process uses, as an entry point for
// debuggers (debug/createdump/specialdiaginfo.h of the runtime). It begins with a signature.
const (
	SignatureSize = 16

	diagSignature   = "DIAGINFOHEADER"
	diagSize        = 40
	diagHasRuntime  = 2 // first version with a runtime base
	diagExceptionAt = 24
)

// Signed returns the n bytes at a if they begin with a signature of createdump, or nil.
func (c *Core) Signed(a target.Addr, signature string, n int) []byte {
	data, err := target.Bytes(c, a, n)
	if err != nil || strings.TrimRight(string(data[:SignatureSize]), "\x00") != signature {
		return nil
	}
	return data
}

// ReadDiagInfo decodes what createdump of .NET 8 and later wrote at a: the EXCEPTION_RECORD of a
// crashed NativeAOT process, and the base of the runtime's module, 0 in versions without it. ok is
// false if nothing is there.
func (c *Core) ReadDiagInfo(a target.Addr) (runtime target.Addr, ok bool) {
	data := c.Signed(a, diagSignature, diagSize)
	if data == nil {
		return 0, false
	}
	r := cursor.New(data, 0)
	r.Skip(SignatureSize)
	version := int32(r.Uint32())
	r.Seek(diagExceptionAt)
	c.Process.ExceptionRecord = target.Addr(r.Uint64())
	if version >= diagHasRuntime {
		runtime = target.Addr(r.Uint64())
	}
	return runtime, true
}

// MadeUp marks the region of size bytes at a as made up by createdump.
func (c *Core) MadeUp(a target.Addr, size uint64) {
	if i := c.regionAt(a); i >= 0 && c.Regions[i].Size == size {
		c.Regions[i].Kind = ""
	}
}
