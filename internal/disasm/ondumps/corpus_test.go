package ondumps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/disasm"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestCorpus disassembles the compiled methods of every case. Every byte is in an instruction, and most calls have a
// name.
func TestCorpus(t *testing.T) {
	testdump.CorpusRuntimes(t, func(t *testing.T, d *testdump.Dump) int {
		rt, err := d.Runtime()
		require.NoError(t, err)
		r, err := d.Objects()
		require.NoError(t, err)
		names := disasm.NewNames(rt, r)
		methods, calls, named := 0, 0, 0
		for info, err := range dac.CodeOf(rt).JITCode() {
			if err != nil || info.Method == nil {
				continue
			}
			code, err := dac.CodeOf(rt).Code(info)
			if err != nil {
				continue
			}
			methods++
			var last disasm.Instruction
			for in := range disasm.Decode(d.Target().Platform().Arch, code, info.Start) {
				before := last
				last = in
				at := in.Addr - info.Start
				assert.True(t, in.Text != "" && !strings.HasPrefix(in.Text, ".inst"), "%x at %s after %x %s", code[at:min(int(at)+15, len(code))], in.Addr, before.Bytes, before.Text)
				if in.Kind == disasm.RefCall || in.Kind == disasm.RefCallSlot {
					calls++
					if names.Of(&in) != "" {
						named++
					}
				}
			}
		}
		t.Logf("%d methods, %d calls, %d named", methods, calls, named)
		if methods == 0 {
			t.Skip("the dump has no code of the compiler")
		}
		return methods
	})
}
