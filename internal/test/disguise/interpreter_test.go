package disguise_test

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/image/codeinfo"
	"github.com/sosgo/sosgo/internal/test/disguise"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A newMemory adds structures to the memory of a disguised process.
type newMemory struct {
	damage []testcase.Damage
	next   target.Addr
}

func (m *newMemory) bytes(b []byte) target.Addr {
	at := m.next
	b = append(b, make([]byte, 64)...) // for readers that read ahead
	m.damage = append(m.damage, testcase.Damage{At: at, Bytes: b})
	m.next += target.Addr(len(b)+31) &^ 31
	return at
}

func (m *newMemory) words(w ...uint64) target.Addr {
	var b []byte
	for _, v := range w {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return m.bytes(b)
}

// compiled returns a thread and its frame of a compiled method with an IL map and variables and, if
// lines is set, a source line.
func compiled(t *testing.T, v *sosgo.View, lines bool) (*dac.Thread, stackwalk.Frame) {
	rt, err := v.Runtime()
	require.NoError(t, err)
	w, err := v.Walker()
	require.NoError(t, err)
	list, err := v.Threads()
	require.NoError(t, err)
	for _, th := range list {
		if th.OS == nil || th.Managed == nil || th.Managed.Frame == 0 {
			continue
		}
		for f := range w.Walk(t.Context(), th.Managed, th.OS.Registers, stackwalk.WalkOptions{}) {
			if f.Kind != stackwalk.FrameManaged || f.Code.Kind != dac.CodeJIT {
				continue
			}
			il, ok, err := dac.CodeOf(rt).ILOffset(f.CallSite())
			vars, varsErr := dac.CodeOf(rt).Variables(f.Code)
			if line, lineErr := f.SourceLine(); ok && il > 0 && err == nil && varsErr == nil && len(vars) > 0 && (!lines || lineErr == nil && line.Line > 0) {
				return th.Managed, f
			}
		}
	}
	t.Fatal("no thread has such a frame")
	return nil, stackwalk.Frame{}
}

// TestInterpretedStack makes a thread run two methods of its program in the interpreter of .NET 11.
// They have the places, source lines and arguments of the compiled method. Addresses in their byte
// code have the method's name.
func TestInterpretedStack(t *testing.T) {
	interpret(t, testdump.Open(t, "net10-stacks"), false) // the dump has no PDBs
}

func TestInterpretedLines(t *testing.T) {
	testdump.Corpus(t, testcase.Named("net10-stacks-withheap"), func(t *testing.T, d *testdump.Dump) int {
		testcase.NeedModules(t, d.Case)
		interpret(t, d, true)
		return 1
	})
}

func interpret(t *testing.T, c *testdump.Dump, lines bool) {
	plain, err := c.View("")
	require.NoError(t, err)
	rt, err := plain.Runtime()
	require.NoError(t, err)
	thread, f := compiled(t, plain, lines)
	r := dac.CodeOf(rt)
	want, lineErr := f.SourceLine()
	wantName, err := f.Name()
	require.NoError(t, err)
	il, ok, err := r.ILOffset(f.CallSite())
	require.NoError(t, err)
	require.True(t, ok)

	// The byte code: the instruction at 40 calls, like the compiled one, and the IL of the method
	// begins at 8.
	m := &newMemory{next: disguise.New}
	bounds := synth.Bounds([]synth.Mapping{{Native: 8, IL: 0}, {Native: 40, IL: uint32(il)}, {Native: 48, IL: uint32(il) + 100}}, 2)
	// The first argument, 16 bytes from the frame pointer.
	args := (&synth.Nibbles{}).Uint(1, 8, 100, 4, uint32(codeinfo.LocStack), 5).Int(16)
	debug := append([]byte{0}, (&synth.Nibbles{}).Uint(uint32(len(bounds)), uint32(len(args.B))).B...)
	info := m.bytes(append(append(debug, bounds...), args.B...))
	header := m.words(uint64(f.Code.Method.Addr), uint64(info))
	method := m.words(uint64(f.Code.Method.Addr))
	heapStart := m.words(0, 0, 0, uint64(header), uint64(method), 0, 0, 0, 0, 0, 0, 0)
	start := heapStart + 32
	const this = 0x123456780
	stack := m.words(0, 0, this)
	// StartIp, ParentPtr, Ip, NextPtr, Stack: returns after the call.
	outer := m.words(uint64(start), 0, uint64(start)+48, 0, uint64(stack))
	inner := m.words(uint64(start), uint64(outer), uint64(start)+40, 0, uint64(stack))
	m.damage = append(m.damage, testcase.Words(outer+24, uint64(inner)))

	// The frame is below the thread's first one.
	const identifier = 0x77
	frame := thread.Frame - 128
	m.damage = append(m.damage, testcase.Words(frame, identifier, uint64(thread.Frame), 0, 0, uint64(outer), 1))
	m.damage = append(m.damage, testcase.Words(thread.Addr+offset(t, rt, "Thread", "Frame"), uint64(frame)))

	// From the map of code ranges to the byte code.
	nibbles := m.words(1 << (28 - 4))
	var list target.Addr
	places := map[string]int{"Next": 0, "StartAddress": 8, "EndAddress": 16, "MapBase": 24, "HeaderMap": 32, "Heap": 40}
	node := func(typ string, at map[string]int, v map[string]uint64) target.Addr {
		b := make([]byte, 256)
		for name, p := range at {
			off := p
			if o, err := rt.Layout().Offset(typ, name); err == nil {
				off = o
			}
			binary.LittleEndian.PutUint64(b[off:], v[name])
		}
		return m.bytes(b)
	}
	list = node("CodeHeapListNode", places, map[string]uint64{"StartAddress": uint64(heapStart), "EndAddress": uint64(heapStart) + 96, "MapBase": uint64(heapStart), "HeaderMap": uint64(nibbles)})
	section := node("RangeSection", map[string]int{"RangeBegin": 0, "RangeEndOpen": 8, "HeapList": 16, "Flags": 24, "JitManager": 32},
		map[string]uint64{"RangeBegin": uint64(heapStart), "RangeEndOpen": uint64(heapStart) + 96, "HeapList": uint64(list), "Flags": 2 | 8, "JitManager": uint64(list)})
	next := node("RangeSectionFragment", map[string]int{"RangeBegin": 0, "RangeEndOpen": 8, "RangeSection": 16, "Next": 24},
		map[string]uint64{"RangeBegin": uint64(heapStart), "RangeEndOpen": uint64(heapStart) + 96, "RangeSection": uint64(section)})
	for shift := 17; shift < 49; shift += 8 {
		b := make([]byte, 8*256)
		binary.LittleEndian.PutUint64(b[8*(uint64(heapStart)>>shift&255):], uint64(next))
		next = m.bytes(b)
	}
	codeMap, err := rt.Layout().Variable("ExecutionManagerCodeRangeMapAddress")
	require.NoError(t, err)
	m.damage = append(m.damage, testcase.Words(codeMap+offset(t, rt, "RangeSectionMap", "TopLevelData")+target.Addr(8*(uint64(heapStart)>>49&255)), uint64(next)))

	d := disguise.OpenWith(t, c.Path, c.Options(), disguise.Changes{Damage: m.damage, Globals: map[string]uint64{"InterpreterFrameIdentifier": identifier},
		Members: map[string]map[string]int{"InterpreterFrame": {"TopInterpMethodContextFrame": 32, "IsFaulting": 40},
			"InterpMethodContextFrame": {"StartIp": 0, "ParentPtr": 8, "Ip": 16, "NextPtr": 24, "Stack": 32}, "InterpByteCodeStart": {"Method": 0},
			"InterpMethod": {"MethodDesc": 0}, "InterpreterRealCodeHeader": {"MethodDesc": 0, "DebugInfo": 8, "GCInfo": 16}}})
	v, err := d.View("")
	require.NoError(t, err)
	w, err := v.Walker()
	require.NoError(t, err)
	all, err := v.Threads()
	require.NoError(t, err)
	i := slices.IndexFunc(all, func(th stackwalk.Thread) bool { return th.Managed != nil && th.Managed.Addr == thread.Addr })
	var got []stackwalk.Frame
	for f := range w.Walk(t.Context(), all[i].Managed, all[i].OS.Registers, stackwalk.WalkOptions{}) {
		if f.Kind == stackwalk.FrameManaged && f.Code.Kind == dac.CodeInterpreted || strings.HasPrefix(f.Explicit.Class, "Interpreter") {
			got = append(got, f)
		}
	}
	require.Len(t, got, 3, "two methods, and the frame that stands for them")
	assert.Equal(t, stackwalk.FrameExplicit, got[2].Kind)
	for i, exact := range []bool{true, false} {
		f := &got[i]
		assert.Equal(t, exact, f.Exact)
		assert.Equal(t, frame, f.SP)
		name, err := f.Name()
		require.NoError(t, err)
		assert.Equal(t, wantName, name)
		offset, ok, err := dac.CodeOf(f.Runtime).ILOffset(f.CallSite())
		require.NoError(t, err)
		assert.True(t, ok)
		assert.Equal(t, il, offset, "method %d", i)
		line, err := f.SourceLine()
		assert.Equal(t, want, line, "method %d", i)
		assert.Equal(t, lineErr, err)
		vars, err := dac.CodeOf(f.Runtime).Variables(f.Code)
		require.NoError(t, err)
		place, ok := codeinfo.Locate(vars, 0, f.Code.Offset)
		require.True(t, ok)
		at, ok := place.Address(&f.Regs)
		require.True(t, ok)
		assert.Equal(t, stack+16, at)
	}
	unread := 0
	for root, err := range w.Roots(t.Context(), all[i].Managed, all[i].OS.Registers) {
		if root.FrameSP == frame {
			assert.ErrorIs(t, err, target.ErrUnsupported, "the variables of interpreted methods")
			unread++
		}
	}
	assert.Equal(t, 3, unread)
	answer, err := dac.CodeOf(got[0].Runtime).DescribeMethodAt(start + 40)
	require.NoError(t, err)
	assert.Equal(t, wantName, answer.Name.Value)
	assert.Equal(t, start, answer.Code.Value)
	assert.False(t, answer.Jitted.Value)
	if lines {
		require.NotNil(t, answer.Source)
		assert.Equal(t, want.Line, answer.Source.Line)
	}
}

func offset(t *testing.T, rt *dac.Runtime, typ, field string) target.Addr {
	off, err := rt.Layout().Offset(typ, field)
	require.NoError(t, err)
	return target.Addr(off)
}
