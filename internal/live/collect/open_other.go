//go:build !linux

package collect

import "os"

// openPath returns the path of an open file. Only Linux has paths of open files that can be opened again.
func openPath(f *os.File) string { return f.Name() }
