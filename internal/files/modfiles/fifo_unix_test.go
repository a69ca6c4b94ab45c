//go:build unix

package modfiles

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func makeFIFO(t *testing.T, path string) string {
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	return path
}
