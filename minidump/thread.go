package minidump

import (
	"fmt"
	"math"
	"time"

	"github.com/sosgo/sosgo/internal/base/teb"
	"github.com/sosgo/sosgo/target"
)

// Sizes of MINIDUMP_THREAD, MINIDUMP_THREAD_EX, MINIDUMP_THREAD_INFO_LIST, MINIDUMP_THREAD_INFO and
// MINIDUMP_THREAD_NAME.
const (
	threadSize         = 48
	threadExSize       = 64
	threadInfoListSize = 12
	threadInfoSize     = 64
	threadNameSize     = 12
)

// The bits of ThreadInfo.DumpFlags for data that the writer could not get.
const (
	threadInvalidInfo    = 0x08
	threadInvalidContext = 0x10
	threadInvalidTEB     = 0x20
)

// A ThreadInfo is the entry of a thread in the ThreadInfoList (MINIDUMP_THREAD_INFO). The list may
// contain threads that ended before the dump was written.
type ThreadInfo struct {
	ID         uint32
	DumpFlags  uint32 // MINIDUMP_THREAD_INFO_xxx
	DumpError  uint32 // HRESULT of the writer's failure
	ExitStatus uint32 // 0x103 while the thread runs
	Created    time.Time
	Exited     time.Time // zero while the thread runs
	Kernel     time.Duration
	User       time.Duration
	Start      target.Addr
	Affinity   uint64
}

// ThreadInfos lists the dump's ThreadInfoList in its order. It is empty if missing. The caller must
// not change the slice.
func (f *File) ThreadInfos() []ThreadInfo { return f.threadInfos.get(f.loadThreadInfos) }

func (f *File) loadThreadInfos(n *notes) []ThreadInfo {
	s, ok := f.section(ThreadInfoListStream, n)
	if !ok {
		return nil
	}
	t := s.headedList(threadInfoListSize, threadInfoSize, false, f.mostThreads(), n)
	out := make([]ThreadInfo, t.len())
	for i := range out {
		e := t.at(i)
		out[i] = ThreadInfo{
			ID:         le.Uint32(e),
			DumpFlags:  le.Uint32(e[4:]),
			DumpError:  le.Uint32(e[8:]),
			ExitStatus: le.Uint32(e[12:]),
			Created:    fileTime(le.Uint64(e[16:])),
			Exited:     fileTime(le.Uint64(e[24:])),
			Kernel:     ticks(le.Uint64(e[32:])),
			User:       ticks(le.Uint64(e[40:])),
			Start:      f.addr(le.Uint64(e[48:])),
			Affinity:   le.Uint64(e[56:]),
		}
	}
	return out
}

// fileTime converts a FILETIME: 100 ns since 1601. Zero, and values above FILETIME's signed range,
// are the zero time.
func fileTime(v uint64) time.Time {
	const perSecond, from1601 = 10_000_000, 11_644_473_600
	if v == 0 || v > math.MaxInt64 {
		return time.Time{}
	}
	return time.Unix(int64(v/perSecond)-from1601, int64(v%perSecond)*100).UTC()
}

// ticks converts a duration of 100 ns units. An impossibly long one is 0, which means not recorded.
func ticks(v uint64) time.Duration {
	if v > math.MaxInt64/100 {
		return 0
	}
	return time.Duration(v) * 100
}

// Threads implements target.Target.
//
// Stack is the range in the thread's TEB if the dump has it, otherwise the range in the thread
// list. The registers are from the moment of the dump; for the thread of an exception see
// Exception. Registers.Float lends the dump's bytes, like View. The caller must not change the
// slice.
func (f *File) Threads() []target.Thread { return f.threads.get(f.loadThreads) }

// ThreadsCut reports whether the thread list claims more threads than Threads returns: the file is cut off within it,
// damaged, or beyond a limit.
func (f *File) ThreadsCut() bool {
	f.Threads()
	return f.threadsCut
}

