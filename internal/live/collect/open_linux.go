package collect

import (
	"fmt"
	"os"
)

// openPath returns a path of an open file that leads to this file, whatever becomes of its name.
func openPath(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }
