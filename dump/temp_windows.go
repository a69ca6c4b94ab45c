package dump

import (
	"os"

	"golang.org/x/sys/windows"
)

// createTemp creates a file that Windows deletes when its last handle is closed, even if the
// program is killed.
func createTemp(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "sosgo-dump-*")
	if err != nil {
		return nil, err
	}
	name := f.Name()
	f.Close()
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateFile(path, windows.GENERIC_READ|windows.GENERIC_WRITE, windows.FILE_SHARE_READ|windows.FILE_SHARE_DELETE, nil,
		windows.CREATE_ALWAYS, windows.FILE_ATTRIBUTE_TEMPORARY|windows.FILE_FLAG_DELETE_ON_CLOSE, 0)
	if err != nil {
		os.Remove(name)
		return nil, &os.PathError{Op: "create", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}