func (f *File) loadThreads(n *notes) []target.Thread {
	s, ok := f.section(ThreadListStream, n)
	stride := threadSize
	if !ok {
		// Only Itanium needs the longer form, which begins like the other.
		if s, ok = f.section(ThreadExListStream, n); !ok {
			n.add(fmt.Errorf("minidump: thread list: %w", target.ErrNotInDump))
			return nil
		}
		stride = threadExSize
	}
	if !readsContexts(f.platform.Arch) {
		n.add(target.Unsupportedf("minidump: unsupported architecture %s: the threads' registers are unknown", f.platform.Arch))
	}
	t := s.list(stride, f.mostThreads(), n)
	f.threadsCut = len(s.b) < 4 || uint64(le.Uint32(s.b)) > uint64(t.len())
	infos := make(map[uint32]ThreadInfo)
	for _, i := range f.ThreadInfos() {
		infos[i.ID] = i
	}
	names := f.threadNames(n)
	seen := make(map[uint32]bool, t.len())
	out := make([]target.Thread, t.len())
	for i := range out {
		id := le.Uint32(t.at(i))
		if seen[id] {
			n.add(s.errorf(0, nil, "thread %#x is listed twice", id))
		}
		seen[id] = true
		info, listed := infos[id]
		out[i] = f.thread(&s, t.at(i), info, listed, n)
		out[i].Name = names[id]
	}
	return out
}

// thread decodes the MINIDUMP_THREAD e.
func (f *File) thread(s *section, e []byte, info ThreadInfo, listed bool, n *notes) target.Thread {
	t := target.Thread{
		ID:        le.Uint32(e),
		Suspended: le.Uint32(e[4:]),
		TEB:       f.addr(le.Uint64(e[16:])),
		Registers: target.Registers{Arch: f.platform.Arch},
	}
	if info.DumpFlags&threadInvalidTEB != 0 {
		t.TEB = 0
	}
	if listed && info.DumpFlags&threadInvalidInfo == 0 {
		t.Start, t.Created, t.Kernel, t.User = info.Start, info.Created, info.Kernel, info.User
		t.Timed = !info.Created.IsZero() // GetThreadTimes gives all of them or none
	}
	switch {
	case !readsContexts(f.platform.Arch):
	case info.DumpFlags&threadInvalidContext != 0:
		n.add(fmt.Errorf("thread %#x: its registers, which the writer could not get: %w", t.ID, target.ErrNotInDump))
	default:
		regs, err := f.registers(s.name, locationAt(e[40:]))
		if err != nil {
			n.add(fmt.Errorf("thread %#x: registers: %w", t.ID, err))
		}
		t.Registers = regs
	}
	t.Stack = f.stack(&t, f.stackDescriptor(e), n)
	return t
}

// stackDescriptor returns the address range of the MINIDUMP_THREAD's stack. Its file offset is not
// used: createdump writes zero.
func (f *File) stackDescriptor(e []byte) target.Range {
	start, size := f.addr(le.Uint64(e[24:])), target.Addr(le.Uint32(e[32:]))
	if start+size < start {
		return target.Range{}
	}
	return target.RangeAt(start, uint64(size))
}

// stack chooses between the range in the thread list, the used part, and the limits in the TEB, the
// whole stack.
func (f *File) stack(t *target.Thread, named target.Range, n *notes) target.Range {
	whole, err := teb.Stack(&f.mem, t.TEB, f.platform.Arch)
	if err != nil {
		return named
	}
	if whole.Start >= whole.End {
		n.add(target.Corruptf("thread %#x: its TEB has the stack limits %#x and %#x", t.ID, uint64(whole.Start), uint64(whole.End)))
		return named
	}
	if sp, ok := t.Registers.SP(); ok && !whole.Contains(sp) && named.Contains(sp) {
		n.add(target.Corruptf("thread %#x: its stack pointer %#x is outside the stack that its TEB names", t.ID, uint64(sp)))
		return named
	}
	return whole
}

// threadNames reads MINIDUMP_THREAD_NAME_LIST.
func (f *File) threadNames(n *notes) map[uint32]string {
	s, ok := f.section(ThreadNamesStream, n)
	if !ok {
		return nil
	}
	t := s.list(threadNameSize, f.mostThreads(), n)
	names := make(map[uint32]string, t.len())
	r := f.names(s.name)
	for i := range t.len() {
		e := t.at(i)
		rva := le.Uint64(e[4:])
		if rva > math.MaxUint32 {
			n.add(s.errorf(0, nil, "name of thread %#x at file offset %#x", le.Uint32(e), rva))
			continue
		}
		name, err := r.string(uint32(rva))
		if err != nil {
			n.add(fmt.Errorf("thread %#x: name: %w", le.Uint32(e), err))
			continue
		}
		names[le.Uint32(e)] = name
	}
	return names
}
