package crash_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A faulty process is a canned dump with a first thread that died of a signal. The thread runs the handler on a stack
// of its own.
type faulty struct {
	target.Target
	x     target.Exception
	other target.Range // the handler's stack
	bytes map[target.Addr]byte
	cut   target.Range // what is not in the dump
}

func (p *faulty) Exception() (target.Exception, bool) { return p.x, p.x.Words != "" }

func (p *faulty) ReadMemory(b []byte, a target.Addr) (int, error) {
	if p.cut.Contains(a) {
		return 0, target.ErrNotInDump
	}
	n, err := p.Target.ReadMemory(b, a)
	if p.other.Contains(a) && a+target.Addr(len(b)) <= p.other.End {
		n, err = len(b), nil
		clear(b)
	} else if p.other.Contains(a) {
		n = int(p.other.End - a)
		clear(b[:n])
	}
	for i := 0; i < len(b) && len(p.bytes) > 0; i++ {
		v, ok := p.bytes[a+target.Addr(i)]
		if !ok {
			continue
		}
		if b[i] = v; i >= n {
			n, err = i+1, nil
		}
	}
	if a < p.cut.Start && a+target.Addr(n) > p.cut.Start {
		n = int(p.cut.Start - a)
	}
	if n < len(b) && err == nil {
		err = target.ErrNotInDump
	}
	return n, err
}

func (p *faulty) View(target.Addr, int) ([]byte, bool) { return nil, false }
func (p *faulty) Span(target.Addr) []byte              { return []byte{} } // not nil: no block of it is cached

func (p *faulty) set(a target.Addr, b ...byte) {
	for i, v := range b {
		p.bytes[a+target.Addr(i)] = v
	}
}

func (p *faulty) word(a target.Addr, v uint64) {
	p.set(a, binary.LittleEndian.AppendUint64(nil, v)...)
}

// interrupt writes a signal frame, as the kernel does, for code at ip with its stack at sp.
func (p *faulty) interrupt(ip, sp target.Addr, rbx uint64) {
	a := p.other.Start + 0x400
	for off := target.Addr(0); off < 304; off += 8 {
		p.word(a+off, 0)
	}
	const rbxAt, rspAt, ripAt = 40 + 8*11, 40 + 8*15, 40 + 8*16
	p.word(a+rbxAt, rbx)
	p.word(a+rspAt, uint64(sp))
	p.word(a+ripAt, uint64(ip))
	p.word(a, 7)
	p.word(a+184, 0x2b<<48|0x33)
	p.word(a+224, uint64(a+0x200)&^63)
}

func openFaulty(t *testing.T) (*faulty, func() *crash.Subject, *dac.Runtime, *stackwalk.Thread) {
	return openFaultyOf(t, "net10-zoo")
}

func openFaultyOf(t *testing.T, name string) (*faulty, func() *crash.Subject, *dac.Runtime, *stackwalk.Thread) {
	d := testdump.Open(t, name)
	raw, err := dump.Open(d.Case.Path, dump.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { raw.Close() })
	p := &faulty{Target: raw, bytes: map[target.Addr]byte{}, other: target.Range{Start: 0x10000000, End: 0x10010000}}
	rt, err := dac.Find(p, p, nil)[0].Open()
	require.NoError(t, err)
	list, err := d.Threads()
	require.NoError(t, err)
	died := list[0]
	require.NotNil(t, died.Managed)
	regs := target.Registers{Arch: target.ArchAMD64}
	regs.SetIP(0x7fff00001000) // code without unwind data
	regs.SetSP(p.other.Start + 0x100)
	died.OS = &target.Thread{ID: died.OS.ID, Registers: regs}
	subject := func() *crash.Subject {
		opened, err := process.OpenTarget(p, process.Options{Offline: true})
		require.NoError(t, err)
		t.Cleanup(func() { opened.Close() })
		return crash.NewSubject(opened.Default(), died)
	}
	return p, subject, rt, &died
}

