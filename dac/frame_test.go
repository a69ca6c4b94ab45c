package dac

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// frameStack is a stack that starts at frameBase. All other memory is missing.
type frameStack []byte

const frameBase = target.Addr(0x7fff0000)

func (m frameStack) Span(a target.Addr) []byte {
	if a < frameBase {
		return nil
	}
	return layout.BytesMemory(m).Span(a - frameBase)
}

func (m frameStack) View(a target.Addr, n int) ([]byte, bool) {
	s := m.Span(a)
	if n > len(s) {
		return nil, false
	}
	return s[:n:n], true
}

func (m frameStack) ReadMemory(p []byte, a target.Addr) (int, error) {
	n := copy(p, m.Span(a))
	if n < len(p) {
		return n, &target.MemoryError{Addr: a + target.Addr(n), Size: len(p) - n, Err: target.ErrNotInDump}
	}
	return n, nil
}

// The layout of the frames in tests, with arbitrary offsets.
const frameLayoutJSON = `{"types": {
	"Frame": {"Next": 8},
	"InlinedCallFrame": {"Datum": 16, "CallSiteSP": 24, "CallerReturnAddress": 32, "CalleeSavedFP": 40},
	"FramedMethodFrame": {"TransitionBlockPtr": 16, "MethodDesc": 24},
	"TransitionBlock": {"!": 56, "CalleeSavedRegisters": 0, "ReturnAddress": 48},
	"HelperMethodFrame": {"MethodDesc": 16, "FCallEntry": 24, "MachStateRip": 32, "MachStateRsp": 40, "MachStateCapture": 48,
		"MachStatePtrs": 96, "MachStateRetAddrPtr": 144, "MachStateUnwound": 152, "CaptureRip": 200, "CaptureRsp": 208},
	"SoftwareExceptionFrame": {"TargetContext": 16},
	"FaultingExceptionFrame": {"TargetContext": 16},
	"ResumableFrame": {"TargetContextPtr": 16},
	"HijackFrame": {"ReturnAddress": 16, "HijackArgsPtr": 24},
	"GCFrame": {"Next": 0, "CurThread": 8, "ObjRefsPtr": 16, "NumObjRefs": 24, "MaybeInterior": 28},
	"InterpreterFrame": {"TopInterpMethodContextFrame": 32},
	"InterpMethodContextFrame": {"ParentPtr": 0, "NextPtr": 8, "Ip": 16, "StartIp": 24},
	"InterpByteCodeStart": {"Method": 0}, "InterpMethod": {"MethodDesc": 8},
	"HijackArgs": {"!": 56, "CalleeSavedRegisters": 8},
	"CalleeSavedRegisters": {"R12": 0, "R13": 8, "R14": 16, "R15": 24, "Rbx": 32, "Rbp": 40}},
	"globals": {"InlinedCallFrameIdentifier": ["0x1", "nuint"], "PrestubMethodFrameIdentifier": ["0x2", "nuint"],
		"HelperMethodFrameIdentifier": ["0x3", "nuint"], "SoftwareExceptionFrameIdentifier": ["0x4", "nuint"],
		"FaultingExceptionFrameIdentifier": ["0x5", "nuint"], "ResumableFrameIdentifier": ["0x6", "nuint"],
		"HijackFrameIdentifier": ["0x7", "nuint"], "DebuggerExitFrameIdentifier": ["0x8", "nuint"], "InterpreterFrameIdentifier": ["0x9", "nuint"]}, "contracts": {"StackWalk": 1, "Thread": 1}, "version": 0, "baseline": "empty"}`

// linuxTarget is a process with only a platform.
type linuxTarget struct{ target.Target }

func (linuxTarget) Platform() target.Platform {
	return target.Platform{OS: target.OSLinux, Arch: target.ArchAMD64}
}

func (linuxTarget) Threads() []target.Thread { return nil }

func frameRuntime(t testing.TB, stack []byte) *Runtime {
	p, err := layout.ParseDescriptor([]byte(frameLayoutJSON), "test")
	require.NoError(t, err)
	b := layout.NewBuilder()
	b.Add(p, layout.Addresses{})
	r := &Runtime{tgt: linuxTarget{}, mem: frameStack(stack), layout: *b.Layout()}
	r.impl = clr{r}
	return r
}

