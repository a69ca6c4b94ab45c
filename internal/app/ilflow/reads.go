package ilflow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/metadata"
)

// Serve reports whether one of the loops of il is not counted, and works. calls are the method's.
func (l Loops) Serve(il []byte, calls []tasks.Call) bool {
	for start, end := range l {
		if counted(il, Loops{start: end}) {
			continue
		}
		works := slices.ContainsFunc(calls, func(c tasks.Call) bool {
			return c.Offset >= start && c.Offset < end && c.Method != "Monitor.Wait" && c.Method != "WaitHandle.WaitOne" && !OnlyWaits(c.Method)
		})
		if reads, _, err := ReadsOnly(il[start:end]); err == nil && (works || !reads) {
			return true
		}
	}
	return false
}

// OutermostSpins reports whether the outermost of the loops of il, all around one place, has no effect but to wait for another thread: it sleeps for no time, and does not go
// on from one object to the next.
func (l Loops) OutermostSpins(il []byte, calls []tasks.Call) bool {
	start, end := len(il), 0
	for from, to := range l {
		start, end = min(start, from), max(end, to)
	}
	if start >= end {
		return false
	}
	code, err := withoutNops(il[start:end])
	if err != nil {
		return false
	}
	if reads, follows, err := ReadsOnly(il[start:end]); err != nil || !reads || follows {
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
			ms, known := Constant(&code[i-1])
			return !known || ms != 0
		}
		return c.Unknown || !OnlyWaits(c.Method)
	})
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

// waitingCalls are methods of the class library that a loop without work calls.
var waitingCalls = []string{"SpinWait.", "Thread.SpinWait", "Thread.Yield", "Thread.Sleep", "Thread.MemoryBarrier", "Volatile.Read", "Interlocked.CompareExchange", "Interlocked.Exchange",
	"Interlocked.Read", "Interlocked.MemoryBarrier"}

// OnlyWaits reports whether a called method reads a property or waits.
func OnlyWaits(name string) bool {
	_, method, _ := strings.Cut(name, ".")
	return strings.HasPrefix(method, "get_") || slices.ContainsFunc(waitingCalls, func(p string) bool { return strings.HasPrefix(name, p) })
}

// ReadsOnly reports whether il loops without side effects, and whether it follows a linked list (x = x.field).
func ReadsOnly(il []byte) (loops, follows bool, err error) {
	loaded, field := "", false // the variable loaded last, and whether a field of it was read since
	for in, err := range metadata.Instructions(il) {
		if err != nil {
			return false, false, err
		}
		name := in.Opcode.String()
		variable := strings.TrimLeft(name, "ldst") // of ldloc.0 and stloc.0: oc.0
		if in.Kind != metadata.OperandNone {
			variable += fmt.Sprint(in.Int())
		}
		switch {
		case strings.HasPrefix(name, "ldloc") || strings.HasPrefix(name, "ldarg"):
			loaded, field = variable, false
		case name == "ldfld":
			field = loaded != ""
		default:
			follows = follows || field && variable == loaded && strings.HasPrefix(name, "st")
			loaded, field = "", false
		}
		for _, p := range workingOpcodes {
			if strings.HasPrefix(name, p) {
				return false, false, nil
			}
		}
		if (in.Kind == metadata.OperandBranch8 || in.Kind == metadata.OperandBranch32) && in.Target() <= in.Offset {
			loops = true
		}
	}
	return loops, follows && loops, nil
}

// workingOpcodes are prefixes of the names of IL instructions that do more than wait.
var workingOpcodes = []string{"stfld", "stsfld", "stind", "stelem", "stobj", "starg", "cpblk", "cpobj", "initblk", "newobj", "newarr", "box", "throw", "rethrow", "calli", "jmp",
	"add", "sub", "mul", "div", "rem", "neg", "not", "shl", "shr", "xor", "localloc"}

// Spin reports whether one of the loops of il only reads, compares and waits.
func (l Loops) Spin(il []byte, calls *tasks.Around) bool {
	for start, end := range l {
		works := slices.ContainsFunc(slices.Concat(calls.Before, calls.Later), func(c tasks.Call) bool {
			return c.Offset >= start && c.Offset < end && (c.Unknown || !OnlyWaits(c.Method))
		})
		if reads, _, err := ReadsOnly(il[start:end]); err == nil && reads && !works {
			return true
		}
	}
	return false
}
