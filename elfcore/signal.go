package elfcore

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/cursor"
	"github.com/sosgo/sosgo/target"
)

// A signalInfo is what is used of an NT_SIGINFO note.
type signalInfo struct {
	number, errno, code int32
	pid, uid            uint32      // of the sender, if a process sent it
	addr                target.Addr // of the fault, if the processor raised it
	thread              int         // index of the thread that the note follows, -1 if none
}

// decodeSignal decodes a siginfo_t (include/uapi/asm-generic/siginfo.h). The
// kernel and createdump write it behind the NT_PRSTATUS of the thread that
// got the signal. The first one counts.
func (b *builder) decodeSignal(n *Note) error {
	if b.signalInfo != nil {
		return nil
	}
	c := cursor.New(n.Data, n.Offset)
	s := &signalInfo{thread: len(b.threads) - 1}
	s.number, s.errno, s.code = int32(c.Uint32()), int32(c.Uint32()), int32(c.Uint32())
	c.Skip(4)
	fields := c.Offset()
	s.addr = target.Addr(c.Uint64())
	c.Seek(fields)
	s.pid, s.uid = c.Uint32(), c.Uint32()
	if c.Err() != nil {
		return c.Err()
	}
	if s.number != 0 {
		b.signalInfo = s
	}
	return nil
}

// findException finds the signal that ended the process and the thread that
// got it:
//
//   - NT_SIGINFO says it, for the thread before it;
//   - in a core of the kernel without one (before Linux 3.10) the first thread
//     is the one that got the signal, which is recorded for every thread;
//   - elsewhere a signal counts if exactly one thread has it. createdump of
//     .NET Core 3.1 gives SIGABRT to all threads of any process, which says
//     nothing.
//
// A signal that stops a process ends none: gdb stops the process for gcore.
func (b *builder) findException() {
	thread, number := -1, int32(0)
	switch {
	case b.signalInfo != nil:
		thread, number = b.signalInfo.thread, b.signalInfo.number
	case b.kernelOrder && len(b.threads) > 0:
		thread, number = 0, int32(b.threads[0].Signal)
	default:
		thread = b.onlySignalled()
		if thread >= 0 {
			number = int32(b.threads[thread].Signal)
		}
	}
	if number == 0 || stops(number) {
		return
	}
	e := &target.Exception{Code: uint32(number), Words: signalName(number)}
	if thread >= 0 {
		e.ThreadID, e.Registers = b.threads[thread].ID, b.threads[thread].Registers
	}
	if s := b.signalInfo; s != nil {
		s.describe(e)
	}
	b.exception = e
	b.process.Comment = "signal " + e.Words
}

func (b *builder) onlySignalled() int {
	found := -1
	for i := range b.threads {
		if b.threads[i].Signal == 0 {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// describe adds to e what the siginfo_t says beyond the number. Parameters
// becomes si_code, si_errno, and si_pid and si_uid if a process sent the
// signal.
func (s *signalInfo) describe(e *target.Exception) {
	if *s == (signalInfo{number: s.number, thread: s.thread}) {
		return // createdump fills in the number only
	}
	e.Words += "/" + codeName(s.number, s.code)
	e.Parameters = []uint64{uint64(s.code), uint64(s.errno)}
	if s.fromProcess() {
		e.Parameters = append(e.Parameters, uint64(s.pid), uint64(s.uid))
	} else if s.isFault() {
		e.Address = s.addr
	}
}

// The numbers of signals are those of Linux on x86-64 and arm64
// (include/uapi/asm-generic/signal.h).
const (
	sigILL  = 4
	sigTRAP = 5
	sigBUS  = 7
	sigFPE  = 8
	sigSEGV = 11
	sigSTOP = 19
	sigTTOU = 22
)

// codeKernel is SI_KERNEL: raised by the kernel for no more specific reason.
const codeKernel = 0x80

// stops reports whether the signal stops a process: SIGSTOP, SIGTSTP, SIGTTIN
// and SIGTTOU.
func stops(number int32) bool { return number >= sigSTOP && number <= sigTTOU }

// isFault reports whether si_addr is the address of a fault. SI_KERNEL comes
// from accesses, such as those to non-canonical addresses, for which the
// processor reports none.
func (s *signalInfo) isFault() bool {
	switch s.number {
	case sigILL, sigTRAP, sigBUS, sigFPE, sigSEGV:
		return s.code > 0 && s.code != codeKernel
	}
	return false
}

// fromProcess reports whether a process sent the signal: kill, sigqueue or
// tgkill.
func (s *signalInfo) fromProcess() bool { return s.code == 0 || s.code == -1 || s.code == -6 }

func signalName(n int32) string {
	names := [...]string{
		1: "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1",
		"SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP",
		"SIGTTIN", "SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS",
	}
	if n > 0 && int(n) < len(names) {
		return names[n]
	}
	return fmt.Sprintf("SIG(%d)", n)
}

// codeName names si_code (include/uapi/asm-generic/siginfo.h).
func codeName(number, code int32) string {
	switch code {
	case 0:
		return "SI_USER"
	case codeKernel:
		return "SI_KERNEL"
	case -1:
		return "SI_QUEUE"
	case -2:
		return "SI_TIMER"
	case -6:
		return "SI_TKILL"
	}
	var names []string
	switch number {
	case sigILL:
		names = []string{"ILL_ILLOPC", "ILL_ILLOPN", "ILL_ILLADR", "ILL_ILLTRP", "ILL_PRVOPC", "ILL_PRVREG", "ILL_COPROC", "ILL_BADSTK"}
	case sigTRAP:
		names = []string{"TRAP_BRKPT", "TRAP_TRACE", "TRAP_BRANCH", "TRAP_HWBKPT"}
	case sigBUS:
		names = []string{"BUS_ADRALN", "BUS_ADRERR", "BUS_OBJERR", "BUS_MCEERR_AR", "BUS_MCEERR_AO"}
	case sigFPE:
		names = []string{"FPE_INTDIV", "FPE_INTOVF", "FPE_FLTDIV", "FPE_FLTOVF", "FPE_FLTUND", "FPE_FLTRES", "FPE_FLTINV", "FPE_FLTSUB"}
	case sigSEGV:
		names = []string{"SEGV_MAPERR", "SEGV_ACCERR", "SEGV_BNDERR", "SEGV_PKUERR"}
	}
	if code > 0 && int(code) <= len(names) {
		return names[code-1]
	}
	return fmt.Sprintf("code %d", code)
}
