package outfile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// partPrefix and partSuffix are around the names of what is not complete.
const partPrefix, partSuffix = ".sosgo-", ".part"

// partName returns a name for what is written for base by this process.
func partName(base string, i int) string {
	return fmt.Sprintf("%s%d-%d.%.100s%s", partPrefix, os.Getpid(), i, base, partSuffix)
}

// unlocked is how long something may exist before its writer has locked it.
const unlocked = time.Minute

// sweep removes what processes that were ended left in a folder. What can't be removed stays: it is no reason not to write.
func sweep(dir string) {
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	names, _ := f.Readdirnames(-1) // as many as there are before an error
	f.Close()
	for _, name := range names {
		if !strings.HasPrefix(name, partPrefix) || !strings.HasSuffix(name, partSuffix) {
			continue
		}
		path := filepath.Join(dir, name)
		if st, err := os.Lstat(path); err == nil && (st.Mode().IsRegular() || st.IsDir()) && time.Since(st.ModTime()) > unlocked && own(st) && abandoned(path, st) {
			_ = os.RemoveAll(path)
		}
	}
}

// PrivateDir returns why a folder is not this user's alone to write, or nil; one that does not exist is.
func PrivateDir(dir string) error {
	st, err := os.Stat(dir)
	switch {
	case os.IsNotExist(err):
		return nil
	case err != nil:
		return err
	case !st.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	case !own(st):
		return fmt.Errorf("%s belongs to another user, who could change what is kept there: %w", dir, fs.ErrPermission)
	case othersWrite(st):
		return fmt.Errorf("others may write in %s (%v), and could change what is kept there: %w", dir, st.Mode(), fs.ErrPermission)
	}
	return nil
}
