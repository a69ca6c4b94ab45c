package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestGoldenReports compares what commands print of crash reports with testdata/golden/crashreports.txt, as text and
// JSON. The last lines are refused: a report holds no memory.
func TestGoldenReports(t *testing.T) {
	answered := []string{"crashinfo", "clrstack", "clrstack -native -all", "clrstack -f -a -c 2", "clrstack -tid 4d9", "threads -v", "clrthreads", "modules", "modules -v", "info", "summarize"}
	refused := []string{"clrthreads -managedexception", "dumpheap", "dumpobj 1000", "registers", "db 1000", "pack -o x.tar.zst", "runtimes"}
	var got strings.Builder
	for _, name := range []string{"net8-x64", "net10-arm64-overflow", "net11-inprocess"} {
		path := filepath.Join(moduleRoot, "internal", "dump", "crashreport", "testdata", name+".crashreport.json")
		for i, line := range slices.Concat(answered, refused) {
			for _, form := range []string{"-json=false", "-json"} {
				out, errs, code := run(t, "-d", path, form, "-c", line)
				assert.Equal(t, i >= len(answered), code == 5, "%s: %s: %s", name, line, errs)
				if form == "-json" && name != "net8-x64" {
					continue
				}
				fmt.Fprintf(&got, "==== %s %s: %s\n%s%s", name, form, line, abridge(strings.ReplaceAll(out, filepath.ToSlash(filepath.Dir(path)), "…"), 60), errs)
			}
		}
	}
	compareGolden(t, filepath.Join(moduleRoot, "cmd", "sosgo", "testdata", "golden", "crashreports.txt"), got.String())
}
