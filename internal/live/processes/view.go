package processes

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A View is the file system of a process. Paths of the process ("inside") are absolute. A process in a container has a
// root of its own, and nothing that it puts there, such as a symbolic link, leads out of it.
type View struct {
	// Same reports whether the process has the file system of this process: its paths are then valid here.
	Same bool

	at   string // the root as a path of this process, without a slash at the end
	root *os.Root
}

// hostView returns the view of a process with the file system of this process.
func hostView() *View { return &View{Same: true} }

// openView returns the view of a process with a root at a path of this process.
func openView(at string) (*View, error) {
	root, err := os.OpenRoot(at)
	if err != nil {
		return nil, err
	}
	return &View{at: at, root: root}, nil
}

// Close releases the view. The root of a process that has ended stays usable until then.
func (v *View) Close() error {
	if v.root == nil {
		return nil
	}
	return v.root.Close()
}

// Path returns the path by which this process reaches a path of the process, while it runs.
func (v *View) Path(inside string) string { return v.at + inside }

// relative returns a path inside for os.Root.
func relative(inside string) string {
	if rel := strings.TrimLeft(filepath.ToSlash(filepath.Clean(inside)), "/"); rel != "" {
		return rel
	}
	return "."
}

// Open opens a file or a folder for reading. It does not follow a symbolic link in the last place, and does not wait for
// the writer of a pipe.
func (v *View) Open(inside string) (*os.File, error) {
	before, err := v.Lstat(inside)
	if err != nil {
		return nil, err
	}
	if before.Mode().Type()&^fs.ModeDir != 0 {
		return nil, &fs.PathError{Op: "open", Path: inside, Err: errors.New("it is neither a file nor a folder")}
	}
	var f *os.File
	if v.root == nil {
		f, err = os.OpenFile(inside, os.O_RDONLY|nonblock, 0)
	} else {
		f, err = v.root.OpenFile(relative(inside), os.O_RDONLY|nonblock, 0)
	}
	if err != nil {
		return nil, err
	}
	after, err := f.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = &fs.PathError{Op: "open", Path: inside, Err: errors.New("it was exchanged meanwhile")}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Stat describes a file, following symbolic links.
func (v *View) Stat(inside string) (fs.FileInfo, error) {
	if v.root == nil {
		return os.Stat(inside)
	}
	return v.root.Stat(relative(inside))
}

// Lstat describes a file or a symbolic link.
func (v *View) Lstat(inside string) (fs.FileInfo, error) {
	if v.root == nil {
		return os.Lstat(inside)
	}
	return v.root.Lstat(relative(inside))
}

// Remove removes a file.
func (v *View) Remove(inside string) error {
	if v.root == nil {
		return os.Remove(inside)
	}
	return v.root.Remove(relative(inside))
}

// Link gives a file a second name, which must be free.
func (v *View) Link(old, name string) error {
	if v.root == nil {
		return os.Link(old, name)
	}
	return v.root.Link(relative(old), relative(name))
}

// Rename renames a file. It replaces an existing one.
func (v *View) Rename(old, name string) error {
	if v.root == nil {
		return os.Rename(old, name)
	}
	return v.root.Rename(relative(old), relative(name))
}
