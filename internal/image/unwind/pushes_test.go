package unwind

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/target"
)

// TestPushes compares prologues with their unwind data. Only a prologue in the dump, and in managed code, denies them.
func TestPushes(t *testing.T) {
	rbp, rbx, r15 := byte(target.RBP)<<4, byte(target.RBX)<<4, byte(target.R15)<<4
	three := unwindInfo(4, 0, 4, opPushNonvol|rbx, 3, opPushNonvol|r15, 1, opPushNonvol|rbp)
	code := []byte{0x55, 0x41, 0x57, 0x53}
	for name, tc := range map[string]struct {
		info, code []byte
		native     bool
		denied     bool
	}{
		"as listed":          {info: three, code: code},
		"not in the dump":    {info: unwindInfo(4, 0, 1, opPushNonvol|rbp)},
		"native":             {info: unwindInfo(4, 0, 1, opPushNonvol|rbp), code: code, native: true},
		"too few":            {info: unwindInfo(4, 0, 1, opPushNonvol|rbp), code: code, denied: true},
		"another register":   {info: unwindInfo(4, 0, 4, opPushNonvol|rbp, 3, opPushNonvol|r15, 1, opPushNonvol|rbp), code: code, denied: true},
		"without the prefix": {info: unwindInfo(4, 0, 4, opPushNonvol|rbx, 3, opPushNonvol|byte(target.RDI)<<4, 1, opPushNonvol|rbp), code: code, denied: true},
		"too far":            {info: unwindInfo(4, 0, 9, opPushNonvol|rbx, 3, opPushNonvol|r15, 1, opPushNonvol|rbp), code: code, denied: true},
		"a breakpoint":       {info: three, code: []byte{0xcc, 0x41, 0x57, 0x53}},
		"an allocation":      {info: unwindInfo(2, 0, 2, opAllocSmall, 1, opPushNonvol|rbp), code: []byte{0x55, 0x50}},
		"another frame":      {info: unwindInfo(2, 0, 2, opPushNonvol|rbx, 1, opPushNonvol|rbp, 0, opAllocSmall, 0, opPushNonvol|r15), code: []byte{0x55, 0x53}},
		"other code first":   {info: unwindInfo(5, 0, 5, opPushNonvol|rbp), code: []byte{0x48, 0x83, 0xec, 0x00, 0x55}},
	} {
		wi := testUnwinder(tc.info, nil, tc.code).decodeAMD64(Code{
			Range: target.Range{Start: testStart, End: testStart + 0x1000}, Format: FormatWindows, Base: testBase, Info: testInfo, Managed: !tc.native,
		})
		assert.Equal(t, tc.denied, wi.err != nil, name)
		if tc.denied {
			assert.ErrorIs(t, wi.err, target.ErrCorrupt, name)
		}
	}
}