// TestFaults checks that a fault in native code has its position and its caller, including dumps that the process wrote
// in the signal handler, and its address if the kernel reports none.
func TestFaults(t *testing.T) {
	p, subject, rt, died := openFaulty(t)
	module := rt.Instance().Module
	ip := module.Base + 0x1230
	sp := died.Managed.Stack.End - 0x4000
	signal := func(number, code int32, a target.Addr) {
		s := &target.Signal{Number: number, Known: true, Code: code, Address: a, PID: p.Process().ID}
		p.x = target.Exception{ThreadID: died.OS.ID, Signal: s, Words: s.String()}
	}
	p.set(ip, 0x8b, 0x43, 0x08) // mov eax, [rbx+8]
	describe := func() *answer.Crash {
		return crash.DescribeSubject(t.Context(), subject())
	}

	signal(target.SIGSEGV, 1, 0x18)
	p.interrupt(ip, sp, 0x10)
	x := describe()
	assert.Regexp(t, `^libcoreclr.so\+0x1230 accessed 0x18, called from Debuggee\.`, strings.ReplaceAll(x.Likely, "System.Threading.Thread.Sleep(Int32)", "Debuggee."))
	require.NotEmpty(t, x.Contexts)
	assert.Equal(t, answer.Known(ip), x.Contexts[0].IP)
	assert.Equal(t, "what the signal interrupted", x.Contexts[0].Source)
	last := x.Verdicts[len(x.Verdicts)-1]
	assert.Equal(t, answer.StrengthLikely, last.Strength)
	assert.Contains(t, strings.Join(last.Evidence, "\n"), "found by pattern only")
	assert.Contains(t, strings.Join(last.Evidence, "\n"), "verifyheap")

	signal(target.SIGSEGV, target.SIKernel, 0)
	p.interrupt(ip, sp, 0xcdcdcdcdcdcdcdcd)
	x = describe()
	require.NotNil(t, x.Touched)
	assert.Equal(t, target.Addr(0xcdcdcdcdcdcdcdd5), x.Touched.Address)
	assert.Contains(t, x.Likely, "accessed 0xcdcdcdcdcdcdcdd5")
	const notSought = "an overwritten object with the accessed address in place of its MethodTable was not looked for"
	assert.NotContains(t, fmt.Sprint(x.Noted()), notSought)
	assert.ErrorContains(t, errors.Join(crash.DescribeWithoutHeap(t.Context(), subject()).Noted()...), notSought)

	signal(target.SIGSEGV, 1, 0x4242)
	p.interrupt(0x4242, sp, 0)
	assert.Contains(t, describe().Likely, "execution jumped to 0x4242, where there is no code")

	signal(target.SIGSEGV, target.SIUser, 0)
	assert.Empty(t, describe().Likely, "a process sent it: nothing had failed")

	signal(target.SIGABRT, target.SITkill, 0)
	assert.Contains(t, describe().Likely, "native code aborted the process")
	signal(target.SIGABRT, target.SIUser, 0)
	x = describe()
	assert.Empty(t, x.Likely, "whichever thread took it")
	assert.Equal(t, "the process sent itself SIGABRT (kill)", x.Reason)
	assert.Contains(t, x.Verdicts[0].Evidence[0], ", which received it, and need not have to do with it")

	// Without a handler the thread is at its fault, as in the kernel's own cores. Another position is rejected.
	clear(p.bytes)
	p.set(ip, 0x8b, 0x43, 0x08)
	regs := target.Registers{Arch: target.ArchAMD64}
	regs.SetIP(ip)
	regs.SetSP(sp)
	regs.Set(target.RBX, 0x10)
	died.OS.Registers = regs
	signal(target.SIGSEGV, 1, 0x18)
	assert.Contains(t, describe().Likely, "libcoreclr.so+0x1230 accessed 0x18")
	signal(target.SIGSEGV, 1, 0x123456)
	assert.Empty(t, describe().Likely)
	p.x.Final = true
	assert.Empty(t, describe().Likely, "the instruction accesses another place")

	// The kernel wrote the dump, without the code.
	clear(p.bytes)
	_, err := target.Bytes(p, ip, 1)
	require.ErrorIs(t, err, target.ErrNotInDump)
	assert.Contains(t, describe().Likely, "libcoreclr.so+0x1230 accessed 0x123456, called from ")

	// What the runtime's code stumbles over matters more than how the address reads: short answers have the first evidence alone.
	p.x.Signal.Address = 0x414243444546
	x = describe()
	blamed := x.Verdicts[x.Blames-1].Evidence
	require.Len(t, blamed, 3)
	assert.Contains(t, blamed[1], "objects or the runtime's data may have been overwritten; verifyheap checks the heap")
	assert.Contains(t, blamed[2], "ASCII text")
	collect(t, p)
	x = describe()
	assert.Contains(t, x.Verdicts[x.Blames-1].Evidence[1], "may have been overwritten; a collection was in progress, so the heap can't be judged")

	signal(target.SIGSEGV, 1, 0x123456)
	assert.Empty(t, describe().Likely, "the process may have written it in a handler")
}

// collect makes the process one in which a collection was in progress.
func collect(t *testing.T, p *faulty) {
	t.Helper()
	sound := &testdump.Altered{Target: p.Target}
	rt, err := dac.Find(sound, sound, nil)[0].Open()
	require.NoError(t, err)
	list, err := rt.Threads()
	require.NoError(t, err)
	thread := sound.Reads(func() { _, err = rt.GlobalPointer("GCThread") })
	require.NoError(t, err)
	require.Len(t, thread, 1)
	p.word(thread[0].Start, uint64(list[0].Addr))
	for _, r := range sound.Reads(func() { _, err = heap.Open(rt, sound) }) {
		if n, err := target.Uint32(sound, r.Start); r.Size() != 4 || err != nil || n != 0 {
			continue
		}
		p.set(r.Start, 1)
		again, err := dac.Find(p, p, nil)[0].Open()
		require.NoError(t, err)
		if h, err := heap.Open(again, p); err == nil && h.InGC() {
			return
		}
		p.set(r.Start, 0)
	}
	require.Fail(t, "no word marks a collection")
}

// TestAbortMessage checks that the text that glibc keeps of an abort is found through the stack, and only there, and that nothing else in
// such memory is taken for one.
func TestAbortMessage(t *testing.T) {
	p, subject, _, died := openFaulty(t)
	s := &target.Signal{Number: target.SIGABRT, Known: true, Code: target.SITkill, PID: p.Process().ID}
	p.x = target.Exception{ThreadID: died.OS.ID, Signal: s, Words: s.String()}
	const page, slot = 0x10008000, 0x10000200
	likely := func(size uint64, text string, refers uint64) string {
		clear(p.bytes)
		p.word(slot, refers)
		p.word(page, size)
		p.set(page+4, []byte(text)...)
		return crash.DescribeSubject(t.Context(), subject()).Likely
	}
	assert.Regexp(t, "^native code aborted the process: free\\(\\): double free detected in tcache 2(, called from .*)?$",
		likely(0x1000, "free(): double free detected in tcache 2\n", page))
	const general = "native code aborted the process (abort, or an assertion)"
	for what, got := range map[string]string{
		"nothing refers to it":       likely(0x1000, "free(): invalid pointer\n", 0),
		"another address":            likely(0x1000, "free(): invalid pointer\n", page+8),
		"its size is no whole pages": likely(0x1001, "free(): invalid pointer\n", page),
		"too large":                  likely(0x1000000, "free(): invalid pointer\n", page),
		"no line":                    likely(0x1000, "free(): invalid pointer", page),
		"no text":                    likely(0x1000, "\x01\x02\xff\n", page),
		"empty":                      likely(0x1000, "\n", page),
		"something behind it":        likely(0x1000, "free()\n\x00x", page),
	} {
		assert.Contains(t, got, general, what)
	}
	s.Code = target.SIUser
	p.x.Words = s.String()
	assert.Empty(t, likely(0x1000, "free(): invalid pointer\n", page), "whoever sent it")
}

