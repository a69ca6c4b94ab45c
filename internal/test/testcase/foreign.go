package testcase

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Foreign returns an unpacked dump of another project, from the folder corpus-foreign next to the
// corpus. It skips the test without that dump.
func Foreign(t testing.TB, name string) []byte {
	t.Helper()
	b, err := ReadForeign(name)
	if errors.Is(err, os.ErrNotExist) {
		t.Attr(AttrNoCorpus, "true")
		t.Skip("no foreign dumps: there is no corpus-foreign beside the corpus")
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ReadForeign is Foreign for programs. A missing file is os.ErrNotExist.
func ReadForeign(name string) ([]byte, error) {
	file, err := ForeignFile(name)
	if err != nil {
		return nil, err
	}
	r, err := openZstd(file)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// ForeignFile returns the path of the compressed file of a dump of another project. A missing file
// is os.ErrNotExist.
func ForeignFile(name string) (string, error) {
	dir, err := corpusDir()
	if err != nil {
		return "", err
	}
	if dir == "" {
		return "", os.ErrNotExist
	}
	file := filepath.Join(filepath.Dir(dir), "corpus-foreign", name+".zst")
	_, err = os.Stat(file)
	return file, err
}
