package outfile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sosgo/sosgo/internal/base/machine"
)

// partPrefix and partSuffix surround the names of temporary files.
const partPrefix, partSuffix = ".sosgo-", ".part"

// partName returns the i-th temporary name of this process for base.
func partName(base string, i int) string {
	return fmt.Sprintf("%s%d-%d.%.100s%s", partPrefix, os.Getpid(), i, base, partSuffix)
}

// unlocked is the time that a writer has to lock its new file.
const unlocked = time.Minute

// Sweep removes the temporary files and folders of killed processes from a folder. Who writes to the folder does so first. Errors are
// ignored, because they don't prevent writing.
func Sweep(dir string) {
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	names, _ := f.Readdirnames(-1) // the names before an error, if any
	f.Close()
	for _, name := range names {
		if !strings.HasPrefix(name, partPrefix) || !strings.HasSuffix(name, partSuffix) {
			continue
		}
		path := filepath.Join(dir, name)
		if st, err := os.Lstat(path); err == nil && (st.Mode().IsRegular() || st.IsDir()) && time.Since(st.ModTime()) > unlocked && ownedByUser(st) && abandoned(path, st) {
			_ = os.RemoveAll(path)
		}
	}
}

// PrivateDir returns an error if users other than the current one can write to the folder, and nil
// if it does not exist.
func PrivateDir(dir string) error {
	st, err := os.Stat(dir)
	switch {
	case os.IsNotExist(err):
		return nil
	case err != nil:
		return err
	}
	return isPrivate(dir, st)
}

// PrivateRoot is PrivateDir for an open folder. What the folder's path leads to later does not matter.
func PrivateRoot(root *os.Root) error {
	st, err := root.Stat(".")
	if err != nil {
		return err
	}
	return isPrivate(root.Name(), st)
}

func isPrivate(dir string, st fs.FileInfo) error {
	var why error
	switch {
	case !st.IsDir():
		why = fmt.Errorf("%s is not a folder", dir)
	case !ownedByUser(st):
		why = fmt.Errorf("%s belongs to another user, who could change what is kept there: %w", dir, fs.ErrPermission)
	case othersWrite(st):
		why = fmt.Errorf("others may write in %s (%v), and could change what is kept there: %w", dir, st.Mode(), fs.ErrPermission)
	default:
		return nil
	}
	return &machine.Error{Err: why, Next: "name a folder that belongs to you, and in which only you may write"}
}
