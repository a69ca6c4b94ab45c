package acceptance_test

import (
	"os"
	"testing"

	"github.com/sosgo/sosgo/internal/test/testcase"
)

// TestMain runs the tests in the module's root, because they name its files.
func TestMain(m *testing.M) {
	testcase.MemoryLimit(3 << 30) // the dumps that the tests share are up to 1.4 GB
	if err := os.Chdir("../../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
