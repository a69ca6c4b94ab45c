// Package outfile writes files and folders that appear whole or not at all. It writes a temporary
// file next to the place, readable by the user alone, and moves it there at the end. All files that
// sosgo writes for its user are written by this package.
//
// A process that is killed leaves its temporary file; the next one that writes to the same folder
// removes it.
package outfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A Guard returns an error if an existing file must not be replaced, such as "it is the dump".
// Commit calls it again, because the answer may have changed by then.
type Guard func(path string, existing fs.FileInfo) error

// Options controls what happens to an existing file. By default it is replaced.
type Options struct {
	Append bool  // append to it
	New    bool  // fail with fs.ErrExist if the file exists
	Guard  Guard // must allow the replacement; may be nil
	// Perm returns the maximum permissions of the file; see PermOf. It is called when the file is
	// complete. If it is nil, the umask alone decides. A file that is appended to keeps its
	// permissions.
	Perm func() fs.FileMode
	// Checked promises that readers verify the content. Commit then does not wait for the disk, and
	// after a power failure part of the file may be missing.
	Checked bool
}

// A File is a file being written. It does not appear at its place before Commit. It is for one goroutine.
type File struct {
	*os.File // the temporary file, or the place itself if it is a device or pipe

	name  string // as the user gave it
	place string // name without symbolic links
	o     Options
	there fs.FileInfo // the existing file at the place, or nil
	mode  fs.FileMode // the permissions of a new file, or of the replaced one
}

// An Error reports that a file or folder can't be written: the disk is full, the place is missing or read-only. What the
// writer of the content failed with is no Error, and neither is an existing file (fs.ErrExist) or a refusal of the Guard.
type Error struct{ Err error }

func (e *Error) Error() string { return e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// Failed returns err, which may be nil, as an Error unless it says that the file exists.
func Failed(err error) error {
	if err == nil || errors.Is(err, fs.ErrExist) || errors.As(err, new(*Error)) {
		return err
	}
	return &Error{err}
}

// Write implements io.Writer. It fails with an Error.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, Failed(err)
}

// WriteAt implements io.WriterAt. It fails with an Error.
func (f *File) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(p, off)
	return n, Failed(err)
}

// WriteString implements io.StringWriter. It fails with an Error.
func (f *File) WriteString(s string) (int, error) {
	n, err := f.File.WriteString(s)
	return n, Failed(err)
}

// ReadFrom implements io.ReaderFrom. It fails with an Error, or with r's error.
func (f *File) ReadFrom(r io.Reader) (int64, error) { return io.Copy(struct{ io.Writer }{f}, r) }

// Truncate changes the size. It fails with an Error.
func (f *File) Truncate(size int64) error { return Failed(f.File.Truncate(size)) }

// PermOf returns the permissions that all named files have in common, plus read and write for the
// owner: a file made from them should have no more. If one can't be examined, such as standard
// input, only the owner gets permissions.
func PermOf(names ...string) fs.FileMode {
	perm := fs.FileMode(0o666)
	for _, name := range names {
		st, err := os.Stat(name)
		if err != nil {
			return 0o600
		}
		perm &= st.Mode().Perm() | 0o600
	}
	return perm
}

// Private is the Perm of a file for its owner alone.
func Private() fs.FileMode { return 0o600 }

