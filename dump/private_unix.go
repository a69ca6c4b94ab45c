//go:build unix

package dump

import (
	"io/fs"
	"os"
	"syscall"
)

// private reports whether a file belongs to this user and no one else may write it.
func private(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid() && info.Mode().Perm()&0o022 == 0
}
