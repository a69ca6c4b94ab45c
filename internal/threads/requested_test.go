package threads_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/minidump"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestRequestedDump: a thread for which a dump was requested has not crashed.
func TestRequestedDump(t *testing.T) {
	for code, crashed := range map[uint32]string{0xffffffff: "", 11: "SIGSEGV/SEGV_MAPERR"} {
		m := synth.NewMinidump()
		m.ForeignSystem(synth.MinidumpAMD64, synth.MinidumpLinux, "")
		m.Modules(synth.MinidumpModule{Base: 0x1000, Size: 1, Path: "/a"})
		m.Threads(synth.MinidumpThread{ID: 5})
		m.Exception(5, code, 0, nil, nil)
		f, err := minidump.Open(target.BytesSource(m.Bytes()))
		require.NoError(t, err)
		list := f.Threads()
		out := threads.DescribeOS(f, []stackwalk.Thread{{OS: &list[0]}}, nil)
		require.Len(t, out.Threads, 1)
		assert.Equal(t, crashed, out.Threads[0].Crashed)
	}
}
