package commands_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/stacks"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/internal/threads"
)

// TestSignedAddresses passes ARM64 return addresses with a signature in the upper bits. The answer equals the one
// without signature, plus a warning. On AMD64 such an address is not code.
func TestSignedAddresses(t *testing.T) {
	for dump, signed := range map[string]bool{"net10-arm64": true, "net10-zoo": false} {
		d := testdump.Open(t, dump)
		ip := managedIP(t, d)
		for _, command := range []string{"ip2md", "clru", "ln", "gcinfo"} {
			with := fmt.Sprintf("%x", ip|0x004c<<48)
			_, want, _ := sosgo(t, d, command, strconv.FormatUint(ip, 16))
			code, got, stderr := sosgo(t, d, command, with)
			if signed {
				require.Zero(t, code, "%s: %s", command, stderr)
				assert.Equal(t, want, got, command)
				assert.Contains(t, stderr, fmt.Sprintf("004c%012x has the signature of a code pointer (pointer authentication): the answer is about %016x", ip, ip), command)
				continue
			}
			assert.NotEqual(t, want, got, command)
			assert.NotContains(t, stderr, "signature")
		}
	}
}

// managedIP returns a return address in the code of a method.
func managedIP(t *testing.T, d *testdump.Dump) uint64 {
	v, err := d.View("")
	require.NoError(t, err)
	stacks, err := stacks.Stacks(t.Context(), v.Process, stacks.Options{StackOptions: threads.StackOptions{Source: true}})
	require.NoError(t, err)
	for f, err := range stacks.Frames {
		if err == nil && f.Kind == answer.FrameManaged && f.Trust == "unwind" {
			return uint64(f.IP.Value)
		}
	}
	require.Fail(t, "there is no managed frame")
	return 0
}
