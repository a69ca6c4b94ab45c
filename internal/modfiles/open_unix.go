//go:build unix

package modfiles

import "syscall"

// openFlags keep a pipe without a writer from being waited for.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY | syscall.O_CLOEXEC