func stackWords(v ...uint64) []byte {
	var b []byte
	for _, w := range v {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

const frameEnd = ^uint64(0)

func TestFrameChain(t *testing.T) {
	at := func(n int) uint64 { return uint64(frameBase) + uint64(8*n) }
	for _, tc := range []struct {
		name  string
		stack []byte
		want  []string
		err   error
	}{
		{"two", stackWords(1, at(2), 8, frameEnd), []string{"InlinedCallFrame", "DebuggerExitFrame"}, nil},
		{"cycle", stackWords(1, at(2), 8, at(0)), []string{"InlinedCallFrame"}, target.ErrCorrupt},
		{"itself", stackWords(1, at(0)), nil, target.ErrCorrupt},
		{"unknown class", stackWords(1, at(2), 99, frameEnd), []string{"InlinedCallFrame"}, target.ErrCorrupt},
		{"cut off", stackWords(1, at(2), 8), []string{"InlinedCallFrame"}, target.ErrNotInDump},
		{"outside of the stack", stackWords(1, uint64(frameBase)+1<<20), []string{"InlinedCallFrame"}, target.ErrCorrupt},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := frameRuntime(t, tc.stack)
			th := &Thread{Frame: frameBase, Stack: target.Range{Start: frameBase, End: frameBase + 0x1000}}
			var got []string
			var last error
			for f, err := range r.Frames(th) {
				if last = err; err == nil {
					got = append(got, f.Class)
				}
			}
			assert.Equal(t, tc.want, got)
			assert.ErrorIs(t, last, tc.err)
		})
	}
}

func TestFrameCaller(t *testing.T) {
	context := func(front ...uint64) []byte {
		b := stackWords(front...)
		b = append(b, make([]byte, 0x78)...) // RAX comes first
		for i := range uint64(17) {
			b = append(b, stackWords(100+i)...)
		}
		return b
	}
	base := uint64(frameBase)
	for _, tc := range []struct {
		name  string
		stack []byte
		how   FrameCaller
		want  map[target.Reg]uint64
	}{
		{"call", stackWords(1, frameEnd, 0, 0x5000, 0x1234, 0x6000), CallerReturn,
			map[target.Reg]uint64{target.RIP: 0x1234, target.RSP: 0x5000, target.RBP: 0x6000}},
		{"no call", stackWords(1, frameEnd, 0, 0x5000, 0, 0x6000), CallerNone, map[target.Reg]uint64{target.RIP: 1}},
		{"transition", stackWords(2, frameEnd, base+32, 0, 12, 13, 14, 15, 3, 5, 0x1234), CallerReturn,
			map[target.Reg]uint64{target.RIP: 0x1234, target.RSP: base + 32 + 56, target.RBX: 3, target.RBP: 5, target.R15: 15}},
		{"helper, computed", append(append(stackWords(3, frameEnd, 0, 0, 0x1234, 0x5000), make([]byte, 96)...), stackWords(1, 12, 13, 14, 15, 3, 5, 0, 0)...),
			CallerReturn, map[target.Reg]uint64{target.RIP: 0x1234, target.RSP: 0x5000, target.RBX: 3, target.R12: 12}},
		{"helper, lazy", append(append(stackWords(3, frameEnd, 0, 0, 0, 0, 12, 13, 14, 15, 3, 5), make([]byte, 104)...), stackWords(0x777, 0x5000)...),
			CallerNative, map[target.Reg]uint64{target.RIP: 0x777, target.RSP: 0x5008, target.RBX: 3}},
		{"throw", context(4, frameEnd), CallerReturn, map[target.Reg]uint64{target.RIP: 116, target.RSP: 104, target.RBX: 103, target.RAX: 0}},
		{"fault", context(5, frameEnd), CallerInterrupted, map[target.Reg]uint64{target.RIP: 116, target.RAX: 100}},
		{"redirected", context(6, frameEnd, base+24), CallerInterrupted, map[target.Reg]uint64{target.RIP: 116, target.RAX: 100}},
		{"hijack", stackWords(7, frameEnd, 0x1234, base+32, 0, 12, 13, 14, 15, 3, 5), CallerReturn,
			map[target.Reg]uint64{target.RIP: 0x1234, target.RSP: base + 32 + 56, target.RBX: 3}},
		{"marker", stackWords(8, frameEnd), CallerNone, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := frameRuntime(t, tc.stack)
			f, err := r.Frame(frameBase)
			require.NoError(t, err)
			regs := target.Registers{Arch: target.ArchAMD64}
			regs.Set(target.RIP, 1)
			regs.Set(target.RAX, 7)
			how, err := r.FrameCaller(&f, &regs)
			require.NoError(t, err)
			assert.Equal(t, tc.how, how)
			for reg, v := range tc.want {
				got, _ := regs.Get(reg)
				assert.Equal(t, v, got, target.RegName(target.ArchAMD64, reg))
			}

			// Every cut of the frame is missing memory and must not change registers.
			for n := 16; n < len(tc.stack)-8 && tc.how != CallerNone; n += 8 {
				r := frameRuntime(t, tc.stack[:n])
				was := target.Registers{Arch: target.ArchAMD64}
				regs := was
				if how, err := r.FrameCaller(&f, &regs); err != nil {
					assert.ErrorIs(t, err, target.ErrNotInDump)
					assert.Equal(t, CallerNone, how)
					assert.Equal(t, was, regs)
				}
			}
		})
	}
}

