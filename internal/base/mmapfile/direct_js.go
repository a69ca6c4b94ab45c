package mmapfile

import (
	"io"
	"os"
	"syscall/js"
	"unsafe"
)

// A directFile reads a file of a browser into the memory of the program. With os.File, each read makes an array of
// JavaScript, which lives until Go's garbage collector runs: with a large heap, that is gigabytes later.
type directFile struct {
	*os.File
	files js.Value // the worker's file system (ui/src/site/files.ts)
}

// readInto is the method that reads a part of an open file to an address of the program's memory. It returns the
// number of bytes, or -1 if it fails.
const readInto = "readInto"

// direct returns a reader of f that makes no arrays, where the file system can do that: Node's can't.
func direct(f *os.File) io.ReaderAt {
	files := js.Global().Get("fs")
	if files.Type() != js.TypeObject || files.Get(readInto).Type() != js.TypeFunction {
		return f
	}
	return &directFile{f, files}
}

// ReadAt implements io.ReaderAt. If the direct way fails, the usual one has the error.
func (d *directFile) ReadAt(p []byte, off int64) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(p)))
	n := d.files.Call(readInto, d.Fd(), at, len(p), off).Int()
	switch {
	case n < 0:
		return d.File.ReadAt(p, off)
	case n < len(p):
		return n, io.EOF
	}
	return n, nil
}