// TestTouchesNone checks that an instruction without an access is not said to have accessed the recorded address.
func TestTouchesNone(t *testing.T) {
	p, subject, rt, died := openFaulty(t)
	ip := rt.Instance().Module.Base + 0x1230
	regs := target.Registers{Arch: target.ArchAMD64}
	regs.SetIP(ip)
	regs.SetSP(died.Managed.Stack.End - 0x4000)
	p.x = target.Exception{ThreadID: died.OS.ID, Code: 0xc0000005, Address: ip, Parameters: []uint64{1, 0x7f}, Registers: regs, Words: "0xc0000005"}
	likely := func(code ...byte) string {
		clear(p.bytes)
		p.set(ip-5, code...)
		return crash.DescribeSubject(t.Context(), subject()).Likely
	}
	assert.Contains(t, likely(0xe8, 1, 2, 3, 4, 0x83, 0xf8, 0x7f), // call; cmp eax, 0x7f
		"libcoreclr.so+0x1230 is recorded as the place of an access to 0x7f (write), but its instruction touches no memory: a call stands before it, so it is a return address")
	assert.Regexp(t, "but its instruction touches no memory(, called|$)", likely(0x90, 0x90, 0x90, 0x90, 0x90, 0x83, 0xf8, 0x7f))
	assert.Contains(t, likely(0xe8, 1, 2, 3, 4, 0x88, 0x43, 0x08), "libcoreclr.so+0x1230 accessed 0x7f (write)") // mov [rbx+8], al
	assert.Contains(t, likely(0xe8, 1, 2, 3, 4, 0x06), "libcoreclr.so+0x1230 accessed 0x7f (write)", "no known instruction")
	assert.Contains(t, likely(0xe8, 1, 2, 3, 4, 0xc3), "libcoreclr.so+0x1230 accessed 0x7f (write)", "it reads the stack")
}

// TestUnreported checks that the faulting instruction supplies the address that the runtime's record reports as 0.
func TestUnreported(t *testing.T) {
	p, subject, rt, _ := openFaulty(t)
	ip, context := rt.Instance().Module.Base+0x1230, p.other.Start+0x2000
	p.set(ip, 0x8b, 0x43, 0x08)
	layout := target.AMD64().Context
	for _, r := range layout.Registers {
		if r.Reg == target.RIP && r.Size == 8 {
			p.word(context+target.Addr(r.Offset), uint64(ip))
		}
	}
	set := func(rbx uint64) {
		for _, r := range layout.Registers {
			if r.Reg == target.RBX {
				p.word(context+target.Addr(r.Offset), rbx)
			}
		}
	}
	p.set(context+target.Addr(0x30), 0x0b, 0x00, 0x10, 0x00) // ContextFlags: AMD64, control, integer, floating point
	set(0x6f6f6f6f6f6f6f6f)
	got := crash.Unreported(subject(), context, 0)
	assert.Equal(t, target.Addr(0x6f6f6f6f6f6f6f77), got.Address)
	assert.Equal(t, "not a canonical address", got.What)
	for _, rbx := range []uint64{0x64006300620061, 0xdead00000000, 1 << 47} { // not canonical with 4-level paging
		set(rbx)
		got = crash.Unreported(subject(), context, 0)
		assert.Equal(t, target.Addr(rbx+8), got.Address)
		assert.Equal(t, "not a canonical address", got.What)
		assert.Equal(t, target.Addr(0x55), crash.Unreported(subject(), context, 0x55).Address)
	}
	set(0x7fff00000000) // canonical: the fault was elsewhere
	got = crash.Unreported(subject(), context, 0)
	assert.Zero(t, got.Address)
	assert.Contains(t, got.What, "or not a canonical address")
	set(^uint64(7)) // and 8 is 0
	got = crash.Unreported(subject(), context, 0)
	assert.Zero(t, got.Address)
	assert.Equal(t, "near 0: nothing can be mapped there", got.What)
	delete(p.bytes, ip)
	p.set(ip, 0x06)
	got = crash.Unreported(subject(), context, 0)
	assert.Zero(t, got.Address)
	assert.Contains(t, got.What, "or not a canonical address")
	assert.Contains(t, crash.Unreported(subject(), 0, 0).What, "or not a canonical address", "without a CONTEXT")
	assert.Equal(t, target.Addr(0x55), crash.Unreported(subject(), context, 0x55).Address, "what is reported is believed")
}