func TestInlinedMethod(t *testing.T) {
	for datum, want := range map[uint64]target.Addr{0: 0, 0x7f0000001: 0, 0xfffe: 0, 0x7f0000010: 0x7f0000010, 0x7f0000012: 0x7f0000010, 0x7f0000016: 0x7f0000010} {
		r := frameRuntime(t, stackWords(1, frameEnd, datum, 0, 0x1234, 0))
		f, err := r.Frame(frameBase)
		require.NoError(t, err)
		md, err := r.FrameMethod(&f)
		require.NoError(t, err)
		assert.Equal(t, want, md)
	}
}

func FuzzFrames(f *testing.F) {
	at := func(n int) uint64 { return uint64(frameBase) + uint64(8*n) }
	f.Add(stackWords(1, at(6), 0, 0x5000, 0x1234, 0x6000, 8, frameEnd))
	f.Add(stackWords(2, at(4), at(4), 0, 7, at(8), 0x1234, at(9), 6, frameEnd, at(0)))
	f.Add(append(stackWords(3, frameEnd), make([]byte, 256)...))
	f.Fuzz(func(t *testing.T, stack []byte) {
		r := frameRuntime(t, stack)
		th := &Thread{Frame: frameBase, Stack: target.Range{Start: frameBase, End: frameBase + target.Addr(len(stack))}}
		n := 0
		for fr, err := range r.Frames(th) {
			if n++; n > len(stack)+1 {
				t.Fatalf("%d frames on a stack of %d bytes", n, len(stack))
			}
			if err != nil {
				continue
			}
			regs := target.Registers{Arch: target.ArchAMD64}
			_, _ = r.FrameCaller(&fr, &regs)
			_, _ = r.FrameMethod(&fr)
		}
	})
}

// TestInterpreted checks the methods of an InterpreterFrame for each method that its hint may refer to.
func TestInterpreted(t *testing.T) {
	at := func(n int) uint64 { return uint64(frameBase) + uint64(8*n) }
	const outer, middle, inner, left, codes = 8, 12, 16, 20, 24
	stack := func(hint uint64) []byte {
		b := stackWords(9, frameEnd, 0, 0, hint, 0, 0, 0)
		b = append(b, stackWords(0, at(middle), 0x10, at(codes))...)
		b = append(b, stackWords(at(outer), at(inner), 0x20, at(codes+1))...)
		b = append(b, stackWords(at(middle), at(left), 0x30, at(codes+2))...)
		b = append(b, stackWords(at(inner), 0, 0, at(codes))...) // has returned
		b = append(b, stackWords(at(codes+3), at(codes+4), at(codes+5), 0)...)
		return append(b, stackWords(0xa, 0xb, 0xc)...) // MethodDescs of the InterpMethods from codes+3 on, which overlap
	}
	for _, hint := range []int{outer, middle, inner, left} {
		r := frameRuntime(t, stack(at(hint)))
		f, err := r.Frame(frameBase)
		require.NoError(t, err)
		got, err := r.Interpreted(&f)
		require.NoError(t, err)
		assert.Equal(t, []InterpretedMethod{{MethodDesc: 0xc, IP: 0x30}, {MethodDesc: 0xb, IP: 0x20}, {MethodDesc: 0xa, IP: 0x10}}, got, "hint %d", hint)
	}
	r := frameRuntime(t, stack(0))
	f, err := r.Frame(frameBase)
	require.NoError(t, err)
	got, err := r.Interpreted(&f)
	require.NoError(t, err)
	assert.Empty(t, got)
	assert.ErrorIs(t, r.UnreadReferences(&f), target.ErrUnsupported, "their variables are not read")
	r = frameRuntime(t, stack(at(1000)))
	_, err = r.Interpreted(&f)
	assert.ErrorIs(t, err, target.ErrNotInDump)
	circle := stack(at(inner))
	binary.LittleEndian.PutUint64(circle[8*outer:], at(inner))
	r = frameRuntime(t, circle)
	_, err = r.Interpreted(&f)
	assert.ErrorIs(t, err, target.ErrCorrupt)
}
