package minidump

import (
	"fmt"

	"github.com/sosgo/sosgo/target"
)

// requested is the exception code of a dump that a crash reporter wrote on request, while the
// process continues (google_breakpad/common/minidump_exception_linux.h; Crashpad's simulated
// exceptions: client/simulate_crash_mac.cc, util/win/exception_codes.h).
var requested = map[target.OS]uint32{target.OSLinux: 0xffffffff, target.OSDarwin: 0x43507378, target.OSWindows: 0x0517a7ed}

// interpret sets the meaning of an exception record on the system of the process. Breakpad and
// Crashpad use the record for signals of Linux (code si_signo, flags si_code, address si_addr) and
// for exceptions of Mach.
func (f *File) interpret(e *target.Exception) {
	if code, ok := requested[f.platform.OS]; ok && code == e.Code {
		e.Requested, e.Words, e.Address, e.HasAddress = true, "dump requested", 0, false
		return
	}
	switch f.platform.OS {
	case target.OSLinux:
		f.signal(e)
	case target.OSDarwin:
		e.Words = machException(e.Code, e.Flags)
	}
}

// signal converts the record to a signal. Before 2013 Breakpad left si_code 0, which looks like a
// sent signal: then only the number is used, and the address of a fault. si_addr shares its place
// with the sender's pid and uid.
func (f *File) signal(e *target.Exception) {
	at := uint64(e.Address)
	s := target.Signal{Number: int32(e.Code), Known: true, Code: int32(e.Flags), Address: e.Address}
	e.HasAddress = s.Faulted()
	if e.Flags == 0 {
		s.Known, s.Code = false, 0
		fault := target.Signal{Number: s.Number, Known: true, Code: 1}
		e.HasAddress = fault.Faulted()
	}
	e.Words = s.String()
	if !e.HasAddress {
		e.Address, s.Address = 0, 0
	}
	if s.Sent() {
		s.PID, s.UID, s.Known = f.sender(e, at)
	}
	e.Signal = &s
}

// sender returns the sender of a signal, if it is known. Breakpad writes the bytes of pid and uid
// as an address, and only the pid for a 32-bit process. Crashpad writes them as parameters, unless
// the signal has an address.
func (f *File) sender(e *target.Exception, at uint64) (pid, uid uint32, known bool) {
	_, crashpad := f.stream(CrashpadInfoStream)
	switch {
	case crashpad && len(e.Parameters) >= 2:
		return uint32(e.Parameters[0]), uint32(e.Parameters[1]), true
	case f.platform.Arch.PointerSize() == 8 && at != 0:
		return uint32(at), uint32(at >> 32), true
	}
	return 0, 0, false
}

// machExceptions are the names of Mach exceptions (mach/exception_types.h).
var machExceptions = [...]string{1: "EXC_BAD_ACCESS", "EXC_BAD_INSTRUCTION", "EXC_ARITHMETIC", "EXC_EMULATION", "EXC_SOFTWARE", "EXC_BREAKPOINT",
	"EXC_SYSCALL", "EXC_MACH_SYSCALL", "EXC_RPC_ALERT", "EXC_CRASH", "EXC_RESOURCE", "EXC_GUARD", "EXC_CORPSE_NOTIFY"}

// machCodes are the names of an exception's first code that are the same on all processors
// (mach/kern_return.h, mach/exception_types.h).
var machCodes = map[[2]uint32]string{
	{1, 1}: "KERN_INVALID_ADDRESS", {1, 2}: "KERN_PROTECTION_FAILURE", {1, 8}: "KERN_NO_ACCESS", {1, 9}: "KERN_MEMORY_FAILURE",
	{1, 10}: "KERN_MEMORY_ERROR", {1, 13}: "EXC_I386_GPFLT", {1, 50}: "KERN_CODESIGN_ERROR",
	{1, 0x101}: "EXC_ARM_DA_ALIGN", {1, 0x102}: "EXC_ARM_DA_DEBUG",
	{5, 0x10000}: "EXC_UNIX_BAD_SYSCALL", {5, 0x10001}: "EXC_UNIX_BAD_PIPE", {5, 0x10002}: "EXC_UNIX_ABORT", {5, 0x10003}: "EXC_SOFT_SIGNAL",
}

// machException returns the name of a Mach exception and its first code.
func machException(exception, code uint32) string {
	name := fmt.Sprintf("Mach exception %#x", exception)
	if exception > 0 && int64(exception) < int64(len(machExceptions)) {
		name = machExceptions[exception]
	}
	if s, ok := machCodes[[2]uint32{exception, code}]; ok {
		return name + "/" + s
	}
	return fmt.Sprintf("%s/code %#x", name, code)
}
