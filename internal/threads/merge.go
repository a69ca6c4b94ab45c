package threads

import (
	"errors"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A StackTree merges the stacks of threads, from their outermost callers on. Threads share the nodes of common calls.
type StackTree struct {
	Roots   []*StackNode    // in order of appearance
	Threads []uint32        // OS ids of all threads with a stack
	Program *dac.CodeReader // names native frames of a NativeAOT program; nil otherwise
}

// A StackNode is one call in a StackTree.
type StackNode struct {
	Method  *dac.MethodDesc  // nil for a NativeAOT program
	Native  dac.NativeMethod // for a NativeAOT program
	Threads []uint32         // with this call on their stack
	Calls   []*StackNode     // callees, in order of appearance
}

// Add merges the stack of a thread, given its frames, the leaf first. It omits frames that are not wanted or have no
// method. It omits a stack without remaining frames. It returns the first error for a frame's method.
func (t *StackTree) Add(thread uint32, frames iter.Seq[stackwalk.Frame], wanted func(*stackwalk.Frame) bool) error {
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

// call returns the node of a frame's method. The node of a frame without a method has no method either.
func (t *StackTree) call(f *stackwalk.Frame) (StackNode, error) {
	if t.Program == nil || f.Kind != stackwalk.FrameNative {
		md, err := f.Method()
		return StackNode{Method: md}, err
	}
	ip := f.IP
	if !f.Exact {
		ip-- // a return address may belong to the next method
	}
	m, err := t.Program.NativeAt(ip)
	switch {
	case errors.Is(err, dac.ErrNoCode), err == nil && m.Name == "":
		return StackNode{}, nil
	case err != nil:
		return StackNode{}, err
	}
	return StackNode{Native: m}, nil
}

// at returns an address that identifies the node's method, or 0.
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

// Own returns the threads that have the node as their leaf.
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
