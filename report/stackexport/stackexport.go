// Package stackexport writes stacks in the forms that other tools read: folded
// text for flame graphs, speedscope's JSON, and profiles of pprof. A dump is a
// profile with one sample a thread.
//
// The names in a dump are not to be trusted; what is written is text without
// control characters, in which the separators of a form mean nothing else.
package stackexport

// A Frame is one place in the code.
type Frame struct {
	Name   string // of the method, or what stands for it
	Module string // file name of its module; may be empty
	File   string // source file; may be empty
	Line   int    // in File, from 1; 0 if unknown
	IP     uint64 // instruction pointer
}

// A Stack is that of one thread.
type Stack struct {
	OSID      uint32
	ManagedID uint32 // 0 for none
	Name      string // of the thread; may be empty
	Frames    []int  // indexes into Profile.Frames, from the leaf on
}

// A Profile holds the stacks of a process. Places that stacks have in common
// are held once, so that a stack of a million recursive calls costs a number a
// call.
type Profile struct {
	Frames []Frame
	Stacks []Stack

	index map[Frame]int
}

// Frame returns the index of f in Frames and adds it if it is new.
func (p *Profile) Frame(f Frame) int {
	if i, ok := p.index[f]; ok {
		return i
	}
	if p.index == nil {
		p.index = map[Frame]int{}
	}
	i := len(p.Frames)
	p.index[f] = i
	p.Frames = append(p.Frames, f)
	return i
}
