//go:build !js

package mmapfile

import (
	"io"
	"os"
)

func direct(f *os.File) io.ReaderAt { return f }
