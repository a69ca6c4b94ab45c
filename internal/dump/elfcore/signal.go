package elfcore

import (
	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/target"
)

// A signalInfo holds the relevant fields of an NT_SIGINFO note.
type signalInfo struct {
	target.Signal
	thread int // index of the thread before the note, or -1
}

// decodeSignal decodes a siginfo_t (include/uapi/asm-generic/siginfo.h). The kernel and createdump
// write one, after the NT_PRSTATUS of the thread that received the signal. gdb writes one after
// each thread, the signal's thread first. The first signal that does not only stop the process is
// used.
func (b *builder) decodeSignal(n *Note) error {
	c := cursor.New(n.Data, n.Offset)
	s := &signalInfo{thread: len(b.Threads) - 1}
	s.Number, s.Errno, s.Code = int32(c.Uint32()), int32(c.Uint32()), int32(c.Uint32())
	c.Skip(4)
	fields := c.Offset()
	address := target.Addr(c.Uint64())
	c.Seek(fields)
	pid, uid := c.Uint32(), c.Uint32()
	if c.Err() != nil {
		return c.Err()
	}
	// createdump may fill in only the number.
	s.Known = s.Code != 0 || s.Errno != 0 || address != 0
	switch {
	case s.Sent():
		s.PID, s.UID = pid, uid
	case s.Faulted():
		s.Address = address
	}
	if s.Number == 0 {
		return nil
	}
	if s.thread >= 0 && b.Threads[s.thread].SignalInfo == nil {
		b.Threads[s.thread].SignalInfo = &s.Signal
	}
	if b.signalInfo == nil || b.signalInfo.Stops() && !s.Stops() {
		b.signalInfo = s
	}
	return nil
}

// findException finds the signal that ended the process and the thread that received it:
//
//   - NT_SIGINFO records it, for the thread before it.
//   - In a core of the kernel without NT_SIGINFO (before Linux 3.10) the first thread received the
//     signal, which every thread records.
//   - Otherwise a signal counts if exactly one thread has it. createdump of .NET Core 3.1 records
//     SIGABRT for all threads of any process.
//
// A signal that stops a process did not end it: gdb stops the process for gcore.
func (b *builder) findException() {
	if b.Platform.OS != target.OSLinux {
		b.findBSDException()
		return
	}
	s := b.signalInfo
	if s == nil {
		s = b.signalOfStatus()
	}
	if s.Number == 0 || s.Stops() {
		return
	}
	e := &target.Exception{Code: uint32(s.Number), Words: s.String(), Signal: &s.Signal, Address: s.Address, HasAddress: s.Faulted()}
	if s.thread >= 0 {
		e.ThreadID, e.Registers = b.Threads[s.thread].ID, b.Threads[s.thread].Registers
		e.Final = b.kernelOrder && s.Known && !s.Sent()
	}
	b.Exception = e
	b.Process.Comment = "signal " + e.Words
}

// signalOfStatus returns the signal in the NT_PRSTATUS notes.
func (b *builder) signalOfStatus() *signalInfo {
	s := &signalInfo{thread: -1}
	if b.kernelOrder && len(b.Threads) > 0 {
		s.thread = 0
	} else {
		s.thread = b.onlySignalled()
	}
	if s.thread >= 0 {
		s.Number = int32(b.Threads[s.thread].Signal)
	}
	return s
}

func (b *builder) onlySignalled() int {
	found := -1
	for i := range b.Threads {
		if b.Threads[i].Signal == 0 {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}
