package target

import "fmt"

// A Signal describes a signal of Linux: its number and, if Known, its origin from siginfo_t
// (include/uapi/asm-generic/siginfo.h). The numbers are for x86-64 and arm64.
type Signal struct {
	Number int32
	// Known is set if the other fields were recorded. createdump records only the number of an
	// abort.
	Known   bool
	Code    int32  // si_code
	Errno   int32  // si_errno
	PID     uint32 // si_pid of the sender, if Sent; 0 for a process in another pid namespace
	UID     uint32 // si_uid of the sender, if Sent
	Address Addr   // si_addr, if Faulted
}

// The numbers of the signals with a meaning here (include/uapi/asm-generic/signal.h).
const (
	SIGILL  = 4
	SIGTRAP = 5
	SIGABRT = 6
	SIGBUS  = 7
	SIGFPE  = 8
	SIGSEGV = 11
	SIGSTOP = 19
	SIGTTOU = 22
	SIGSYS  = 31
)

// The values of si_code that are common to all signals.
const (
	SIUser   = 0    // kill
	SIKernel = 0x80 // the kernel, without a more specific reason
	SIQueue  = -1   // sigqueue
	SITimer  = -2   // a timer of the process
	SITkill  = -6   // tgkill: raise, abort, pthread_kill
)

// Sent reports whether a process sent the signal (kill, sigqueue, tgkill). The receiver may then be
// healthy.
func (s *Signal) Sent() bool {
	return s.Known && (s.Code == SIUser || s.Code == SIQueue || s.Code == SITkill)
}

// Faulted reports whether the processor raised the signal. Address is then the accessed memory
// (SIGSEGV, SIGBUS) or the instruction (others). With SI_KERNEL the processor reported no address,
// for example for non-canonical addresses.
func (s *Signal) Faulted() bool {
	switch s.Number {
	case SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV:
		return s.Known && s.Code > 0 && s.Code != SIKernel && !s.isTraced()
	}
	return false
}

// Touched returns the memory that was accessed when the signal was raised, if recorded.
func (s *Signal) Touched() (a Addr, ok bool) {
	return s.Address, s.Faulted() && (s.Number == SIGSEGV || s.Number == SIGBUS)
}

// Stops reports whether the signal stops a process for a debugger or the shell instead of ending
// it.
func (s *Signal) Stops() bool { return s.Number >= SIGSTOP && s.Number <= SIGTTOU || s.isTraced() }

// isTraced reports whether the signal notifies a tracer of an event (ptrace(2)): its code has the
// event above SIGTRAP.
func (s *Signal) isTraced() bool {
	return s.Known && s.Number == SIGTRAP && s.Code > 0xff && s.Code&0x7f == SIGTRAP
}

// Name returns the signal's name, such as "SIGSEGV".
func (s *Signal) Name() string {
	const realTime, last = 34, 64 // glibc's SIGRTMIN, SIGRTMAX
	n := s.Number
	switch {
	case n > 0 && int(n) < len(signalNames):
		return signalNames[n]
	case n == realTime:
		return "SIGRTMIN"
	case n > realTime && n <= last:
		return fmt.Sprintf("SIGRTMIN+%d", n-realTime)
	}
	return fmt.Sprintf("SIG(%d)", n)
}

var signalNames = [...]string{
	1: "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1",
	"SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP",
	"SIGTTIN", "SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS",
}

// signalCodes returns the names of the values of si_code for a signal, from 1 on.
func signalCodes(signal int32) []string {
	switch signal {
	case SIGILL:
		return []string{"ILL_ILLOPC", "ILL_ILLOPN", "ILL_ILLADR", "ILL_ILLTRP", "ILL_PRVOPC", "ILL_PRVREG", "ILL_COPROC", "ILL_BADSTK", "ILL_BADIADDR"}
	case SIGTRAP:
		return []string{"TRAP_BRKPT", "TRAP_TRACE", "TRAP_BRANCH", "TRAP_HWBKPT", "TRAP_UNK", "TRAP_PERF"}
	case SIGBUS:
		return []string{"BUS_ADRALN", "BUS_ADRERR", "BUS_OBJERR", "BUS_MCEERR_AR", "BUS_MCEERR_AO"}
	case SIGFPE:
		return []string{"FPE_INTDIV", "FPE_INTOVF", "FPE_FLTDIV", "FPE_FLTOVF", "FPE_FLTUND", "FPE_FLTRES", "FPE_FLTINV", "FPE_FLTSUB"}
	case SIGSEGV:
		return []string{"SEGV_MAPERR", "SEGV_ACCERR", "SEGV_BNDERR", "SEGV_PKUERR", "SEGV_ACCADI", "SEGV_ADIDERR", "SEGV_ADIPERR", "SEGV_MTEAERR",
			"SEGV_MTESERR", "SEGV_CPERR"}
	case SIGSYS:
		return []string{"SYS_SECCOMP", "SYS_USER_DISPATCH"}
	}
	return nil
}

// CodeName returns the name of si_code, such as "SEGV_MAPERR", or "" if it is unknown.
func (s *Signal) CodeName() string {
	if !s.Known {
		return ""
	}
	switch s.Code {
	case SIUser:
		return "SI_USER"
	case SIKernel:
		return "SI_KERNEL"
	case SIQueue:
		return "SI_QUEUE"
	case SITimer:
		return "SI_TIMER"
	case -3:
		return "SI_MESGQ"
	case -4:
		return "SI_ASYNCIO"
	case -5:
		return "SI_SIGIO"
	case SITkill:
		return "SI_TKILL"
	}
	if names := signalCodes(s.Number); s.Code > 0 && int(s.Code) <= len(names) {
		return names[s.Code-1]
	}
	return fmt.Sprintf("code %d", s.Code)
}

// String returns "SIGSEGV/SEGV_MAPERR", or the name without an unknown code.
func (s *Signal) String() string {
	if code := s.CodeName(); code != "" {
		return s.Name() + "/" + code
	}
	return s.Name()
}