// Create starts a file. Anything other than a regular file, such as a pipe or /dev/null, is written
// directly.
func Create(name string, o Options) (*File, error) {
	f := &File{name: name, place: name, o: o}
	if resolved, err := filepath.EvalSymlinks(name); err == nil {
		f.place = resolved
	} else if _, err := os.Lstat(name); err == nil {
		return nil, &Error{fmt.Errorf("%s: it is a symbolic link to nothing: %w", name, fs.ErrInvalid)}
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	var err error
	switch {
	case f.there != nil && f.there.IsDir():
		return nil, &Error{&fs.PathError{Op: "write", Path: name, Err: errors.New("is a directory")}}
	case f.isStream():
		f.File, err = os.OpenFile(f.place, os.O_WRONLY, 0)
	default:
		f.File, err = f.createPart()
	}
	if err != nil {
		return nil, Failed(err)
	}
	return f, nil
}

// Write writes a whole file; see Create. If write fails or panics, nothing appears and nothing stays.
func Write(name string, o Options, write func(io.Writer) error) error {
	return Fill(name, o, func(f *File) error { return write(f) })
}

// Fill is Write for a function that needs the File itself.
func Fill(name string, o Options, write func(*File) error) error {
	f, err := Create(name, o)
	if err != nil {
		return err
	}
	returned := false
	defer func() {
		if !returned {
			_ = f.Discard() // the panic goes on
		}
	}()
	err = write(f)
	returned = true
	if err != nil {
		return errors.Join(err, f.Discard())
	}
	return f.Commit()
}

// check examines the existing file at the place.
func (f *File) check() error {
	st, err := os.Stat(f.place)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.there = nil
		return nil
	case err != nil:
		return Failed(err)
	}
	f.there = st
	if f.o.New && !f.isStream() {
		return &fs.PathError{Op: "write", Path: f.name, Err: fs.ErrExist}
	}
	if f.o.Guard != nil {
		return f.o.Guard(f.name, st)
	}
	return nil
}

// isStream reports whether the place is a device, a pipe or a socket.
func (f *File) isStream() bool {
	return f.there != nil && !f.there.Mode().IsRegular() && !f.there.IsDir()
}

// createPart creates the temporary file. Only its owner can read it before it is complete.
func (f *File) createPart() (*os.File, error) {
	const tries = 100
	dir, base := filepath.Split(f.place)
	Sweep(cmp.Or(dir, "."))
	for i := range tries {
		tmp, err := os.OpenFile(filepath.Join(dir, partName(base, i)), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		lock(tmp)
		st, err := tmp.Stat() // the permissions that the umask allows
		if err == nil {
			f.mode, err = st.Mode().Perm(), asPermitted(tmp.Chmod(0o600))
		}
		if err != nil {
			return nil, errors.Join(err, tmp.Close(), os.Remove(tmp.Name()))
		}
		if f.there != nil {
			f.mode = f.there.Mode().Perm() // regardless of the umask
		}
		return tmp, nil
	}
	return nil, &fs.PathError{Op: "write beside", Path: f.name, Err: fs.ErrExist}
}

// perm sets the permissions of the complete file.
func (f *File) perm() error {
	mode := f.mode
	if f.o.Perm != nil {
		mode &= f.o.Perm()
	}
	return asPermitted(f.Chmod(mode))
}

// asPermitted returns the error of a change of permissions, or nil if the file system has no
// permissions.
func asPermitted(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// Commit completes the file and moves it to its place. If that fails, the place stays unchanged and
// the temporary file is removed.
func (f *File) Commit() error {
	if f.isStream() {
		return Failed(f.Close())
	}
	if err := f.check(); err != nil {
		return errors.Join(err, f.Discard())
	}
	if f.o.Append && f.there != nil {
		return Failed(errors.Join(f.appendTo(), f.Discard()))
	}
	err := f.perm()
	if !f.o.Checked {
		err = errors.Join(err, f.Sync())
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = f.move()
	}
	if err != nil {
		return Failed(errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// move moves the file to its place. For Options.New it links the file first, if the file system has
// links, because a link never replaces a file.
func (f *File) move() error {
	if f.o.New {
		err := os.Link(f.Name(), f.place)
		if err == nil {
			return os.Remove(f.Name())
		}
		if errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return os.Rename(f.Name(), f.place)
}

// appendTo appends the written content to the existing file. If that fails, it truncates the file
// to its old size.
func (f *File) appendTo() (err error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	dst, err := os.OpenFile(f.place, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	end, err := dst.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err = io.Copy(dst, f.File); err != nil {
		return errors.Join(err, dst.Truncate(end))
	}
	return nil
}

// Discard removes the written content and leaves the place unchanged.
func (f *File) Discard() error {
	if f.isStream() {
		return f.Close()
	}
	err := f.Close()
	return errors.Join(err, os.Remove(f.Name()))
}
