package minidump

import (
	"fmt"

	"github.com/sosgo/sosgo/target"
)

// readsContexts reports whether contexts of the architecture are supported.
func readsContexts(a target.Arch) bool {
	_, err := a.RegisterFile()
	return err == nil
}

// registers reads the thread context at loc. readsContexts must be true for the architecture.
// Registers that the context does not claim stay unknown.
func (f *File) registers(stream string, loc location) (target.Registers, error) {
	regs := target.Registers{Arch: f.platform.Arch}
	processor, err := f.platform.Arch.RegisterFile()
	if err != nil {
		return regs, err
	}
	layout := &processor.Context
	if least := layout.Minimum(); int64(loc.size) < int64(least) {
		return regs, &FormatError{Stream: stream, Off: int64(loc.rva),
			Msg: fmt.Sprintf("thread context of %d bytes, the registers of %s take %d", loc.size, f.platform.Arch, least)}
	}
	b, err := f.read(stream, int64(loc.rva), min(int64(loc.size), int64(layout.Size)))
	if err != nil {
		return regs, err
	}
	if flags, ok := layout.Decode(&regs, b); !ok {
		return regs, &FormatError{Stream: stream, Off: int64(loc.rva),
			Msg: fmt.Sprintf("context flags %#x are not those of %s", flags, f.platform.Arch)}
	}
	return regs, nil
}
