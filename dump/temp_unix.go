//go:build !windows

package dump

import "os"

// createTemp creates a file and removes its name, so that it is gone when it is closed or the
// program ends.
func createTemp(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "sosgo-dump-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
