package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// This file treats words that look like references as references. It is used for frames without readable GC info, and
// for all stacks of a process with a conservative collector (gcenv.ee.cpp, ScanStackRoots).

// conservativeSettings are the environment variables that make the collector treat every word of a stack as a reference
// (clrconfignames.h, gcConservative).
var conservativeSettings = [...]string{"DOTNET_gcConservative=", "COMPlus_gcConservative="}

// Conservative reports whether the process's collector treats every word of a stack that looks like a reference as one,
// according to its environment. If the environment is not in the dump, the error is target.ErrNotInDump, and the roots
// are exact.
func (r *RootReader) Conservative() (bool, error) {
	return r.names.conservative.Get(func() (bool, error) {
		t, ok := r.rt.Target().(interface{ Environment() []string })
		if !ok || len(t.Environment()) == 0 {
			return false, fmt.Errorf("environment of the process: %w", target.ErrNotInDump)
		}
		for _, v := range t.Environment() {
			for _, name := range conservativeSettings {
				if value, ok := strings.CutPrefix(v, name); ok && strings.Trim(value, "0xX") != "" {
					return true, nil
				}
			}
		}
		return false, nil
	})
}

// frames returns the frames of a stack with their registers.
func (s *scan) frames(t *stackwalk.Thread) (out []RootFrame, regs []target.Registers) {
	index := 0
	for f := range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
		if f.Kind == stackwalk.FrameManaged {
			out = append(out, RootFrame{Index: index, IP: f.IP, SP: f.SP, Method: f.Code.Method})
			regs = append(regs, f.Regs)
		}
		index++
	}
	return out, regs
}

// yieldUndecoded yields the words of one frame that look like references, and the registers that the methods which it called have preserved: their
// frames have saved them. The first frame of a thread in cooperative mode has all registers and the stack above it, where native code that was called
// without a frame has saved registers.
func (s *scan) yieldUndecoded(t *stackwalk.Thread, list []RootFrame, regs []target.Registers, ref *stackwalk.Root) bool {
	i := slices.IndexFunc(list, func(f RootFrame) bool { return f.Index == ref.Frame })
	at, own := target.Range{Start: ref.FrameSP, End: ref.FrameSP}, list[:0]
	if i >= 0 {
		own, at.End = list[i:i+1], t.Managed.Stack.End
		if i+1 < len(list) {
			at.End = list[i+1].SP
		}
	}
	if ref.Frame > 0 && i >= 0 && !s.yieldRegisters(t, &regs[i], own) {
		return false
	}
	if ref.Frame == 0 && t.Managed.Cooperative {
		if !s.yieldRegisters(t, &t.OS.Registers, own) {
			return false
		}
		if sp, ok := t.OS.Registers.SP(); ok && t.Managed.Stack.Contains(sp) {
			at.Start = min(at.Start, sp)
		}
	}
	return s.yieldWords(t, at, own)
}

// yieldRegisters yields the registers of a thread that look like references. They belong to the first frame of list.
func (s *scan) yieldRegisters(t *stackwalk.Thread, regs *target.Registers, list []RootFrame) bool {
	cpu, err := s.r.rt.Target().Platform().Arch.Processor()
	if err != nil {
		return !s.ended
	}
	for reg := range cpu.General.All {
		v, known := regs.Get(reg)
		if known && !s.yieldWord(t, 0, target.Addr(v), list[:min(len(list), 1)]) {
			return false
		}
	}
	return !s.ended
}

// yieldConservative yields what a conservative collector considers references of a thread: the words of its stack below
// the native code on top, its registers if it runs managed code, and the references in explicit frames.
func (s *scan) yieldConservative(t *stackwalk.Thread) bool {
	sp, ok := t.OS.Registers.SP()
	at := target.Range{Start: sp, End: t.Managed.Stack.End}
	list, _ := s.frames(t)
	if first := t.Managed.Frame; !t.Managed.Cooperative && first > at.Start {
		// The frame of an unmanaged call is inside the calling method.
		if len(list) > 0 {
			first = max(at.Start, min(first, list[0].SP))
		}
		at.Start = first
	}
	if !ok || !t.Managed.Stack.Contains(at.Start) {
		return !s.ended
	}
	if t.Managed.Cooperative && !s.yieldRegisters(t, &t.OS.Registers, list) {
		return false
	}
	return s.yieldWords(t, at, list)
}

// yieldWholeStack yields the registers and stack words that look like references, for a thread without readable GC
// info.
func (s *scan) yieldWholeStack(t *stackwalk.Thread) bool {
	stack, err := t.Stack(s.r.rt.Target())
	if err != nil {
		return s.emit(Root{Kind: RootStack, Thread: t}, fmt.Errorf("stack of thread %#x: %w", t.ID(), err))
	}
	if !s.yieldRegisters(t, &t.OS.Registers, nil) {
		return false
	}
	for _, at := range stack.Ranges {
		// The runtime's Thread is in thread-local storage, which may follow the stack in the same mapping.
		// Arbitrary data follows it, such as handles, which are roots themselves.
		if t.Managed != nil && at.Contains(t.Managed.Addr) {
			at.End = t.Managed.Addr
		}
		if !s.yieldWords(t, at, nil) {
			return false
		}
	}
	return !s.ended
}

// yieldWords yields the words of a range that look like references. Each belongs to the last frame that starts before
// it.
func (s *scan) yieldWords(t *stackwalk.Thread, at target.Range, list []RootFrame) bool {
	win := target.NewWindow(s.r.rt.Memory())
	for a := (at.Start + 7) &^ 7; a+8 <= at.End; a += 8 {
		for len(list) > 1 && list[1].SP <= a {
			list = list[1:]
		}
		v, err := win.Uint64(a)
		if err != nil {
			next, ok := target.NextStored(s.r.rt.Memory(), a+8)
			if !ok || next >= at.End {
				break
			}
			a = next&^7 - 8
			continue
		}
		if !s.yieldWord(t, a, target.Addr(v), list) {
			return false
		}
	}
	return !s.ended
}

// yieldWord yields a word if it looks like a reference. It belongs to the first frame of list.
func (s *scan) yieldWord(t *stackwalk.Thread, a, v target.Addr, list []RootFrame) bool {
	object, ok := s.r.object(v, true)
	if !ok {
		return !s.ended
	}
	root := Root{Kind: RootStack, Object: object, Value: v, Address: a, Interior: true, Pinned: true, Conservative: true, Thread: t}
	if len(list) > 0 {
		root.Frame = &list[0]
	}
	return s.emit(root, nil)
}
