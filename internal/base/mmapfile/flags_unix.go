//go:build unix

package mmapfile

import "syscall"

// openFlags open a named pipe without waiting for its other end, and no terminal as this process's.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY
