// Command slicefacts writes the file of facts next to canned dumps. It selects the facts in the
// corpus about the original dumps that the slices can still answer.
//
//	slicefacts -corpus CORPUS FOLDER...
//
// A folder is one of testdata/dumps. It is skipped if the corpus has no facts about its source.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sosgo/sosgo/internal/test/agreement"
	"github.com/sosgo/sosgo/internal/test/testcase"
)

func main() {
	corpus := flag.String("corpus", "../shared/corpus", "the `folder` of the corpus")
	flag.Parse()
	for _, dir := range flag.Args() {
		if err := facts(*corpus, dir); err != nil {
			fmt.Fprintf(os.Stderr, "slicefacts: %s: %v\n", dir, err)
			os.Exit(1)
		}
	}
}

func facts(corpus, dir string) (err error) {
	small, err := testcase.LoadCanned(dir)
	if err != nil {
		return err
	}
	source := filepath.Join(corpus, small.Manifest.Source)
	large, err := testcase.Load(source)
	if errors.Is(err, os.ErrNotExist) {
		fmt.Printf("%s: the corpus has no case %s\n", small.Name, small.Manifest.Source)
		return nil
	}
	if err == nil {
		err = large.Unpack()
	}
	if err != nil {
		return err
	}
	full, slice := agreement.Open(large, 2, time.Minute), agreement.Open(small, 2, time.Minute)
	defer func() { err = errors.Join(err, full.Close(), slice.Close()) }()
	a, kept, err := agreement.Select(full, slice, agreement.Folder(source))
	if err != nil {
		return err
	}
	n, err := a.Write(dir)
	fmt.Printf("%s: %d of %d facts, %d of %d files of SOS, %d bytes\n", small.Name, kept.Rows, kept.OfRows, kept.Files, kept.OfFiles, n)
	return err
}
