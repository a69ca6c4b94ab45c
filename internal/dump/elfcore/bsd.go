package elfcore

import (
	"math"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// The notes of the BSDs: sys/procfs.h, sys/elf_common.h and sys/user.h of FreeBSD, sys/exec_elf.h
// and machine/reg.h of NetBSD. All structures are for 64-bit processes.
const (
	ownerFreeBSD = "FreeBSD"
	ownerNetBSD  = "NetBSD-CORE" // for a thread NetBSD-CORE@ID
	ownerOpenBSD = "OpenBSD"

	abiSolaris = 6 // ELFOSABI_SOLARIS
	abiOffset  = 7 // EI_OSABI

	freeBSDThreadName = 7  // NT_THRMISC
	freeBSDMappings   = 10 // NT_PROCSTAT_VMMAP
	freeBSDAuxv       = 16 // NT_PROCSTAT_AUXV

	netBSDProcess   = 1
	netBSDRegisters = 33 // PT_GETREGS
)

// findSystem identifies the system by the owners of the notes, which differ between kernels. A core
// without such an owner is from Linux or its createdump.
func (b *builder) findSystem(abi byte) {
	if abi == abiSolaris {
		b.Platform.OS = target.OSSolaris
	}
	for i := range b.notes {
		switch owner := b.notes[i].Owner; {
		case owner == ownerFreeBSD:
			b.Platform.OS = target.OSFreeBSD
			return
		case strings.HasPrefix(owner, ownerNetBSD):
			b.Platform.OS = target.OSNetBSD
			return
		case strings.HasPrefix(owner, ownerOpenBSD):
			b.Platform.OS = target.OSOpenBSD
		}
	}
	if os := b.Platform.OS; os != target.OSLinux {
		b.Warn(target.Unsupportedf("the notes of a core of %v: its threads and its signal are unknown", os))
	}
}

// decodeBSD decodes the supported notes of FreeBSD and NetBSD.
func (b *builder) decodeBSD(n *Note) error {
	if b.Platform.OS == target.OSNetBSD {
		return b.decodeNetBSD(n)
	}
	c := cursor.New(n.Data, n.Offset)
	switch n.Type {
	case NotePRStatus:
		// Skip version, sizes and release; the signal and the thread follow.
		c.Seek(36)
		t := target.Thread{Signal: int(int32(c.Uint32())), ID: c.Uint32()}
		c.Seek(48)
		t.Registers = b.bsdRegisters(c, freeBSDAMD64)
		if c.Offset() < 48 {
			return c.Err()
		}
		b.appendThread(t)
	case NotePRPSInfo:
		c.Seek(16)
		name, args := cstring(c.Take(17)), cstring(c.Take(81))
		if c.Err() != nil {
			return c.Err()
		}
		b.Process.Command = name
		if args = strings.TrimSpace(args); args != "" {
			b.Process.Command = args
		}
		if c.Skip(2); c.Len() >= 4 { // in newer versions
			b.Process.ID = c.Uint32()
		}
	case freeBSDThreadName:
		if k := len(b.Threads); k > 0 {
			b.Threads[k-1].Name = cstring(n.Data[:min(len(n.Data), 20)])
		}
	case freeBSDAuxv:
		if len(n.Data) > 4 { // after the size of an entry
			b.decodeAuxv(&Note{Offset: n.Offset + 4, Data: n.Data[4:]})
		}
	case freeBSDMappings:
		return b.decodeMappings(n)
	}
	return nil
}

// decodeMappings decodes the kinfo_vmentry structures of a process. Each begins with its size.
func (b *builder) decodeMappings(n *Note) error {
	const head, ofFile, pathOffset = 4, 2, 136
	var files []fileMapping
	for at := head; at+pathOffset < len(n.Data) && len(files) < limits.Modules; {
		c := cursor.New(n.Data[at:], n.Offset+int64(at))
		size, kind := int(c.Uint32()), c.Uint32()
		m := fileMapping{Mapping: target.Mapping{Start: target.Addr(c.Uint64()), End: target.Addr(c.Uint64()), Offset: c.Uint64()}}
		if size <= pathOffset || size > len(n.Data)-at {
			return target.Corruptf("mapping of %d bytes", size)
		}
		m.path = cstring(n.Data[at+pathOffset : at+size])
		if kind == ofFile && m.path != "" && m.Start < m.End && m.Offset <= math.MaxInt64 {
			files = append(files, m)
		}
		at += size
	}
	b.setFiles(files)
	return nil
}

// decodeNetBSD decodes a netbsd_elfcore_procinfo, or the registers of a thread.
func (b *builder) decodeNetBSD(n *Note) error {
	c := cursor.New(n.Data, n.Offset)
	_, id, ofThread := strings.Cut(n.Owner, "@")
	switch {
	case !ofThread && n.Type == netBSDProcess:
		c.Seek(8)
		number := int32(c.Uint32())
		c.Seek(80)
		b.Process.ID = c.Uint32()
		c.Seek(124)
		b.Process.Command = cstring(c.Take(32))
		if c.Err() != nil {
			return c.Err()
		}
		b.bsdSignal, b.bsdThread = number, c.Uint32() // the thread is 0 in old versions
	case ofThread && n.Type == netBSDRegisters:
		v, err := strconv.ParseUint(id, 10, 32)
		if err != nil {
			return target.Corruptf("thread %q", id)
		}
		b.appendThread(target.Thread{ID: uint32(v), Registers: b.bsdRegisters(c, netBSDAMD64)})
	}
	return nil
}

func (b *builder) appendThread(t target.Thread) {
	if b.hasRoom() {
		b.Threads = append(b.Threads, t)
	}
}

// A bsdRegister is a member of struct reg: the register and its size in bytes. NoReg is skipped.
type bsdRegister struct {
	reg  target.Reg
	size int
}

var freeBSDAMD64 = []bsdRegister{
	{target.R15, 8}, {target.R14, 8}, {target.R13, 8}, {target.R12, 8}, {target.R11, 8}, {target.R10, 8}, {target.R9, 8}, {target.R8, 8},
	{target.RDI, 8}, {target.RSI, 8}, {target.RBP, 8}, {target.RBX, 8}, {target.RDX, 8}, {target.RCX, 8}, {target.RAX, 8},
	// NoReg: trap, error.
	{target.NoReg, 4}, {target.FS, 2}, {target.GS, 2}, {target.NoReg, 4}, {target.ES, 2}, {target.DS, 2},
	{target.RIP, 8}, {target.CS, 8}, {target.EFLAGS, 8}, {target.RSP, 8}, {target.SS, 8},
}

var netBSDAMD64 = []bsdRegister{
	{target.RDI, 8}, {target.RSI, 8}, {target.RDX, 8}, {target.RCX, 8}, {target.R8, 8}, {target.R9, 8}, {target.R10, 8}, {target.R11, 8},
	{target.R12, 8}, {target.R13, 8}, {target.R14, 8}, {target.R15, 8}, {target.RBP, 8}, {target.RBX, 8}, {target.RAX, 8},
	// NoReg: trap, error.
	{target.GS, 8}, {target.FS, 8}, {target.ES, 8}, {target.DS, 8}, {target.NoReg, 8}, {target.NoReg, 8},
	{target.RIP, 8}, {target.CS, 8}, {target.EFLAGS, 8}, {target.RSP, 8}, {target.SS, 8},
}

// bsdRegisters reads a struct reg. On arm64 it is the same for both systems: X0 to X28, FP, LR, SP,
// PC, and CPSR in four bytes.
func (b *builder) bsdRegisters(c *cursor.Cursor, amd64 []bsdRegister) target.Registers {
	regs := target.Registers{Arch: b.Platform.Arch}
	order := amd64
	if b.Platform.Arch == target.ArchARM64 {
		order = nil
		for r := target.ARM64X0; r <= target.ARM64PC; r++ {
			order = append(order, bsdRegister{r, 8})
		}
		order = append(order, bsdRegister{target.ARM64CPSR, 4})
	}
	for _, r := range order {
		var v uint64
		switch r.size {
		case 2:
			v = uint64(c.Uint16())
		case 4:
			v = uint64(c.Uint32())
		default:
			v = c.Uint64()
		}
		if c.Err() == nil && r.reg != target.NoReg {
			regs.Set(r.reg, v)
		}
	}
	return regs
}

// findBSDException finds the signal that ended the process. On FreeBSD the first thread received
// it.
func (b *builder) findBSDException() {
	number, thread := b.bsdSignal, b.bsdThread
	if b.Platform.OS == target.OSFreeBSD && len(b.Threads) > 0 {
		number, thread = int32(b.Threads[0].Signal), b.Threads[0].ID
	}
	const sigSTOP, sigTTOU = 17, 22
	if number == 0 || number >= sigSTOP && number <= sigTTOU {
		return
	}
	b.Exception = &target.Exception{ThreadID: thread, Code: uint32(number), Words: bsdSignalName(number)}
	for i := range b.Threads {
		if b.Threads[i].ID == thread {
			b.Exception.Registers = b.Threads[i].Registers
		}
	}
	b.Process.Comment = "signal " + b.Exception.Words
}

// bsdSignalName returns the name of a BSD signal (sys/signal.h). Up to SIGTERM the numbers equal
// those of Linux, with three exceptions.
func bsdSignalName(n int32) string {
	switch n {
	case 7:
		return "SIGEMT"
	case 10:
		return "SIGBUS"
	case 12:
		return "SIGSYS"
	case 16:
		return "SIGURG"
	case 30:
		return "SIGUSR1"
	case 31:
		return "SIGUSR2"
	}
	const sigTERM = 15
	if n <= sigTERM {
		return (&target.Signal{Number: n}).Name()
	}
	return "signal " + strconv.Itoa(int(n))
}
