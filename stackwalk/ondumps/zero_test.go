package ondumps_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

func TestZeroValues(t *testing.T) {
	var f stackwalk.Frame
	name, err := f.Name()
	assert.Empty(t, name)
	assert.NoError(t, err)
	_, err = f.SourceLine()
	assert.ErrorIs(t, err, target.ErrUnsupported)
	_, err = f.GenericContext()
	assert.ErrorIs(t, err, target.ErrUnsupported)
	_, _, err = stackwalk.Variables(&f, nil)
	assert.ErrorIs(t, err, target.ErrUnsupported)
	md, err := (&stackwalk.Frame{Kind: stackwalk.FrameExplicit}).Method()
	assert.Nil(t, md)
	assert.NoError(t, err)

	var v stackwalk.Variable
	_, err = v.TypeName(0)
	assert.ErrorIs(t, err, target.ErrUnsupported)
	_, err = v.Value()
	assert.ErrorIs(t, err, target.ErrUnsupported)
	_, err = v.Word()
	assert.ErrorIs(t, err, target.ErrUnsupported)
	assert.Empty(t, v.Register())
}

// TestThreadsWithoutManagedPart walks all threads as if no runtime knew them. A cancelled walk yields nothing more.
func TestThreadsWithoutManagedPart(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	w, err := d.Walker()
	require.NoError(t, err)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	native := stackwalk.WalkOptions{Native: true}
	for _, th := range d.Target().Threads() {
		frames := slices.Collect(w.Walk(context.Background(), nil, th.Registers, native))
		require.NotEmpty(t, frames)
		ip, _ := th.Registers.IP()
		assert.Equal(t, ip, frames[0].IP)
		frames = slices.Collect(w.Walk(ended, nil, th.Registers, native))
		require.Len(t, frames, 1)
		assert.ErrorIs(t, frames[0].Err, context.Canceled)
	}
}

// TestNoRegisters: a thread without registers has an error instead of a frame of zeros.
func TestNoRegisters(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	w, err := d.Walker()
	require.NoError(t, err)
	frames := slices.Collect(w.Walk(t.Context(), nil, target.Registers{}, stackwalk.WalkOptions{Native: true}))
	require.Len(t, frames, 1)
	assert.ErrorIs(t, frames[0].Err, target.ErrNotInDump)
	var gaps answer.Gaps
	x := threads.NewDescriber(threads.DescribeOptions{}, &gaps).Frame(&frames[0])
	assert.ErrorIs(t, x.IP.Err(), target.ErrNotInDump)
	assert.ErrorIs(t, x.SP.Err(), target.ErrNotInDump)
	regs := target.Registers{Arch: target.ArchAMD64}
	regs.SetIP(0)
	x = threads.NewDescriber(threads.DescribeOptions{}, &gaps).Frame(&stackwalk.Frame{Kind: stackwalk.FrameNative, Regs: regs})
	assert.Equal(t, answer.Known(target.Addr(0)), x.IP, "a call through a null pointer")
}
