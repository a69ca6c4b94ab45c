package pack

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/test/testcase"
)

// TestNativeFiles: a native library is .NET's if it also exports a function of the library that it claims to be.
func TestNativeFiles(t *testing.T) {
	testcase.Corpus(t, testcase.Named("net10-zoo-servergc-withheap", "net31-zoo-withheap", "net8-zoo-withheap", "web-net10-withheap"), func(t *testing.T, c *testcase.Case) int {
		testcase.NeedModules(t, c)
		files, err := filepath.Glob(filepath.Join(c.Modules, "*.so"))
		assert.NoError(t, err)
		for _, f := range files {
			b, err := os.ReadFile(f)
			if !assert.NoError(t, err) {
				continue
			}
			at := func(path string) bool {
				return isNET(&dump.PackEntry{Path: path, Source: bytes.NewReader(b), Size: int64(len(b))})
			}
			assert.True(t, at(f), f)
			assert.False(t, at("/app/libclrjit.so"), "%s under another library's name", f)
			assert.False(t, at("/app/libSystem.Billing.so"), "%s under a name like one", f)
		}
		return len(files)
	})
}
