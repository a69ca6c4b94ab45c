// Package sandbox gives up, for the whole process and for good, the rights that reading an open dump does not need:
// opening and changing files, sockets and programs. It is for untrusted dumps. An attacker who exploits a bug in
// sosgo can then only read what the process has open and write to its output. It does not open the files that are
// needed; the caller does that first. Start with Enter.
package sandbox

import "github.com/sosgo/sosgo/target"

// Enter gives up the rights. Open files stay usable. If the operating system does not support it, the error is
// target.ErrUnsupported and the program can still do everything it needs.
func Enter() error { return enter() }

func unsupported(format string, args ...any) error {
	return target.Unsupportedf("--sandbox: "+format, args...)
}
