package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
)

func dump(name string) string {
	return filepath.Join("../../../testdata/dumps", name, filepath.Base(name)+".dmp.zst")
}

func TestGate(t *testing.T) {
	before, after := dump("net10-zoo"), dump("net8-zoo")
	for _, test := range []struct {
		args []string
		code int
	}{
		{[]string{before, after, "1000000000"}, within},
		{[]string{before, after, "1"}, beyond},
		{[]string{before, before, "0"}, within},
		{[]string{after, before, "0"}, within},                                       // it shrank
		{[]string{before, dump("net10-single"), "1000000000"}, undecided},            // of another program
		{[]string{before, dump("net10-crash-null-triage"), "1000000000"}, undecided}, // has no heap
		{[]string{before, "missing.dmp", "1"}, undecided},
		{[]string{before, after, "-1"}, undecided},
		{[]string{before, after}, undecided},
	} {
		var out, errs bytes.Buffer
		code := gate(context.Background(), test.args, &out, &errs)
		assert.Equal(t, test.code, code, "%v: %s%s", test.args, out.String(), errs.String())
		assert.Equal(t, code == undecided, errs.Len() > 0, "%v: %s", test.args, errs.String())
		assert.Equal(t, code == undecided, out.Len() == 0, "%v: %s", test.args, out.String())
	}
}

func Example() {
	code := gate(context.Background(), []string{dump("net8-zoo"), dump("net8-zoo"), "0"}, os.Stdout, io.Discard)
	fmt.Println("exit code", code)
	// Output:
	// +0 bytes of objects, of 0 that the budget allows
	// exit code 0
}
