//go:build amd64 || arm64

package sandbox_test

import (
	"os"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// arguments returns calls that the sandbox allows or denies by their arguments. Calls on the file descriptor -1 fail
// in the kernel with a different error, which distinguishes the kernel from the sandbox.
func arguments(pass bool) map[string]func() error {
	call := func(n uintptr, args ...uintptr) func() error {
		args = append(args, make([]uintptr, 6-len(args))...)
		return func() error {
			if _, _, errno := unix.Syscall6(n, args[0], args[1], args[2], args[3], args[4], args[5]); errno != 0 {
				return errno
			}
			return nil
		}
	}
	none := ^uintptr(0)
	pid, thread := uintptr(os.Getpid()), uintptr(unix.Gettid())
	const high = 1 << 32 // the kernel ignores the upper half of int arguments
	page := uintptr(os.Getpagesize())
	if pass {
		var state unix.Termios
		return map[string]func() error{
			"signal itself":       call(unix.SYS_TGKILL, pid, thread, 0),
			"state of a terminal": call(unix.SYS_IOCTL, none, unix.TCGETS, uintptr(unsafe.Pointer(&state))),
			"size of a terminal":  call(unix.SYS_IOCTL, none, unix.TIOCGWINSZ),
			"raw":                 call(unix.SYS_IOCTL, none, unix.TCSETS),
			"flags":               call(unix.SYS_FCNTL, none, unix.F_GETFL),
			"no waiting":          call(unix.SYS_FCNTL, none, unix.F_SETFL, unix.O_NONBLOCK|unix.O_RDWR),
			"large":               call(unix.SYS_FCNTL, none, unix.F_SETFL, 0x8000),
			"memory":              call(unix.SYS_MMAP, 0, page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON, none),
			"protect":             call(unix.SYS_MPROTECT, page, 0, unix.PROT_READ),
		}
	}
	victim, err := strconv.Atoi(os.Getenv(child + "_VICTIM"))
	if err != nil {
		victim = os.Getppid()
	}
	signal := uintptr(0)
	if err == nil {
		signal = uintptr(syscall.SIGKILL)
	}
	x := byte('x')
	return map[string]func() error{
		"signal another":         call(unix.SYS_TGKILL, uintptr(victim), uintptr(victim), signal),
		"signal another, high":   call(unix.SYS_TGKILL, uintptr(victim)|high, uintptr(victim), signal),
		"kill":                   call(unix.SYS_KILL, uintptr(victim), signal),
		"tkill":                  call(unix.SYS_TKILL, uintptr(victim), signal),
		"type into the terminal": call(unix.SYS_IOCTL, none, unix.TIOCSTI, uintptr(unsafe.Pointer(&x))),
		"type, high":             call(unix.SYS_IOCTL, none, unix.TIOCSTI|high, uintptr(unsafe.Pointer(&x))),
		"paste a selection":      call(unix.SYS_IOCTL, none, 0x541C), // TIOCLINUX
		"take the terminal":      call(unix.SYS_IOCTL, none, unix.TIOCSCTTY),
		"signals of a file":      call(unix.SYS_IOCTL, none, 0x5452), // FIOASYNC
		"owner of a file":        call(unix.SYS_FCNTL, none, unix.F_SETOWN, uintptr(victim)),
		"owner, extended":        call(unix.SYS_FCNTL, none, unix.F_SETOWN_EX),
		"signal of a file":       call(unix.SYS_FCNTL, none, unix.F_SETSIG, uintptr(syscall.SIGKILL)),
		"lease":                  call(unix.SYS_FCNTL, none, unix.F_SETLEASE, unix.F_WRLCK),
		"watch a folder":         call(unix.SYS_FCNTL, none, unix.F_NOTIFY),
		"signals by flag":        call(unix.SYS_FCNTL, none, unix.F_SETFL, unix.O_ASYNC),
		"code":                   call(unix.SYS_MMAP, 0, page, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANON, none),
		"writable code":          call(unix.SYS_MMAP, 0, page, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANON, none),
		"become code":            call(unix.SYS_MPROTECT, page, 0, unix.PROT_READ|unix.PROT_EXEC),
		"fork":                   call(unix.SYS_CLONE, uintptr(syscall.SIGCHLD)),
		"a thread elsewhere":     call(unix.SYS_CLONE, unix.CLONE_THREAD|unix.CLONE_SIGHAND|unix.CLONE_VM|unix.CLONE_NEWNET),
		"memory of another":      call(unix.SYS_PROCESS_VM_WRITEV, uintptr(victim)),
		"trace":                  call(unix.SYS_PTRACE, unix.PTRACE_ATTACH, uintptr(victim)),
	}
}
