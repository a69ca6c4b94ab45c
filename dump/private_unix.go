//go:build unix

package dump

import (
	"io/fs"
	"os"
	"syscall"
)

// isPrivate reports whether a file belongs to this user and no other user can write to it.
func isPrivate(info fs.FileInfo) bool { return isOwn(info) && info.Mode().Perm()&0o022 == 0 }

// isOwn reports whether a file or link belongs to this user.
func isOwn(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid()
}