// TestInvoked checks that native code is also named by the method that managed code calls.
func TestInvoked(t *testing.T) {
	p, subject, rt, died := openFaultyOf(t, "net10-stacks")
	list, err := testdump.Open(t, "net10-stacks").Threads()
	require.NoError(t, err)
	for i := range list {
		if list[i].OS != nil && list[i].OS.ID == 0x1876 {
			died.Managed = list[i].Managed
		}
	}
	ip := rt.Instance().Module.Base + 0x1230
	s := &target.Signal{Number: target.SIGSEGV, Known: true, Code: 1, Address: 0x18}
	p.x = target.Exception{ThreadID: died.OS.ID, Signal: s, Words: s.String()}
	p.interrupt(ip, died.Managed.Stack.End-0x4000, 0x10)
	x := crash.DescribeSubject(t.Context(), subject())
	assert.Regexp(t, `called as Debuggee.Stacks.Scenario.pause_unix\(\), called from Debuggee\.`, x.Likely)
}

// TestSender checks that a recorded fault is a signal that was sent only if the code proves that it did not access the address.
func TestSender(t *testing.T) {
	p, subject, rt, _ := openFaulty(t)
	ip, context := rt.Instance().Module.Base+0x1230, p.other.Start+0x2000
	for _, r := range target.AMD64().Context.Registers {
		switch {
		case r.Reg == target.RIP && r.Size == 8:
			p.word(context+target.Addr(r.Offset), uint64(ip))
		case r.Reg == target.RSP && r.Size == 8:
			p.word(context+target.Addr(r.Offset), 0x7ffd00001000)
		case r.Reg == target.RBX && r.Size == 8:
			p.word(context+target.Addr(r.Offset), 0x2c00)
		}
	}
	p.set(context+target.Addr(0x30), 0x0b, 0x00, 0x10, 0x00) // ContextFlags: AMD64, control, integer, floating point
	sent := func(before []byte, code ...byte) bool {
		p.set(ip-8, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90)
		p.set(ip-target.Addr(len(before)), before...)
		p.set(ip, append(code, 0x90, 0x90, 0x90, 0x90, 0x90)...)
		pid, user, ok := crash.Sender(subject(), context, 1000<<32|0x2c22)
		if ok {
			assert.Equal(t, []uint32{0x2c22, 1000}, []uint32{pid, user})
		}
		return ok
	}
	call := []byte{0xe8, 1, 2, 3, 4}
	assert.True(t, sent(nil, 0x89, 0xd8), "mov eax, ebx")
	assert.True(t, sent(nil, 0x8b, 0x43, 0x08), "mov eax, [rbx+8] is elsewhere")
	assert.False(t, sent(call, 0x89, 0xd8), "the helper that was called may have accessed it")
	assert.False(t, sent(nil, call...), "a call")
	assert.False(t, sent(nil, 0x06), "no known instruction")
	_, _, ok := crash.Sender(subject(), context, 0x2c22)
	assert.False(t, ok, "no known instruction")
	p.set(ip, 0x8b, 0x43, 0x22) // mov eax, [rbx+0x22]
	_, _, ok = crash.Sender(subject(), context, 0x2c22)
	assert.False(t, ok, "it accessed the address")
	p.set(ip, 0x89, 0xd8)
	_, _, ok = crash.Sender(subject(), context, 0x7000000)
	assert.False(t, ok, "no process has such a number")
	_, _, ok = crash.Sender(subject(), 0, 0x2c22)
	assert.False(t, ok, "without a CONTEXT")
}
