package threads

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// DescribeOS describes the OS threads of a List. It marks current, which may be nil, and the thread that crashed.
func DescribeOS(p target.Target, list []stackwalk.Thread, current *stackwalk.Thread) *answer.OSThreads {
	out := &answer.OSThreads{}
	crash, _ := p.Exception()
	for i := range list {
		t := &list[i]
		if t.OS == nil {
			continue
		}
		regs := &t.OS.Registers
		d := answer.OSThread{Thread: t.Describe(&out.Gaps), Current: t == current, TEB: t.OS.TEB, Signal: t.OS.Signal,
			IP: pointer(regs.IP()), SP: pointer(regs.SP()), FP: pointer(regs.FP())}
		d.User, d.Kernel = Times(p, t)
		d.NoTimes = noTimes(d.User.Err())
		if t.OS.ID != 0 && t.OS.ID == crash.ThreadID && !crash.Requested {
			d.Crashed = crash.Words
		}
		out.Threads = append(out.Threads, d)
	}
	return out
}

func pointer(a target.Addr, known bool) answer.Maybe[target.Addr] {
	if !known {
		return answer.Missing[target.Addr](target.ErrNotInDump)
	}
	return answer.Known(a)
}

// errSummed is why the first thread in a core of the kernel has no times.
var errSummed = explained{fmt.Errorf("a core of the kernel has the times of the whole process in place of its first thread's: %w", target.ErrNotInDump)}

// An explained error is the reason of few values. Texts of queries write it below their rows.
type explained struct{ error }

func (e explained) Unwrap() error { return e.error }

// Explains returns the reason.
func (e explained) Explains() string { return e.Error() }

// Untimed is why the threads of a dump have no times: no thread has any.
type Untimed struct{}

// Error returns the reason.
func (Untimed) Error() string { return "processor times of threads: not in the dump" }

// Unwrap returns target.ErrNotInDump.
func (Untimed) Unwrap() error { return target.ErrNotInDump }

// Advice names the dumps with processor times.
func (Untimed) Advice() string {
	return "cores of the kernel, and minidumps with thread information, have them; clrthreads -stacks shows what the threads do"
}

// Explains returns the reason and the advice, which texts of queries write below their rows.
func (e Untimed) Explains() string { return e.Error() + "; " + e.Advice() }

// noTimes returns the reason for missing times that is the thread's own, or "".
func noTimes(err error) string {
	if errors.Is(err, errSummed) {
		return errSummed.Error()
	}
	return ""
}

// Times returns the processor times of a thread of p. They are target.ErrNotInDump in a dump that does not record them, such
// as one of createdump, and for the first thread in a kernel's core, which has the sum of all threads in their place.
func Times(p target.Target, t *stackwalk.Thread) (user, kernel answer.Maybe[answer.Seconds]) {
	if t.OS == nil || !t.OS.Timed {
		unknown := answer.Missing[answer.Seconds](Untimed{})
		if of := p.Process(); t.OS != nil && of.Times != nil && t.OS.ID == of.ID {
			unknown = answer.Missing[answer.Seconds](errSummed)
		}
		return unknown, unknown
	}
	return answer.Known(answer.Seconds(t.OS.User.Seconds())), answer.Known(answer.Seconds(t.OS.Kernel.Seconds()))
}
