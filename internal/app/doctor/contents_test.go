package doctor_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/app/doctor"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

// TestContents lists the contents of a crash reporter's minidump. Only the runtime's environment variables show values.
func TestContents(t *testing.T) {
	m := synth.NewMinidump()
	m.ForeignSystem(synth.MinidumpAMD64, synth.MinidumpLinux, "Linux 6.1.0")
	m.Stream(0x47670007, []byte("HOME=/root\x00DOTNET_gcServer=1\x00TOKEN=secret\x00"))
	m.Stream(0x47670008, synth.Fields([]uint64{3, 0x400040, 9, 0x400100, 4711, 1, 0, 0}))
	m.Stream(0x47670009, []byte("00400000-00401000 r-xp 00001000 08:01 1   /opt/app/app\n7ffbfffff000-7ffc00001000 rw-p 00000000 00:00 0  [stack]\n"))
	m.UnloadedModule(0x6000, 0x2000, 0, 0, "gone.so")
	m.Memory(synth.MinidumpRange{Addr: 0x7ffbfffff000, Data: make([]byte, 64)})
	raw := m.Bytes()
	f, err := dump.OpenReaderAt(target.BytesSource(raw), int64(len(raw)), dump.Options{})
	require.NoError(t, err)
	defer f.Close()

	c := doctor.Contents(f)
	assert.Equal(t, []answer.AuxEntry{{Tag: 3, Name: "PHDR", Value: 0x400040}, {Tag: 9, Name: "ENTRY", Value: 0x400100}, {Tag: 4711, Value: 1}}, c.Auxv)
	assert.Equal(t, []answer.EnvVariable{{Name: "HOME"}, {Name: "DOTNET_gcServer", Value: "1"}, {Name: "TOKEN"}}, c.Environment)
	assert.Equal(t, []answer.OldModule{{Base: 0x6000, Size: 0x2000, Path: "gone.so"}}, c.Unloaded)
	require.NotEmpty(t, c.Regions)
	assert.Equal(t, answer.MemoryRegion{Start: 0x400000, Size: 0x1000, Access: "r-x", Kind: "mapped", Path: "/opt/app/app"}, c.Regions[0])
	stored := uint64(0)
	for _, r := range c.Regions {
		stored += r.Stored
	}
	assert.EqualValues(t, 64, stored)
	assert.Empty(t, doctor.Contents(nil).Regions)
}
