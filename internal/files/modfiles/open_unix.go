//go:build unix

package modfiles

import "syscall"

// openFlags avoid blocking on a pipe without a writer.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY | syscall.O_CLOEXEC
