package agreement

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
)

// A Folder is a case of the corpus with facts in its folders oracle and sos.
type Folder string

// Rows reads oracle/NAME.jsonl, compressed or not.
func (f Folder) Rows(name string) ([][]byte, bool, error) {
	path := filepath.Join(string(f), "oracle", name+".jsonl")
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if raw, err = os.ReadFile(path + ".zst"); err == nil {
			raw, err = decompress(raw)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return rowsOf(raw), err == nil, err
}

// SOS reads sos/*.txt.
func (f Folder) SOS() ([]SOSFile, error) {
	paths, err := filepath.Glob(filepath.Join(string(f), "sos", "*.txt"))
	if err != nil {
		return nil, err
	}
	var out []SOSFile
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		out = append(out, parseSOS(filepath.Base(path), string(raw)))
	}
	return out, nil
}

// rowsOf splits lines and drops blank ones.
func rowsOf(raw []byte) (out [][]byte) {
	for line := range bytes.Lines(raw) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			out = append(out, line)
		}
	}
	return out
}

func decompress(raw []byte) ([]byte, error) {
	dec, err := zstd.NewReader(bytes.NewReader(raw), zstd.WithDecoderMaxWindow(1<<27))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	return io.ReadAll(dec)
}
