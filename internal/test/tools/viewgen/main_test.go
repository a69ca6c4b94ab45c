package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCurrent: View has the questions and comments of the packages behind it.
func TestCurrent(t *testing.T) {
	files, err := generate("../../../..")
	require.NoError(t, err)
	for name, want := range files {
		have, err := os.ReadFile("../../../../" + name)
		require.NoError(t, err)
		require.Equal(t, string(want), string(have), "%s: go generate . writes it anew", name)
	}
}
