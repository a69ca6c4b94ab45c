// Package sandbox gives up, for the whole process and for good, what reading a dump does not need once it is open:
// opening and changing files, sockets, programs. It is for dumps that nobody trusts: what a mistake in sosgo would give
// an attacker is a process that can read what it has open, and write to its output.
package sandbox

import "github.com/sosgo/sosgo/target"

// Enter gives these rights up. Open files stay usable. The error is target.ErrUnsupported where the operating system
// can't do it; nothing has been given up then that the program would miss.
func Enter() error { return enter() }

func unsupported(format string, args ...any) error {
	return target.Unsupportedf("--sandbox: "+format, args...)
}
