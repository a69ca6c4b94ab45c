//go:build linux || darwin

package processes

import (
	"io/fs"
	"syscall"
)

// Space returns the bytes that are free in a folder of the process, and whether its file system is read-only.
func (v *View) Space(inside string) (free uint64, readOnly bool, err error) {
	d, err := v.Open(inside)
	if err != nil {
		return 0, false, err
	}
	defer d.Close()
	var s syscall.Statfs_t
	if err := syscall.Fstatfs(int(d.Fd()), &s); err != nil {
		return 0, false, err
	}
	const isReadOnly = 1 // ST_RDONLY of Linux, MNT_RDONLY of macOS
	return s.Bavail * uint64(s.Bsize), s.Flags&isReadOnly != 0, nil
}

// MayWrite reports whether the permissions of a folder allow the process to create files in it.
func (p *Process) MayWrite(dir fs.FileInfo) bool { return p.may(dir, 0o3) }

// MayRun reports whether the permissions of a file allow the process to run it.
func (p *Process) MayRun(file fs.FileInfo) bool { return p.may(file, 0o1) }

// may reports whether the process has permissions for a file: 1 to run or search it, 2 to write, 4 to read.
func (p *Process) may(file fs.FileInfo, do fs.FileMode) bool {
	st, ok := file.Sys().(*syscall.Stat_t)
	if !ok || p.UID == 0 {
		return true
	}
	shift := 0
	if st.Uid == p.UID {
		shift = 6
	} else if p.inGroup(st.Gid) {
		shift = 3
	}
	return file.Mode().Perm()>>shift&do == do
}

func (p *Process) inGroup(gid uint32) bool {
	for _, g := range p.Groups {
		if g == gid {
			return true
		}
	}
	return false
}

// Owns reports whether a file belongs to the process's user, and has no other name.
func (p *Process) Owns(file fs.FileInfo) bool {
	st, ok := file.Sys().(*syscall.Stat_t)
	return ok && st.Uid == p.UID && st.Nlink == 1
}

// nonblock is the flag to open a named pipe without waiting for its other end.
const nonblock = syscall.O_NONBLOCK
