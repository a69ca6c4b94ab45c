package ondumps_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A raiser is a process with a dump that was written for an exception.
type raiser struct {
	target.Target
	x     *target.Exception
	words map[target.Addr]uint64 // words that differ from the dump
}

func (r raiser) Exception() (target.Exception, bool) { return *r.x, r.x.ThreadID != 0 }

func (r raiser) ReadMemory(b []byte, a target.Addr) (int, error) {
	n, err := r.Target.ReadMemory(b, a)
	for at, v := range r.words {
		if off := at - a; off < target.Addr(n) {
			copy(b[off:n], binary.LittleEndian.AppendUint64(nil, v))
		}
	}
	return n, err
}

func (r raiser) View(target.Addr, int) ([]byte, bool) { return nil, false }

func (r raiser) Span(target.Addr) []byte { return nil }

// NextStored implements target.SparseMemory.
func (r raiser) NextStored(a target.Addr) (target.Addr, bool) { return target.NextStored(r.Target, a) }

// TestWalkFromException: the stack of the thread that raised the exception starts where it did, even if no frame leads
// there from the handler. It does not if managed code has run since, or for another thread.
func TestWalkFromException(t *testing.T) {
	for _, name := range []string{"net10-zoo", "net8-zoo", "net31-zoo"} {
		raw, err := dump.Open(testdump.Open(t, name).Case.Path, dump.Options{})
		require.NoError(t, err)
		defer raw.Close()
		process := raiser{Target: raw, x: &target.Exception{}, words: map[target.Addr]uint64{}}
		rt, err := dac.Find(process, process, nil)[0].Open()
		require.NoError(t, err)
		list, err := rt.Threads()
		require.NoError(t, err)
		// The main thread sleeps: native code called by a managed method.
		thread := &list[0]
		var os target.Thread
		for _, th := range process.Threads() {
			if th.ID == thread.OSID {
				os = th
			}
		}
		walk := func(o stackwalk.WalkOptions) (managed []target.Addr, first stackwalk.Frame, second target.Registers) {
			begun := false
			for f := range stackwalk.NewWalker(rt).Walk(t.Context(), thread, os.Registers, o) {
				if !begun {
					first, begun = f, true
				}
				assert.False(t, f.AtException && f.SP != first.SP, "the first alone")
				if f.Kind == stackwalk.FrameManaged {
					if managed = append(managed, f.SP); len(managed) == 2 {
						second = f.Regs
					}
					if len(managed) == 1 && process.x.ThreadID == 0 {
						process.x.Registers = f.Regs
					}
				}
			}
			return managed, first, second
		}
		want, first, second := walk(stackwalk.WalkOptions{})
		require.Greater(t, len(want), 2, name)
		assert.False(t, first.AtException)

		at := process.x.Registers
		process.x.ThreadID = os.ID
		got, first, _ := walk(stackwalk.WalkOptions{})
		assert.Equal(t, want, got, name)
		assert.True(t, first.AtException, name)
		got, first, _ = walk(stackwalk.WalkOptions{Now: true})
		assert.Equal(t, want, got, name)
		assert.False(t, first.AtException, name)

		process.x.Registers = second
		got, first, _ = walk(stackwalk.WalkOptions{})
		assert.Equal(t, want, got, "%s: managed code that ran since", name)
		assert.False(t, first.AtException, name)
		process.x.Registers, process.x.ThreadID = at, os.ID+1
		_, first, _ = walk(stackwalk.WalkOptions{})
		assert.False(t, first.AtException, "%s: another thread raised it", name)

		process.x.ThreadID = os.ID
		off, err := rt.Layout().Offset("Thread", "Frame")
		require.NoError(t, err)
		process.words[thread.Addr+target.Addr(off)] = ^uint64(0)
		rt, err = dac.Find(process, process, nil)[0].Open()
		require.NoError(t, err)
		list, err = rt.Threads()
		require.NoError(t, err)
		thread = &list[0]
		got, _, _ = walk(stackwalk.WalkOptions{Now: true})
		assert.Empty(t, got, "%s: nothing leads from the handler to managed code", name)
		got, first, _ = walk(stackwalk.WalkOptions{})
		assert.Equal(t, want, got, name)
		assert.True(t, first.AtException, name)
	}
}
