package locks

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/stackwalk"
)

// yields reports whether a thread gives way to others in a loop that does nothing else but read.
func (s *survey) yields(at *stand) bool {
	_, method, _ := strings.Cut(at.called, "System.Threading.Thread.")
	return (strings.HasPrefix(method, "Yield") || strings.HasPrefix(method, "Sleep")) && s.spinsAt(at)
}

// inlinedYield returns the name of the method by which a thread gives way if f is its call, as the compiler may inline what is around it, or else "".
func inlinedYield(f *stackwalk.Frame, md *dac.MethodDesc) string {
	name, err := dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified)
	if err != nil || !strings.HasPrefix(name, "System.Threading.Thread.Yield") {
		return ""
	}
	return name
}

// spinners returns the threads of a list that spin in a loop of their method, if there are several, and the others. One alone may be on its way.
func (s *survey) spinners(list []stand) (spinners, others []stand) {
	for i := range list {
		at := list[i]
		if !spinWait(at.called) && s.spinsAt(&at) {
			at.spins = true
			spinners = append(spinners, at)
			continue
		}
		others = append(others, at)
	}
	if len(spinners) > 1 {
		return spinners, others
	}
	for i := range list { // what gives way to others does not run
		list[i].spins = false
	}
	return nil, slices.DeleteFunc(list, func(at stand) bool {
		return !spinWait(at.called) && at.activity.Activity != threads.ActivityRunning
	})
}

// spinsAt reports whether the outermost loop around a thread's place in its method only reads, compares and gives way, whatever the method does elsewhere. Code
// that can't be read may do more.
func (s *survey) spinsAt(at *stand) bool {
	if dac.CodeOf(s.r.rt).ILReplaced(at.method) != nil {
		return false
	}
	body, err := dac.CodeOf(s.r.rt).IL(at.method)
	if err != nil {
		return false
	}
	_, loops, err := s.loopsOf(&at.frame, at.method)
	if err != nil {
		return false
	}
	calls, err := s.around(at.thread, &at.frame, at.method)
	return err == nil && onlyReads(body.Code, loops, slices.Concat(calls.Before, calls.Later))
}

// onlyReads reports whether the outermost of the loops of il around one place has no effect but to wait for another thread: it sleeps for no time, and does not go
// on from one object to the next.
func onlyReads(il []byte, loops map[int]int, calls []tasks.Call) bool {
	start, end := len(il), 0
	for from, to := range loops {
		start, end = min(start, from), max(end, to)
	}
	if start >= end {
		return false
	}
	var code []metadata.Instruction
	for in, err := range metadata.Instructions(il[start:end]) {
		if err != nil {
			return false
		}
		if in.Opcode.String() != "nop" {
			code = append(code, in)
		}
	}
	if reads, follows, err := readsInLoop(il[start:end]); err != nil || !reads || follows {
		return false
	}
	for i := range code {
		if isStore(&code[i]) && !tested(code, i) {
			return false
		}
	}
	return !slices.ContainsFunc(calls, func(c tasks.Call) bool {
		if c.Offset < start || c.Offset >= end {
			return false
		}
		if c.Method == "Thread.Sleep" {
			i := slices.IndexFunc(code, func(in metadata.Instruction) bool { return in.Offset == c.Offset-start })
			if i < 1 {
				return true
			}
			ms, known := constantOf(&code[i-1])
			return !known || ms != 0
		}
		return c.Unknown || !onlyWaits(c.Method)
	})
}

func isStore(in *metadata.Instruction) bool {
	_, verb, ok := accessed(in)
	return ok && verb == "st"
}

// tested reports whether the value that the instruction at i stores is only for the branch behind it, as without optimization.
func tested(code []metadata.Instruction, i int) bool {
	if i+2 >= len(code) {
		return false
	}
	to, _, _ := accessed(&code[i])
	from, verb, ok := accessed(&code[i+1])
	return ok && verb == "ld" && from == to && isBranch(&code[i+2])
}
