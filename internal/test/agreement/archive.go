package agreement

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// ArchiveName is the file of facts next to a canned dump: a tar archive, compressed with zstd, of
// oracle/NAME.jsonl and sos/NAME.txt.
const ArchiveName = "agreement.tar.zst"

// An Archive holds the facts that a canned dump can still answer.
type Archive struct {
	files map[string][]byte
}

// NewArchive returns an empty archive.
func NewArchive() *Archive { return &Archive{map[string][]byte{}} }

// ReadArchive reads the archive in a folder. The error is fs.ErrNotExist if there is no archive.
func ReadArchive(dir string) (*Archive, error) {
	raw, err := os.ReadFile(filepath.Join(dir, ArchiveName))
	if err == nil {
		raw, err = decompress(raw)
	}
	if err != nil {
		return nil, err
	}
	a := NewArchive()
	for t := tar.NewReader(bytes.NewReader(raw)); ; {
		h, err := t.Next()
		if err == io.EOF {
			return a, nil
		}
		if err != nil {
			return nil, err
		}
		if a.files[h.Name], err = io.ReadAll(t); err != nil {
			return nil, err
		}
	}
}

// Rows returns the facts of oracle/NAME.jsonl.
func (a *Archive) Rows(name string) ([][]byte, bool, error) {
	raw, ok := a.files["oracle/"+name+".jsonl"]
	return rowsOf(raw), ok, nil
}

// SOS returns the files of sos/, in order.
func (a *Archive) SOS() (out []SOSFile, err error) {
	for _, name := range a.names() {
		if dir, base := path.Split(name); dir == "sos/" {
			out = append(out, parseSOS(base, string(a.files[name])))
		}
	}
	return out, nil
}

// AddRows adds facts.
func (a *Archive) AddRows(name string, rows [][]byte) {
	a.files["oracle/"+name+".jsonl"] = append(bytes.Join(rows, []byte("\n")), '\n')
}

// AddSOS adds a file of SOS's output.
func (a *Archive) AddSOS(f *SOSFile) { a.files["sos/"+f.Name] = []byte(f.String()) }

func (a *Archive) names() (out []string) {
	for name := range a.files {
		out = append(out, name)
	}
	// Files about the same command are adjacent, which compresses better.
	slices.SortFunc(out, strings.Compare)
	return out
}

// Write writes the archive to a folder and returns its size in bytes.
func (a *Archive) Write(dir string) (int, error) {
	var plain, packed bytes.Buffer
	t := tar.NewWriter(&plain)
	for _, name := range a.names() {
		err := t.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(a.files[name])), Format: tar.FormatUSTAR})
		if err == nil {
			_, err = t.Write(a.files[name])
		}
		if err != nil {
			return 0, err
		}
	}
	if err := t.Close(); err != nil {
		return 0, err
	}
	w, err := zstd.NewWriter(&packed, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(8<<20), zstd.WithEncoderConcurrency(1))
	if err == nil {
		_, err = w.Write(plain.Bytes())
	}
	if err != nil {
		return 0, err
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	return packed.Len(), os.WriteFile(filepath.Join(dir, ArchiveName), packed.Bytes(), 0o644)
}
