//go:build amd64 || arm64

package sandbox

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// enter has two locks: Landlock knows paths and ports, seccomp the calls themselves. Seccomp is enough, and is
// demanded; Landlock is used where the kernel has it.
func enter() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return unsupported("the kernel does not let a process give up privileges: %v", err)
	}
	landlock()
	filter := program()
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	const setModeFilter = 1 // SECCOMP_SET_MODE_FILTER
	// TSYNC: all threads, and those that they start.
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

// Rights of Landlock, by the version of its interface that brought them.
const (
	landlockFiles1 = 1<<13 - 1
	landlockFiles2 = landlockFiles1 | unix.LANDLOCK_ACCESS_FS_REFER
	landlockFiles3 = landlockFiles2 | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	landlockPorts4 = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
)

// landlock forbids all paths and ports that Landlock knows of, in all threads, as far as the kernel can.
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
	// A rule set without rules allows nothing. Newer kernels restrict all threads at
	// once; before that the runtime can do it, in programs without C.
	_, _, errno = unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, set, unix.LANDLOCK_RESTRICT_SELF_TSYNC, 0)
	if errno == 0 {
		return
	}
	if _, _, errno = syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); errno == 0 {
		_, _, _ = syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, set, 0, 0)
	}
}

// The parts of BPF that the filter needs.
const (
	bpfLoad  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	bpfEqual = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	bpfBits  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	bpfEnd   = unix.BPF_RET | unix.BPF_K

	offsetNumber, offsetArch, offsetArg0 = 0, 4, 16 // in struct seccomp_data

	allow = unix.SECCOMP_RET_ALLOW
	deny  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	// absent makes the C library use clone, whose flags can be seen.
	absent = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
)

// program lets the calls pass that Go's runtime makes and that use what is open, and
// threads start. All else fails with EPERM, as it does where rights are missing.
func program() []unix.SockFilter {
	stmt := func(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }
	jump := func(code uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: code, Jt: yes, Jf: no, K: k}
	}
	out := []unix.SockFilter{
		stmt(bpfLoad, offsetArch),
		jump(bpfEqual, auditArch, 1, 0),
		stmt(bpfEnd, deny),
		stmt(bpfLoad, offsetNumber),
	}
	for _, n := range allowed() {
		out = append(out, jump(bpfEqual, uint32(n), 0, 1), stmt(bpfEnd, allow))
	}
	return append(out,
		jump(bpfEqual, unix.SYS_CLONE3, 0, 1), stmt(bpfEnd, absent),
		jump(bpfEqual, unix.SYS_CLONE, 0, 3),
		stmt(bpfLoad, offsetArg0),
		jump(bpfBits, unix.CLONE_THREAD, 0, 1), stmt(bpfEnd, allow),
		stmt(bpfEnd, deny))
}

// allowed returns the system calls that pass.
func allowed() []uintptr {
	return append(allowedHere,
		unix.SYS_READ, unix.SYS_WRITE, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_PREAD64, unix.SYS_PWRITE64, unix.SYS_LSEEK,
		unix.SYS_CLOSE, unix.SYS_FSTAT, unix.SYS_FCNTL, unix.SYS_IOCTL, unix.SYS_DUP, unix.SYS_PIPE2, unix.SYS_EVENTFD2,
		unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_MADVISE, unix.SYS_MINCORE, unix.SYS_MREMAP, unix.SYS_BRK,
		unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_TGKILL,
		unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP,
		unix.SYS_CLOCK_GETTIME, unix.SYS_GETTIMEOFDAY, unix.SYS_GETRANDOM, unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_GETUID,
		unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_PPOLL, unix.SYS_PSELECT6,
		unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_MEMBARRIER, unix.SYS_RESTART_SYSCALL, unix.SYS_UNAME,
		unix.SYS_SETITIMER, unix.SYS_TIMER_CREATE, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_DELETE, unix.SYS_GETRLIMIT,
		unix.SYS_EXIT, unix.SYS_EXIT_GROUP)
}
