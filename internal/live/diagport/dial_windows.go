package diagport

import (
	"context"
	"io"
	"os"
)

// Dial opens the named pipe of a process.
func Dial(_ context.Context, pipe string, _ int, _ uint32) (io.ReadWriteCloser, error) {
	return os.OpenFile(pipe, os.O_RDWR, 0)
}
