package ask

import (
	"errors"
	"io"
	"os"
)

// NewFile writes a file that must not exist yet. What could not be written to
// its end is removed.
func NewFile(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if err = errors.Join(write(f), f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}
