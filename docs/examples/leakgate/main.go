// Command leakgate fails a build if the heap grew by more than a budget between two dumps of a program:
//
//	leakgate BEFORE AFTER BYTES
//
// It counts all objects, garbage included, so take the dumps after a collection. The exit code is 0 within the budget, 1
// beyond it, and 2 if that can't be decided: a heap that was not read whole shows no growth and no lack of it.
//
// Stability: unstable.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
)

const (
	within = iota
	beyond
	undecided
)

func main() { os.Exit(gate(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }

// gate compares the dumps and returns the exit code.
func gate(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) != 3 {
		fmt.Fprintln(stderr, "usage: leakgate BEFORE AFTER BYTES")
		return undecided
	}
	budget, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil || budget < 0 {
		fmt.Fprintf(stderr, "leakgate: %q is no number of bytes\n", args[2])
		return undecided
	}
	var list []*sosgo.HeapSummary
	for _, path := range args[:2] {
		s, err := summarize(ctx, path)
		if err != nil {
			fmt.Fprintf(stderr, "leakgate: %s: %v\n", path, err)
			return undecided
		}
		list = append(list, s)
	}
	diff := sosgo.CompareHeaps(list, sosgo.CompareOptions{Top: 10})
	if err = comparable(diff); err == nil {
		err = write(stdout, diff, budget)
	}
	if err != nil {
		fmt.Fprintf(stderr, "leakgate: %v\n", err)
		return undecided
	}
	if diff.Objects.SizeChange > budget {
		return beyond
	}
	return within
}

// summarize counts the objects of a dump. The summary does not need the dump.
func summarize(ctx context.Context, path string) (*sosgo.HeapSummary, error) {
	d, err := sosgo.Open(path, sosgo.Options{Offline: true})
	if err != nil {
		return nil, err
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		return nil, err
	}
	h, err := v.Heap()
	if err != nil {
		return nil, err
	}
	if warnings := h.Warnings(); len(warnings) > 0 { // such as lost segments, or a collection in progress
		return nil, errors.Join(warnings...)
	}
	return v.SummarizeHeap(ctx, path)
}

// comparable returns why the difference shows no growth, or nil.
func comparable(diff *answer.HeapDiff) error {
	if err := diff.Failure(); err != nil {
		return err
	}
	for _, d := range diff.Dumps {
		switch {
		case d.Unread > 0:
			return fmt.Errorf("%s: %d places of the heap can't be read", d.File, d.Unread)
		case d.Unrelated != "":
			return fmt.Errorf("%s: %s", d.File, d.Unrelated)
		}
	}
	return nil
}

// write writes the result and the types that grew.
func write(w io.Writer, diff *answer.HeapDiff, budget int64) error {
	var failed error
	printf := func(format string, args ...any) {
		_, err := fmt.Fprintf(w, format, args...)
		failed = errors.Join(failed, err)
	}
	printf("%+d bytes of objects, of %d that the budget allows\n", diff.Objects.SizeChange, budget)
	for _, t := range diff.Types {
		if t.SizeChange > 0 {
			printf("%+12d %+9d  %q\n", t.SizeChange, t.CountChange, t.Name.String()) // quoted: names may be hostile
		}
	}
	for _, err := range diff.Noted() { // such as types without a name; the sum counts their objects
		printf("missing: %q\n", err.Error())
	}
	return failed
}
