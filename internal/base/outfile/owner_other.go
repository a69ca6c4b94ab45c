//go:build !linux && !darwin && !freebsd

package outfile

import (
	"io/fs"
	"os"
	"time"
)

func lock(*os.File) {}

func lockDir(string) (release func()) { return func() {} }

// abandoned goes by age. Windows removes no file that is open.
func abandoned(_ string, st fs.FileInfo) bool { return time.Since(st.ModTime()) > 24*time.Hour }

// own is not known here: the folders of users are theirs.
func own(fs.FileInfo) bool { return true }

func othersWrite(fs.FileInfo) bool { return false }
