package threads_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

const (
	stackAt = 0x10000 // of the mapping that holds stacks
	tebAt   = 0x40000
	oleAt   = 0x50000
	teb2At  = 0x60000 // names a stack base that can't be
)

// threadDump returns a core with two threads, the second with the lower id, a mapping for stacks, and the environment
// block of a Windows thread.
func threadDump(t *testing.T) *sosgo.Dump {
	regs := func(sp uint64) []uint64 {
		r := make([]uint64, 27)
		r[19] = sp // user_regs_struct: r15 … rip, cs, eflags, rsp
		return r
	}
	teb := func(base, ole uint64) []byte {
		b := make([]byte, 0x2000)
		copy(b[8:], synth.Fields(base))
		copy(b[0x1758:], synth.Fields(ole))
		return b
	}
	core := synth.ELFCore{
		Notes: []synth.ELFNote{synth.ELFProcess(50, "zoo", "zoo"), synth.ELFThread(100, 0, regs(stackAt+0x100)), synth.ELFThread(50, 0, regs(stackAt+0x200))},
		Segments: []synth.ELFSegment{
			{Addr: stackAt, Data: make([]byte, 0x2000), Flags: 6},
			{Addr: tebAt, Data: teb(stackAt+0x1000, oleAt), Flags: 6},
			{Addr: oleAt, Data: append(make([]byte, 0x14), synth.Fields(uint32(0x181))...), Size: 0x1000, Flags: 6},
			{Addr: teb2At, Data: teb(1<<60, 0), Flags: 6},
		},
	}
	b := core.Bytes()
	d, err := sosgo.OpenReaderAt(bytes.NewReader(b), int64(len(b)), sosgo.Options{NoLocalFiles: true})
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	return d
}

func TestThreadsAreNumberedAsListed(t *testing.T) {
	list, err := threadDump(t).Threads()
	assert.ErrorIs(t, err, target.ErrUnsupported, "there is no runtime")
	require.Len(t, list, 2)
	for i, id := range []uint32{100, 50} {
		assert.Equal(t, i, list[i].Index)
		assert.Equal(t, id, list[i].ID())
		assert.Nil(t, list[i].Managed)
	}
	assert.Zero(t, (&stackwalk.Thread{Index: -1}).ID())
}

// osThread returns a thread with a stack pointer, unless sp is 0.
func osThread(sp uint64, teb target.Addr) *target.Thread {
	th := &target.Thread{ID: 7, TEB: teb, Registers: target.Registers{Arch: target.ArchAMD64}}
	if sp != 0 {
		th.Registers.Set(target.RSP, sp)
	}
	return th
}

func TestStack(t *testing.T) {
	d := threadDump(t)
	managed := func(start, end target.Addr) *dac.Thread {
		return &dac.Thread{Stack: target.Range{Start: start, End: end}}
	}
	tests := []struct {
		name      string
		thread    stackwalk.Thread
		want      []target.Range
		alternate bool
	}{
		{"the environment block knows the base", stackwalk.Thread{OS: osThread(stackAt+0x101, tebAt), Managed: managed(stackAt, stackAt+0x800)},
			[]target.Range{{Start: stackAt + 0x100, End: stackAt + 0x1000}}, false},
		{"the runtime knows it", stackwalk.Thread{OS: osThread(stackAt+0x100, 0), Managed: managed(stackAt, stackAt+0x800)},
			[]target.Range{{Start: stackAt + 0x100, End: stackAt + 0x800}}, false},
		{"the mapping", stackwalk.Thread{OS: osThread(stackAt+0x100, 0)},
			[]target.Range{{Start: stackAt + 0x100, End: stackAt + 0x2000}}, false},
		{"a base that can't be", stackwalk.Thread{OS: osThread(stackAt+0x100, teb2At)},
			[]target.Range{{Start: stackAt + 0x100, End: stackAt + 0x2000}}, false},
		{"an environment block that is missing", stackwalk.Thread{OS: osThread(stackAt+0x100, 0x900000)},
			[]target.Range{{Start: stackAt + 0x100, End: stackAt + 0x2000}}, false},
		{"an alternate signal stack", stackwalk.Thread{OS: osThread(tebAt+0x10, 0), Managed: managed(stackAt, stackAt+0x800)},
			[]target.Range{{Start: tebAt + 0x10, End: tebAt + 0x2000}, {Start: stackAt, End: stackAt + 0x800}}, true},
		{"a stack that the runtime got wrong", stackwalk.Thread{OS: osThread(stackAt+0x100, 0), Managed: managed(stackAt+0x800, stackAt)},
			[]target.Range{{Start: stackAt + 0x100, End: stackAt + 0x2000}}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := tt.thread.Stack(d.Target())
			require.NoError(t, err)
			assert.Equal(t, tt.want, s.Ranges)
			assert.Equal(t, tt.alternate, s.Alternate)
		})
	}
	for name, th := range map[string]stackwalk.Thread{
		"dead": {Index: -1, Managed: managed(stackAt, stackAt+0x800)}, "no stack pointer": {OS: osThread(0, 0)}, "no mapping": {OS: osThread(0x900000, 0)},
	} {
		_, err := th.Stack(d.Target())
		assert.ErrorIs(t, err, target.ErrNotInDump, name)
	}
}

func TestApartment(t *testing.T) {
	d := threadDump(t)
	tests := []struct {
		name   string
		thread stackwalk.Thread
		want   threads.Apartment
		err    error
	}{
		{"Linux", stackwalk.Thread{OS: osThread(0, 0)}, threads.ApartmentUnknown, nil},
		{"flags", stackwalk.Thread{OS: osThread(0, tebAt)}, threads.ApartmentSTA, nil},
		{"COM is not initialized", stackwalk.Thread{OS: osThread(0, teb2At)}, threads.ApartmentUnknown, nil},
		{"missing", stackwalk.Thread{OS: osThread(0, 0x900000)}, threads.ApartmentUnknown, target.ErrNotInDump},
		{"missing, but the runtime knows", stackwalk.Thread{OS: osThread(0, 0x900000), Managed: &dac.Thread{State: dac.ThreadInMTA}}, threads.ApartmentMTA, nil},
		{"missing, and the runtime does not know", stackwalk.Thread{OS: osThread(0, 0x900000), Managed: &dac.Thread{}}, threads.ApartmentUnknown, target.ErrNotInDump},
	}
	for _, tt := range tests {
		got, err := threads.ApartmentOf(&tt.thread, d.Target())
		assert.Equal(t, tt.want, got, tt.name)
		assert.ErrorIs(t, err, tt.err, tt.name)
	}
	assert.Equal(t, "STA", threads.ApartmentSTA.String())
	assert.Equal(t, "Ukn", threads.ApartmentUnknown.String())
}
