//go:build amd64 || arm64

package sandbox

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// enter uses two mechanisms: Landlock restricts paths and ports, and seccomp the system calls. Seccomp alone is
// sufficient and required. Landlock is used if the kernel has it.
func enter() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return unsupported("the kernel does not let a process give up privileges: %v", err)
	}
	landlock()
	filter := program(os.Getpid())
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	const setModeFilter = 1 // SECCOMP_SET_MODE_FILTER
	// TSYNC applies the filter to all threads, including later ones.
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, setModeFilter, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(filter)
	switch {
	case errno != 0:
		return unsupported("the kernel has no seccomp filters: %v", errno)
	case thread != 0:
		return unsupported("thread %d has a filter of its own", thread)
	}
	return nil
}

// Landlock rights, by the ABI version that introduced them.
const (
	landlockFiles1 = 1<<13 - 1
	landlockFiles2 = landlockFiles1 | unix.LANDLOCK_ACCESS_FS_REFER
	landlockFiles3 = landlockFiles2 | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	landlockPorts4 = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
)

// landlock forbids all paths and ports in all threads, as far as the kernel supports it.
func landlock() {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return
	}
	rules := unix.LandlockRulesetAttr{Handled_access_fs: landlockFiles1}
	switch {
	case version >= 4:
		rules.Handled_access_net = landlockPorts4
		fallthrough
	case version >= 3:
		rules.Handled_access_fs = landlockFiles3
	case version >= 2:
		rules.Handled_access_fs = landlockFiles2
	}
	set, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&rules)), unsafe.Sizeof(rules), 0)
	if errno != 0 {
		return
	}
	defer unix.Close(int(set))
	// A rule set without rules allows nothing. Newer kernels restrict all threads at once. On older ones the Go
	// runtime can do it, in programs without cgo.
	_, _, errno = unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, set, unix.LANDLOCK_RESTRICT_SELF_TSYNC, 0)
	if errno == 0 {
		return
	}
	if _, _, errno = syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); errno == 0 {
		_, _, _ = syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, set, 0, 0)
	}
}

// The parts of BPF that the filter uses.
const (
	bpfLoad  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	bpfEqual = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	bpfBits  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	bpfEnd   = unix.BPF_RET | unix.BPF_K

	offsetNumber, offsetArch, offsetArgs = 0, 4, 16 // in struct seccomp_data

	allow = unix.SECCOMP_RET_ALLOW
	deny  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	// absent makes the C library fall back to clone, which has its flags in a register.
	absent = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
)

func stmt(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }

func jump(code uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: code, Jt: yes, Jf: no, K: k}
}

// program returns a filter that allows the calls of the Go runtime, of threads, and on open files. All other calls
// fail with EPERM.
func program(pid int) []unix.SockFilter {
	out := []unix.SockFilter{
		stmt(bpfLoad, offsetArch),
		jump(bpfEqual, auditArch, 1, 0),
		stmt(bpfEnd, deny),
		stmt(bpfLoad, offsetNumber),
	}
	for _, n := range allowed() {
		out = append(out, jump(bpfEqual, uint32(n), 0, 1), stmt(bpfEnd, allow))
	}
	out = append(out, jump(bpfEqual, unix.SYS_CLONE3, 0, 1), stmt(bpfEnd, absent))
	for _, r := range ruled(pid) {
		out = append(out, r.program()...)
	}
	return append(out, stmt(bpfEnd, deny))
}

// A rule constrains an argument of a call. The kernel ignores the upper half of these arguments, so rules check the
// lower half. A later rule may allow a call that this one does not.
type rule struct {
	call    uintptr
	command uint32   // if not 0, the rule applies only if argument 1 has this value
	arg     uint32   // index of the argument
	values  []uint32 // allowed values; nil allows any
	with    uint32   // a required bit; 0 for none
	without uint32   // forbidden bits
}

// program returns the part of the filter for the rule.
func (r rule) program() []unix.SockFilter {
	load := stmt(bpfLoad, offsetArgs+8*r.arg) // the lower half of eight bytes, little endian
	var out []unix.SockFilter
	for _, v := range r.values {
		out = append(out, jump(bpfEqual, v, 0, 1), stmt(bpfEnd, allow))
	}
	if r.values == nil {
		out = append(out, jump(bpfBits, r.without, 1, 0), stmt(bpfEnd, allow))
	}
	if r.with != 0 {
		out = append([]unix.SockFilter{jump(bpfBits, r.with, 0, uint8(len(out)))}, out...)
	}
	out = append([]unix.SockFilter{load}, out...)
	if r.command != 0 {
		out = append([]unix.SockFilter{stmt(bpfLoad, offsetArgs+8), jump(bpfEqual, r.command, 0, uint8(len(out)))}, out...)
	}
	return append([]unix.SockFilter{stmt(bpfLoad, offsetNumber), jump(bpfEqual, uint32(r.call), 0, uint8(len(out)))}, out...)
}

// foreign are the clone flags that threads of this process do not need: other namespaces and tracing.
const foreign = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID |
	unix.CLONE_NEWNET | unix.CLONE_PTRACE | unix.CLONE_PARENT | unix.CLONE_VFORK

// ruled returns the system calls allowed with some arguments. Signals go only to this process. A terminal's state can
// be read and set, but nothing typed into it. Files send no signals, and no memory becomes executable.
func ruled(pid int) []rule {
	return []rule{
		{call: unix.SYS_TGKILL, arg: 0, values: []uint32{uint32(pid)}},
		{call: unix.SYS_IOCTL, arg: 1, values: []uint32{unix.TCGETS, unix.TCSETS, unix.TCSETSW, unix.TCSETSF, unix.TIOCGWINSZ}},
		{call: unix.SYS_FCNTL, arg: 1, values: []uint32{unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_DUPFD_CLOEXEC}},
		{call: unix.SYS_FCNTL, command: unix.F_SETFL, arg: 2, without: unix.O_ASYNC}, // O_ASYNC signals the processes of a terminal
		{call: unix.SYS_MMAP, arg: 2, without: unix.PROT_EXEC},
		{call: unix.SYS_MPROTECT, arg: 2, without: unix.PROT_EXEC},
		{call: unix.SYS_CLONE, arg: 0, with: unix.CLONE_THREAD, without: foreign},
	}
}

// allowed returns the system calls allowed with any arguments.
func allowed() []uintptr {
	return append(allowedHere,
		unix.SYS_READ, unix.SYS_WRITE, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_PREAD64, unix.SYS_PWRITE64, unix.SYS_LSEEK,
		unix.SYS_CLOSE, unix.SYS_FSTAT, unix.SYS_DUP, unix.SYS_PIPE2, unix.SYS_EVENTFD2,
		unix.SYS_MUNMAP, unix.SYS_MADVISE, unix.SYS_MINCORE, unix.SYS_MREMAP, unix.SYS_BRK,
		unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK,
		unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP,
		unix.SYS_CLOCK_GETTIME, unix.SYS_GETTIMEOFDAY, unix.SYS_GETRANDOM, unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_GETUID,
		unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_PPOLL, unix.SYS_PSELECT6,
		unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_MEMBARRIER, unix.SYS_RESTART_SYSCALL, unix.SYS_UNAME,
		unix.SYS_SETITIMER, unix.SYS_TIMER_CREATE, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_DELETE, unix.SYS_GETRLIMIT,
		unix.SYS_EXIT, unix.SYS_EXIT_GROUP)
}
