//go:build !linux && !darwin && !freebsd

package outfile

import (
	"io/fs"
	"os"
	"time"
)

func lock(*os.File) {}

func lockDir(string) (release func()) { return func() {} }

// abandoned judges by age. Windows does not remove an open file.
func abandoned(_ string, st fs.FileInfo) bool { return time.Since(st.ModTime()) > 24*time.Hour }

// ownedByUser is always true: the folders of users are private on these systems.
func ownedByUser(fs.FileInfo) bool { return true }

func othersWrite(fs.FileInfo) bool { return false }
