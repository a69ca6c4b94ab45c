package crash_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

func describeForeign(t *testing.T, name string) *answer.Crash {
	file := filepath.Join(t.TempDir(), "dump")
	require.NoError(t, os.WriteFile(file, testcase.Foreign(t, name), 0o600))
	d, err := sosgo.Open(file, sosgo.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	v, err := d.View("")
	if v == nil {
		require.NoError(t, err)
	}
	x, err := crash.Describe(context.Background(), v.Process, crash.Options{})
	require.NoError(t, err)
	return x
}

// TestForeignCrashes compares the crashes with corpus-foreign/README.md.
func TestForeignCrashes(t *testing.T) {
	for name, want := range map[string]struct {
		code    string
		thread  uint32
		address target.Addr // -1 for no address
		touched *target.Addr
		params  []answer.Hex
	}{
		"pystack__segfault.core": {code: "SIGSEGV/SEGV_MAPERR", thread: 0x12777, address: 123456789, touched: addr(123456789)},
		"breakpad__write_av_non_canonical.dmp": {code: "0xc0000005", thread: 0x1188, address: 0x7ff738721331, touched: addr(0xffffffffffffffff),
			params: []answer.Hex{0, 0xffffffffffffffff}},
		"rust-minidump__invalid-parameter.dmp": {code: "0xc000000d", thread: 0x1708, params: []answer.Hex{0xfc218feac0, 0xfc218fecc0, 0x20}},
		"rust-minidump__linux-mini.dmp":        {code: "SIGSEGV", thread: 0x518, address: 0x45},
		"swift-lldb__linux-x86_64.dmp":         {code: "SIGSEGV", thread: 29917},
	} {
		t.Run(name, func(t *testing.T) {
			x := describeForeign(t, name)
			assert.False(t, x.Alive)
			assert.Equal(t, want.code, x.Code)
			assert.Equal(t, want.thread, x.ThreadID)
			assert.Equal(t, answer.Known(want.address), x.Address, "0 is an address, too")
			if want.touched == nil {
				assert.Nil(t, x.Touched)
			} else {
				require.NotNil(t, x.Touched)
				assert.Equal(t, *want.touched, x.Touched.Address)
			}
			var params []answer.Hex
			for _, r := range x.Records {
				for _, p := range r.Parameters {
					params = append(params, p.Value)
				}
			}
			assert.Equal(t, want.params, params)
			require.NotEmpty(t, x.Contexts)
			assert.NotEmpty(t, x.Contexts[0].Where)
			assert.NotEmpty(t, x.Verdicts)
		})
	}
	t.Run("clrmd__arrays_wks_mini.coredump", func(t *testing.T) {
		x := describeForeign(t, "clrmd__arrays_wks_mini.coredump")
		assert.False(t, x.Alive)
		assert.Empty(t, x.Code, "that createdump gave every thread SIGABRT says nothing")
		require.Len(t, x.Exceptions, 1)
		assert.Equal(t, "System.Exception", x.Exceptions[0].Type.String())
		assert.Contains(t, x.Likely, "Program.Main")
		assert.Equal(t, answer.StrengthProved, x.Verdicts[0].Strength)
	})
	t.Run("diagnostics__triagedump.core", func(t *testing.T) {
		x := describeForeign(t, "diagnostics__triagedump.core")
		require.Len(t, x.Verdicts, 1)
		assert.Equal(t, answer.StrengthUnknown, x.Verdicts[0].Strength, "a runtime that is not read")
	})
}

func addr(a target.Addr) *target.Addr { return &a }
