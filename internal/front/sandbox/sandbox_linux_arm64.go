package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// allowedHere lists calls that only this processor has.
var allowedHere []uintptr
