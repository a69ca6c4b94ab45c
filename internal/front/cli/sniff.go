package cli

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/sosgo/sosgo/internal/base/mmapfile"
	"github.com/sosgo/sosgo/internal/base/shownurl"
)

// sniffBytes is the number of bytes that identify a dump. The type field of an ELF header ends at byte 18.
const sniffBytes = 18

// sniffInput is the number of bytes of a compressed file in which the first bytes of a dump must be. Empty blocks may precede them.
const sniffInput = 1 << 20

// LooksLikeDump reports whether r starts like an ELF core, a Mach-O core or a minidump, possibly compressed by gzip
// or zstd.
func LooksLikeDump(r io.Reader) bool {
	br := bufio.NewReader(io.LimitReader(r, sniffInput))
	magic, _ := br.Peek(4)
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(br)
		return err == nil && isDumpHeader(z)
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
		if err != nil {
			return false
		}
		defer z.Close()
		return isDumpHeader(z)
	}
	return isDumpHeader(br)
}

func isDumpHeader(r io.Reader) bool {
	var h [sniffBytes]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return false
	}
	const etCore, mhCore = 4, 4
	return bytes.HasPrefix(h[:], []byte("MDMP")) ||
		bytes.HasPrefix(h[:], []byte("\xcf\xfa\xed\xfe")) && h[12] == mhCore ||
		bytes.HasPrefix(h[:], []byte("\x7fELF")) && (h[16] == etCore || h[17] == etCore)
}

// chooseDump returns the dump if no option names one: SOSGO_DUMP, or the only dump in the folder.
func (a *app) chooseDump() (string, error) {
	if path := a.env.getenv("SOSGO_DUMP"); path != "" {
		a.stderr.print("sosgo: dump " + shownurl.Path(path) + " (SOSGO_DUMP)\n")
		return path, nil
	}
	dumps, err := a.env.dumpsIn(a.env.dir())
	if err != nil {
		return "", &OpenError{Err: err}
	}
	switch len(dumps) {
	case 1:
		a.stderr.print("sosgo: dump " + dumps[0] + " (the only one in this folder)\n")
		return filepath.Join(a.env.Dir, dumps[0]), nil
	case 0:
		return "", &UsageError{Text: "no dump is named, and there is none in this folder",
			Hint: "name one with --dump FILE or SOSGO_DUMP"}
	}
	const listed = 20
	list := strings.Join(dumps[:min(len(dumps), listed)], ", ")
	if len(dumps) > listed {
		list += ", ..."
	}
	return "", &UsageError{Text: fmt.Sprintf("no dump is named, and this folder has %d: %s", len(dumps), list),
		Hint: "name one with --dump FILE or SOSGO_DUMP"}
}

// dumpsIn lists the dumps in a folder, by name.
func (e *Env) dumpsIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var dumps []string
	for _, entry := range entries {
		if isDump, err := e.sniffFile(filepath.Join(dir, entry.Name())); err == nil && isDump {
			dumps = append(dumps, entry.Name())
		}
	}
	return dumps, nil
}

// errNotFile is the error for folders and devices. They must not be opened, since opening a named pipe would block.
var errNotFile = errors.New("not a file")

func (e *Env) sniffFile(path string) (bool, error) {
	st, err := e.stat(path)
	if err != nil {
		return false, err
	}
	if !st.Mode().IsRegular() {
		return false, errNotFile
	}
	f, err := mmapfile.OpenRegular(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	return LooksLikeDump(f), nil
}
