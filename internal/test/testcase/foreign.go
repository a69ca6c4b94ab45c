package testcase

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Foreign returns a dump that this project did not make, unpacked: a file of the
// folder corpus-foreign beside the corpus. The test is skipped if there is none.
func Foreign(t testing.TB, name string) []byte {
	t.Helper()
	dir, err := corpusDir()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(filepath.Dir(dir), "corpus-foreign", name+".zst")
	if _, err := os.Stat(file); dir == "" || errors.Is(err, os.ErrNotExist) {
		t.Attr(AttrNoCorpus, "true")
		t.Skip("no foreign dumps: there is no corpus-foreign beside the corpus")
	}
	r, err := openZstd(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
