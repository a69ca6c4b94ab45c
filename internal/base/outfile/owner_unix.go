//go:build linux || darwin || freebsd

package outfile

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// lock marks a file as being written by this process until it is closed. On a file system without
// locks no file is abandoned.
func lock(f *os.File) { _ = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// lockDir is lock for a folder.
func lockDir(dir string) (release func()) {
	f, err := os.Open(dir)
	if err != nil {
		return func() {}
	}
	lock(f)
	return func() { f.Close() }
}

// abandoned reports whether no process holds the lock of the named file or folder.
func abandoned(path string, st fs.FileInfo) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	opened, err := f.Stat()
	return err == nil && os.SameFile(st, opened) && unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}

// ownedByUser reports whether the file belongs to the current user.
func ownedByUser(st fs.FileInfo) bool {
	s, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

func othersWrite(st fs.FileInfo) bool { return st.Mode().Perm()&0o022 != 0 }
