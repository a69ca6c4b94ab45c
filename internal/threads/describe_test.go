package threads_test

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

// TestDescriptions: the scenario "zoo" has several managed threads, among them the finalizer thread, and a held lock.
func TestDescriptions(t *testing.T) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		if d.Manifest.Scenario != "zoo" {
			t.Skip("another scenario")
		}
		list, err := d.Threads()
		require.NoError(t, err)
		rt, err := d.Runtime()
		require.NoError(t, err)

		described := threads.DescribeOS(d.Target(), list, &list[0])
		require.Len(t, described.Threads, len(d.Target().Threads()))
		assert.True(t, described.Threads[0].Current)
		for i := range described.Threads {
			require.NotNil(t, described.Threads[i].Index)
			assert.Equal(t, i, *described.Threads[i].Index)
		}

		m, err := threads.DescribeManaged(context.Background(), d.Target(), rt, list, threads.ManagedOptions{Special: true})
		require.NoError(t, err)
		assert.Equal(t, int(m.Counts.Value.Threads), len(m.Threads))
		assert.NotNil(t, m.Special)
		finalizers := 0
		for i := range m.Threads {
			assert.Nil(t, m.Threads[i].Activity, "was not asked for")
			for _, s := range m.Threads[i].Special {
				if s == "Finalizer" {
					finalizers++
				}
			}
		}
		assert.Equal(t, 1, finalizers)

		all := threads.SyncBlocks(context.Background(), rt, list, threads.SyncBlockOptions{All: true})
		assert.ErrorIs(t, all.Total.Err(), answer.ErrUnread)
		rows := 0
		for b, err := range all.Blocks {
			rows++
			if err == nil && b.Held && b.Thread != 0 {
				require.NotNil(t, b.OwnerIndex)
				assert.Equal(t, b.OSID, list[*b.OwnerIndex].ID())
			}
		}
		if all.Failure() != nil {
			assert.ErrorIs(t, all.Failure(), target.ErrNotInDump, "a dump without the table")
			return
		}
		require.NoError(t, all.Total.Err())
		assert.Equal(t, all.Total.Value, rows)
	})
}

func TestSyncBlocksEndWithTheContext(t *testing.T) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		if d.Manifest.Scenario != "zoo" {
			t.Skip("another scenario")
		}
		rt, err := d.Runtime()
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		for _, err := range threads.SyncBlocks(ctx, rt, nil, threads.SyncBlockOptions{All: true}).Blocks {
			assert.ErrorIs(t, err, context.Canceled)
		}
	})
}

func TestDescribeRegisters(t *testing.T) {
	_, err := threads.DescribeRegisters(&stackwalk.Thread{Index: -1}, threads.RegisterOptions{})
	assert.ErrorIs(t, err, target.ErrNotInDump)

	th := stackwalk.Thread{OS: osThread(stackAt, 0)}
	d, err := threads.DescribeRegisters(&th, threads.RegisterOptions{Float: true})
	require.NoError(t, err)
	assert.Nil(t, d.Float)
	require.Len(t, d.Noted(), 1, "there is no FXSAVE area")
	assert.ErrorIs(t, d.Noted()[0], target.ErrNotInDump)
	assert.Len(t, d.Registers, len(target.AMD64().Context.Registers))
	for _, r := range d.Registers {
		if r.Name == "rsp" {
			assert.Equal(t, answer.Known(answer.Hex(stackAt)), r.Value)
		} else {
			assert.ErrorIs(t, r.Value.Err(), target.ErrNotInDump, r.Name)
		}
	}

	th.OS.Registers.Float = make([]byte, 512)
	th.OS.Registers.Float[24], th.OS.Registers.Float[32], th.OS.Registers.Float[40], th.OS.Registers.Float[168+16] = 1, 2, 3, 4
	d, err = threads.DescribeRegisters(&th, threads.RegisterOptions{Float: true})
	require.NoError(t, err)
	assert.Equal(t, answer.Hex(1), d.Float.MXCSR)
	assert.Equal(t, answer.WideRegister{Name: "st0", High: 3, Low: 2}, d.Float.ST[0])
	assert.Equal(t, answer.WideRegister{Name: "xmm1", High: 4}, d.Float.XMM[1])
	assert.Empty(t, d.Vectors)

	th.OS.Registers.Arch = target.ArchARM64
	d, err = threads.DescribeRegisters(&th, threads.RegisterOptions{Float: true})
	require.NoError(t, err)
	assert.Nil(t, d.Float)
	require.Len(t, d.Vectors, 32)
	assert.Equal(t, answer.WideRegister{Name: "v2", High: 3, Low: 2}, d.Vectors[2])
}

// TestRegistersOfTheException: the thread that raised the dump's exception has two sets of registers. The exception's
// are used.
func TestRegistersOfTheException(t *testing.T) {
	regs := func(ip uint64) target.Registers {
		r := target.Registers{Arch: target.ArchAMD64}
		r.Set(target.RIP, ip)
		return r
	}
	th := stackwalk.Thread{OS: &target.Thread{ID: 7, Registers: regs(1)}}
	ip := func(o threads.RegisterOptions) (answer.Maybe[answer.Hex], *answer.Registers) {
		d, err := threads.DescribeRegisters(&th, o)
		require.NoError(t, err)
		i := slices.IndexFunc(d.Registers, func(r answer.Register) bool { return r.Name == "rip" })
		return d.Registers[i].Value, d
	}
	v, d := ip(threads.RegisterOptions{Exception: &target.Exception{ThreadID: 7, Registers: regs(2)}})
	assert.Equal(t, answer.Known(answer.Hex(2)), v)
	assert.Equal(t, answer.RegistersException, d.Source)
	assert.True(t, d.Others)
	for name, x := range map[string]*target.Exception{
		"none": nil, "another thread's": {ThreadID: 8, Registers: regs(2)}, "the same": {ThreadID: 7, Registers: regs(1)}, "without": {ThreadID: 7},
	} {
		v, d := ip(threads.RegisterOptions{Exception: x})
		assert.Equal(t, answer.Known(answer.Hex(1)), v, name)
		assert.Equal(t, answer.RegistersThread, d.Source, name)
		assert.False(t, d.Others, name)
	}
}
