//go:build !windows

package diagport

import (
	"io/fs"
	"syscall"
)

// ownerOf returns the user that owns a file.
func ownerOf(st fs.FileInfo) (uid uint32, ok bool) {
	s, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return s.Uid, true
}
