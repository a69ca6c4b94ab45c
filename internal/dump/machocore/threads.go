package machocore

import (
	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/internal/base/macho"
	"github.com/sosgo/sosgo/target"
)

// A Fault is the state of the processor at a thread's last trap into the kernel. The trap need not
// be the reason for the dump.
type Fault struct {
	Known   bool        // the core has the state of the thread
	Address target.Addr // that was accessed, if the trap was an access
	// Trap and Code are the trap number and the processor's error code on x86-64, and the exception
	// number and the syndrome on ARM64.
	Trap, Code uint32
}

// Faults returns the fault states of the threads, in the order of Threads. createdump writes none.
func (f *File) Faults() []Fault { return append([]Fault(nil), f.faults...) }

// The kinds of thread states (thread_status.h). A state with a header contains another state and
// names its kind.
const (
	amd64General, amd64Float, amd64Fault                   = 4, 5, 6
	amd64GeneralHeader, amd64FloatHeader, amd64FaultHeader = 7, 8, 9
	arm64GeneralHeader, arm64General, arm64Fault           = 1, 6, 7
	arm64Vectors                                           = 17

	// Bytes before the FXSAVE area in x86_float_state64.
	floatReserved = 8
)

// registersAMD64 is the order of x86_thread_state64.
var registersAMD64 = []target.Reg{target.RAX, target.RBX, target.RCX, target.RDX, target.RDI, target.RSI, target.RBP, target.RSP, target.R8, target.R9,
	target.R10, target.R11, target.R12, target.R13, target.R14, target.R15, target.RIP, target.EFLAGS, target.CS, target.FS, target.GS}

// addThread decodes an LC_THREAD: states of one thread, each with its kind and its size in words of
// four bytes.
func (b *builder) addThread(cmd *macho.Command) {
	t := target.Thread{Registers: target.Registers{Arch: b.Platform.Arch}}
	var fault Fault
	c := cursor.New(cmd.Data, cmd.Off)
	c.Skip(macho.CommandSize)
	for c.Len() > 0 && c.Err() == nil {
		kind, words := c.Uint32(), c.Uint32()
		at := c.Offset()
		if c.Err() == nil && uint64(words)*4 > uint64(c.Len()) {
			b.Warn(&FormatError{Format: format, Off: cmd.Off + int64(at), Msg: "the state of a thread is cut", Err: target.Corruptf("%d words in %d bytes", words, c.Len())})
			words = uint32(c.Len() / 4)
			addState(&t.Registers, &fault, kind, c.Take(int(words)*4))
			break
		}
		addState(&t.Registers, &fault, kind, c.Take(int(words)*4))
	}
	if err := c.Err(); err != nil {
		b.Warn(&FormatError{Format: format, Off: cmd.Off, Msg: "the states of a thread end early", Err: err})
	}
	b.Threads, b.faults = append(b.Threads, t), append(b.faults, fault)
}

// addState decodes one state of a thread, up to the end of the data.
func addState(r *target.Registers, fault *Fault, kind uint32, data []byte) {
	if r.Arch == target.ArchARM64 {
		addStateARM64(r, fault, kind, data)
		return
	}
	switch kind {
	case amd64GeneralHeader, amd64FloatHeader, amd64FaultHeader:
		inner, rest, ok := inHeader(data)
		if !ok || inner < amd64General || inner > amd64Fault {
			return
		}
		kind, data = inner, rest
	}
	c := cursor.New(data, 0)
	switch kind {
	case amd64General:
		for _, reg := range registersAMD64 {
			if v := c.Uint64(); c.Err() == nil {
				r.Set(reg, v)
			}
		}
	case amd64Float:
		r.Float = vectors(r.Arch, data, floatReserved)
	case amd64Fault:
		trap := c.Uint16()
		c.Skip(2) // the number of the processor
		code, address := c.Uint32(), c.Uint64()
		if c.Err() == nil {
			*fault = Fault{Known: true, Address: target.Addr(address), Trap: uint32(trap), Code: code}
		}
	}
}

func addStateARM64(r *target.Registers, fault *Fault, kind uint32, data []byte) {
	if kind == arm64GeneralHeader {
		inner, rest, ok := inHeader(data)
		if !ok || inner != arm64General {
			return
		}
		kind, data = inner, rest
	}
	c := cursor.New(data, 0)
	switch kind {
	case arm64General:
		for reg := target.ARM64X0; reg <= target.ARM64PC; reg++ {
			if v := c.Uint64(); c.Err() == nil {
				r.Set(reg, v)
			}
		}
		if v := c.Uint32(); c.Err() == nil {
			r.Set(target.ARM64CPSR, uint64(v))
		}
	case arm64Vectors:
		r.Float = vectors(r.Arch, data, 0)
	case arm64Fault:
		address, code, trap := c.Uint64(), c.Uint32(), c.Uint32()
		if c.Err() == nil {
			*fault = Fault{Known: true, Address: target.Addr(address), Trap: trap, Code: code}
		}
	}
}

// inHeader decodes a state that begins with the kind and the size of the state in it.
func inHeader(data []byte) (kind uint32, rest []byte, ok bool) {
	c := cursor.New(data, 0)
	kind = c.Uint32()
	c.Skip(4)
	rest = c.Take(c.Len())
	return kind, rest, c.Err() == nil
}

// vectors returns the vector registers in data from an offset on, or nil if data is too short.
func vectors(a target.Arch, data []byte, off int) []byte {
	p, err := a.RegisterFile()
	if err != nil || len(data) < off+p.Vectors.Size {
		return nil
	}
	return data[off:][:p.Vectors.Size:p.Vectors.Size]
}
