package dac

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// openInstance finds the runtime of a canned dump, as if it ran on the processor arch.
func openInstance(t *testing.T, name string, arch target.Arch) *Instance {
	d, err := dump.Open(testcase.Canned(t, name).Path, dump.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	all := Find(onProcessor{d, arch}, d, nil)
	require.Len(t, all, 1)
	return all[0]
}

// onProcessor is a process that reports another processor.
type onProcessor struct {
	target.Target
	arch target.Arch
}

func (p onProcessor) Platform() target.Platform {
	out := p.Target.Platform()
	out.Arch = p.arch
	return out
}

// TestOtherProcessorIsRefused checks that no table opens a process with the structures of another processor.
// Locks of .NET 8 are larger on ARM64.
func TestOtherProcessorIsRefused(t *testing.T) {
	for _, version := range []string{"8.0.23", "8.0.33"} {
		inst := openInstance(t, "net8-zoo", target.ArchARM64)
		inst.version.Do(func() { inst.versionStr = version })
		_, err := inst.Open()
		require.ErrorAs(t, err, new(*LayoutError), version)
	}
}

// TestBorrowedTableOpens opens .NET 8 on ARM64 Windows, which has no descriptor and only a table for x64. The
// table opens it if all probes pass, and ForeignLayout reports it.
func TestBorrowedTableOpens(t *testing.T) {
	for _, version := range []string{"8.0.23", "7.0.5", ""} {
		inst := openInstance(t, "win-net8-zoo", target.ArchARM64)
		inst.version.Do(func() { inst.versionStr = version })
		rt, err := inst.Open()
		require.NoError(t, err, version)
		require.Equal(t, "8.0 on x64", rt.ForeignLayout(), version)
		require.Empty(t, unpassed(rt.probes))
		require.Contains(t, rt.LayoutSources()[len(rt.LayoutSources())-1], "another processor")
	}
}

// TestBorrowedTableMoves uses the table of x64 with the descriptor of a process on ARM64. It must give the same
// threads and types as the measured table.
func TestBorrowedTableMoves(t *testing.T) {
	inst := openInstance(t, "net10-arm64", target.ArchARM64)
	want, err := inst.Open()
	require.NoError(t, err)
	require.Empty(t, want.ForeignLayout())
	own, tried := inst.ownParts()
	require.NotEmpty(t, own, "%v", tried)
	got, err := inst.try(own, layout.Borrowed(target.OSLinux, target.ArchARM64, "10.0")[0])
	require.NoError(t, err)
	require.Empty(t, unpassed(got.probes))
	require.Equal(t, "10.0 on x64", got.ForeignLayout())
	require.Equal(t, want.known, got.known)
	threads, err := got.Threads()
	require.NoError(t, err)
	wanted, err := want.Threads()
	require.NoError(t, err)
	require.Equal(t, wanted, threads)
}

// TestBorrowedTableIsRefused uses the table of x64 for an ARM64 process without a descriptor. It has the wrong
// offsets for stacks.
func TestBorrowedTableIsRefused(t *testing.T) {
	inst := openInstance(t, "net10-arm64", target.ArchARM64)
	rt, err := inst.try(nil, layout.Borrowed(target.OSLinux, target.ArchARM64, "10.0")[0])
	if err == nil {
		require.NotEmpty(t, unpassed(rt.probes))
	}
}

// TestThreadsOfNoDomain checks that threads with another AppDomain than the process's fail the probe.
func TestThreadsOfNoDomain(t *testing.T) {
	rt, mem := overlaid(t, "net31-zoo")
	threads, err := rt.Threads()
	require.NoError(t, err)
	_, err = rt.probeThreads()
	require.NoError(t, err)
	offset, err := rt.layout.Offset("Thread", "Domain")
	require.NoError(t, err)
	var damage []testcase.Damage
	for i := range threads {
		damage = append(damage, testcase.Words(threads[i].Addr+target.Addr(offset), 0x1000))
	}
	require.NotEmpty(t, damage)
	mem.Set(damage...)
	_, err = rt.probeThreads()
	require.ErrorContains(t, err, "managed threads runs in the AppDomain")
	mem.Set(damage[1:]...)
	_, err = rt.probeThreads()
	require.NoError(t, err, "one of them does")
}
