package elfcore

import (
	"strings"

	"github.com/sosgo/sosgo/internal/cursor"
	"github.com/sosgo/sosgo/target"
)

// createdump adds a page to the dump at an address that no process uses, which shows a debugger where to begin (the
// runtime's debug/createdump/specialdiaginfo.h).
const (
	diagAddr        = 0x7ffffff10000
	diagSignature   = "DIAGINFOHEADER"
	diagPage        = 0x1000
	diagSize        = 40
	diagHasRuntime  = 2  // first version with a runtime base
	diagVersionAt   = 16 // after the signature
	diagExceptionAt = 24
)

// A DiagInfo is the description of the process that createdump of .NET 8 and later writes.
type DiagInfo struct {
	Version int32
	// ExceptionRecord is where a NativeAOT process keeps the EXCEPTION_RECORD of its crash, 0 if there is none.
	ExceptionRecord target.Addr
	// RuntimeBase is the base of the module that holds the runtime, 0 if the version does not record it.
	RuntimeBase target.Addr
}

// DiagInfo returns what createdump recorded, and whether it did.
func (f *File) DiagInfo() (DiagInfo, bool) {
	if f.diag == nil {
		return DiagInfo{}, false
	}
	return *f.diag, true
}

func (b *builder) readDiagInfo() {
	data, err := target.Bytes(b, diagAddr, diagSize)
	if err != nil || strings.TrimRight(string(data[:diagVersionAt]), "\x00") != diagSignature {
		return
	}
	c := cursor.New(data, 0)
	c.Seek(diagVersionAt)
	d := DiagInfo{Version: int32(c.Uint32())}
	c.Seek(diagExceptionAt)
	d.ExceptionRecord = target.Addr(c.Uint64())
	if d.Version >= diagHasRuntime {
		d.RuntimeBase = target.Addr(c.Uint64())
	}
	b.diag, b.process.ExceptionRecord = &d, d.ExceptionRecord
	// The page is not the process's.
	if i := b.regionAt(diagAddr); i >= 0 && b.regions[i].Size == diagPage {
		b.regions[i].Kind = ""
	}
}
