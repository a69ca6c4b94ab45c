package outfile

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// DirOptions selects how a folder is written.
type DirOptions struct {
	Perm  func() fs.FileMode // returns the maximum permissions in terms of files, as in Options; nil for those that the umask allows
	Stage string             // an existing folder of the same file system for the temporary folder; empty for the parent
}

// WriteDir writes a whole folder, which must not exist or be empty. write fills a temporary folder, which WriteDir then moves to its place. If write fails or
// panics, nothing is left, and the place stays unchanged. Missing parent folders are created.
func WriteDir(name string, o DirOptions, write func(dir string) error) error {
	name = filepath.Clean(name)
	if err := free(name); err != nil {
		return err
	}
	parent, base := filepath.Split(name)
	parent = cmp.Or(parent, ".")
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return Failed(err)
	}
	dir, err := mkdirPart(cmp.Or(o.Stage, parent), base, 0o777)
	if err != nil {
		return Failed(err)
	}
	defer lockDir(dir)()
	st, err := os.Stat(dir) // the permissions that the umask allows
	if err == nil {
		err = asPermitted(os.Chmod(dir, 0o700))
	}
	err = Failed(err)
	if err == nil {
		returned := false
		defer func() {
			if !returned {
				_ = os.RemoveAll(dir) // the panic goes on
			}
		}()
		err = write(dir)
		returned = true
	}
	if err == nil {
		mode := st.Mode().Perm()
		if o.Perm != nil {
			most := o.Perm()
			mode &= most | most&0o444>>2 // users that may read a file may search the folder
		}
		err = Failed(asPermitted(os.Chmod(dir, mode|0o700)))
	}
	if err == nil {
		err = free(name)
	}
	if err == nil {
		_ = os.Remove(name) // an empty folder, which not every system replaces
		err = Failed(os.Rename(dir, name))
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	return nil
}

// free returns an error unless the folder can be created.
func free(name string) error {
	list, err := os.ReadDir(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case len(list) > 0 || isFile(name):
		return &fs.PathError{Op: "write", Path: name, Err: fs.ErrExist}
	}
	return Failed(err)
}

func isFile(name string) bool {
	st, err := os.Stat(name)
	return err == nil && !st.IsDir()
}

// TempDir creates a folder for temporary files in parent, for this user alone, and returns a function that removes it. The
// next process that writes to parent removes the folder of a killed one.
func TempDir(parent string) (dir string, remove func() error, err error) {
	if dir, err = mkdirPart(cmp.Or(parent, "."), "work", 0o700); err != nil {
		return "", nil, Failed(err)
	}
	release := lockDir(dir)
	return dir, func() error {
		release()
		return os.RemoveAll(dir)
	}, nil
}

// mkdirPart creates a temporary folder.
func mkdirPart(parent, base string, perm fs.FileMode) (string, error) {
	const tries = 100
	Sweep(parent)
	for i := range tries {
		dir := filepath.Join(parent, partName(base, i))
		if err := os.Mkdir(dir, perm); !errors.Is(err, fs.ErrExist) {
			return dir, err
		}
	}
	return "", &fs.PathError{Op: "write beside", Path: filepath.Join(parent, base), Err: fs.ErrExist}
}
