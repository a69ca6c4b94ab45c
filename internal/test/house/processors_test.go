package house_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// processorNames match names of single processors.
var processorNames = regexp.MustCompile(`\b(target\.)?(Arch(AMD64|ARM64)|ARM64[A-Z]\w*)\b|\btarget\.(AMD64|ARM64|R[A-D]X|R[SBD][PI]|R1?[0-9])\b`)

// inProcessorNames are substrings of these names, for a fast search.
var inProcessorNames = [][]byte{[]byte("AMD64"), []byte("ARM64"), []byte("target.R")}

// processorRooms are the packages and the file that distinguish processors: the table of registers
// and conventions, formats and compilers, and containers.
var processorRooms = []string{"target", "image", "internal/disasm", "dac/precode.go", "internal/image", "internal/dump/elfcore", "internal/dump/machocore", "internal/base/macho", "internal/dump/crashreport", "minidump", "internal/test/synth", "internal/test/disguise/darwin.go"}

// TestProcessorsHaveRooms: no other package distinguishes processors.
func TestProcessorsHaveRooms(t *testing.T) {
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		path = filepath.ToSlash(path)
		for _, room := range processorRooms {
			if path == room || strings.HasPrefix(path, room+"/") {
				return nil
			}
		}
		b, err := os.ReadFile(path)
		named := slices.ContainsFunc(inProcessorNames, func(part []byte) bool { return bytes.Contains(b, part) })
		if err == nil && named && processorNames.Match(b) {
			t.Errorf("%s names a processor: %s", path, processorNames.Find(b))
		}
		return err
	}))
}
