package threads

import (
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// DescribeOS describes the OS threads of a List. It marks current, which may be nil, and the thread that crashed.
func DescribeOS(p target.Target, list []stackwalk.Thread, current *stackwalk.Thread) *answer.OSThreads {
	out := &answer.OSThreads{}
	crash, _ := p.Exception()
	times := TimesOf(p, list)
	for i := range list {
		t := &list[i]
		if t.OS == nil {
			continue
		}
		regs := &t.OS.Registers
		d := answer.OSThread{Thread: t.Describe(&out.Gaps), Current: t == current, TEB: t.OS.TEB, Signal: t.OS.Signal,
			IP: pointer(regs.IP()), SP: pointer(regs.SP()), FP: pointer(regs.FP())}
		d.User, d.Kernel = times(t)
		if t.OS.ID != 0 && t.OS.ID == crash.ThreadID && !crash.Requested {
			d.Crashed = crash.Words
		}
		out.Threads = append(out.Threads, d)
	}
	return out
}

func pointer(a target.Addr, known bool) answer.Maybe[target.Addr] {
	if !known {
		return answer.Maybe[target.Addr]{Err: target.ErrNotInDump}
	}
	return answer.Known(a)
}

// TimesOf returns a function for the processor times of threads. They are target.ErrNotInDump in a dump that records no
// times, such as those of createdump, and for the first thread in a kernel's core, which has the sum of all threads in
// their place.
func TimesOf(p target.Target, list []stackwalk.Thread) func(*stackwalk.Thread) (user, kernel answer.Maybe[answer.Seconds]) {
	process := p.Process()
	recorded := process.Times != nil || slices.ContainsFunc(list, func(t stackwalk.Thread) bool { return t.OS != nil && t.OS.User+t.OS.Kernel > 0 })
	summed := p.Platform().OS != target.OSWindows && process.Times != nil
	return func(t *stackwalk.Thread) (user, kernel answer.Maybe[answer.Seconds]) {
		if t.OS == nil || !recorded || summed && t.OS.ID == process.ID && t.OS.User+t.OS.Kernel == 0 {
			unknown := answer.Maybe[answer.Seconds]{Err: target.ErrNotInDump}
			return unknown, unknown
		}
		return answer.Known(answer.Seconds(t.OS.User.Seconds())), answer.Known(answer.Seconds(t.OS.Kernel.Seconds()))
	}
}
