package acceptance_test

import (
	"os"
	"testing"
)

// TestMain runs the tests in the module's root, because they name its files.
func TestMain(m *testing.M) {
	if err := os.Chdir("../../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
