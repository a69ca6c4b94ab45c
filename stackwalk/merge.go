package stackwalk

import (
	"errors"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/target"
)

// A StackTree merges the stacks of threads from their outermost callers on:
// threads share the nodes of the calls that they have in common.
type StackTree struct {
	Roots   []*StackNode // in the order in which they came
	Threads []uint32     // OS ids of all threads with a stack
	// Program, if not nil, is a NativeAOT program: its methods are those of native frames that it has names for.
	Program *code.Reader
}

// A StackNode is one call in a StackTree.
type StackNode struct {
	Method  *code.MethodDesc  // nil of a NativeAOT program
	Native  code.NativeMethod // of a NativeAOT program
	Threads []uint32          // that stand in this call or in one of its callees
	Calls   []*StackNode      // callees, in the order in which they came
}

// Add merges the stack of a thread, frames from the leaf on. Frames that are
// not wanted, or have no method, are left out; a stack with no frame left does
// not count. It returns the first error in telling a frame's method.
func (t *StackTree) Add(thread uint32, frames iter.Seq[Frame], wanted func(*Frame) bool) error {
	var methods []StackNode
	var firstErr error
	for f := range frames {
		if !wanted(&f) {
			continue
		}
		n, err := t.call(&f)
		if err != nil && firstErr == nil {
			firstErr = err
		}
		if n.at() != 0 {
			methods = append(methods, n)
		}
	}
	if len(methods) == 0 {
		return firstErr
	}
	t.Threads = append(t.Threads, thread)
	nodes := &t.Roots
	for _, call := range slices.Backward(methods) {
		n := nodeOf(nodes, call.at())
		if n == nil {
			n = &call
			*nodes = append(*nodes, n)
		}
		n.Threads = append(n.Threads, thread)
		nodes = &n.Calls
	}
	return firstErr
}

// call is the node of a frame's method, one without a method where it has none.
func (t *StackTree) call(f *Frame) (StackNode, error) {
	if t.Program == nil || f.Kind != FrameNative {
		md, err := f.Method()
		return StackNode{Method: md}, err
	}
	ip := f.IP
	if !f.Exact {
		ip-- // of a return address, which may be that of the next method
	}
	m, err := t.Program.NativeAt(ip)
	switch {
	case errors.Is(err, code.ErrNoCode), err == nil && m.Name == "":
		return StackNode{}, nil
	case err != nil:
		return StackNode{}, err
	}
	return StackNode{Native: m}, nil
}

// at is what tells the node's method from others, 0 for none.
func (n *StackNode) at() target.Addr {
	if n.Method != nil {
		return n.Method.Addr
	}
	return n.Native.Start
}

func nodeOf(nodes *[]*StackNode, method target.Addr) *StackNode {
	for _, n := range *nodes {
		if n.at() == method {
			return n
		}
	}
	return nil
}

// Own returns the threads whose leaf the node is.
func (n *StackNode) Own() []uint32 {
	below := map[uint32]bool{}
	for _, c := range n.Calls {
		for _, t := range c.Threads {
			below[t] = true
		}
	}
	var out []uint32
	for _, t := range n.Threads {
		if !below[t] {
			out = append(out, t)
		}
	}
	return out
}
