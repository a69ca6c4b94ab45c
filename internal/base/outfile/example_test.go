package outfile_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/sosgo/sosgo/internal/base/outfile"
)

// Write a file that appears only when it is complete.
func ExampleWrite() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "list.txt")
	err = outfile.Write(name, outfile.Options{}, func(w io.Writer) error {
		_, err := io.WriteString(w, "one\n")
		return err
	})
	text, _ := os.ReadFile(name)
	fmt.Printf("%v %q\n", err, text)
	// Output: <nil> "one\n"
}
