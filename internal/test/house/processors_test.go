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

// processorNames are the names by which code would mean one processor.
var processorNames = regexp.MustCompile(`\b(target\.)?(Arch(AMD64|ARM64)|ARM64[A-Z]\w*)\b|\btarget\.(AMD64|ARM64|R[A-D]X|R[SBD][PI]|R1?[0-9])\b`)

// inProcessorNames are what these names contain, which is found faster.
var inProcessorNames = [][]byte{[]byte("AMD64"), []byte("ARM64"), []byte("target.R")}

// processorRooms are the packages, and the file, that know processors apart: the table of registers and conventions,
// what formats and compilers make of them, and the containers, which name them.
var processorRooms = []string{"target", "image", "objects/disasm", "dac/code/precode.go", "dump/elfcore", "dump/machocore", "internal/base/macho", "dump/crashreport", "minidump", "internal/test/synth", "internal/test/disguise/darwin.go"}

// TestProcessorsHaveRooms: nobody else asks which processor it is.
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
