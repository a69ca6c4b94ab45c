package main

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestInits bounds what the packages of this module allocate before main, since each command pays for it: what one
// command needs is made when that command asks for it. The runtime's trace counts bytes, which do not depend on the
// machine's load.
func TestInits(t *testing.T) {
	const most, mostOfOne = 80 << 10, 8 << 10
	c := exec.Command(os.Args[0], "--version")
	c.Env = append(os.Environ(), asProgram+"=1", "GODEBUG=inittrace=1")
	var trace strings.Builder
	c.Stderr = &trace
	require.NoError(t, c.Run())
	lines := regexp.MustCompile(`(?m)^init (github\.com/sosgo/sosgo\S*) .* clock, (\d+) bytes`).FindAllStringSubmatch(trace.String(), -1)
	require.Greater(t, len(lines), 20, trace.String())
	total := 0
	for _, l := range lines {
		if strings.Contains(l[1], "/internal/test/") || strings.HasSuffix(l[1], "/cmd/sosgo") {
			continue // variables of tests
		}
		n, err := strconv.Atoi(l[2])
		require.NoError(t, err)
		assert.LessOrEqual(t, n, mostOfOne, l[1])
		total += n
	}
	assert.LessOrEqual(t, total, most)
}
