//go:build !linux && !darwin

package processes

import (
	"errors"
	"io/fs"
)

// Space is not known on these systems.
func (v *View) Space(string) (free uint64, readOnly bool, err error) {
	return 0, false, errors.ErrUnsupported
}

// MayWrite returns true: the runtime finds out.
func (p *Process) MayWrite(fs.FileInfo) bool { return true }

// Owns returns true: these systems do not record the user as a number.
func (p *Process) Owns(fs.FileInfo) bool { return true }

// MayRun returns true: the runtime finds out.
func (p *Process) MayRun(fs.FileInfo) bool { return true }

// nonblock is no flag of these systems, which have no named pipes in folders.
const nonblock = 0
