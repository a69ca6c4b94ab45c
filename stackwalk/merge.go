package stackwalk

import (
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
}

// A StackNode is one call in a StackTree.
type StackNode struct {
	Method  *code.MethodDesc
	Threads []uint32     // that stand in this call or in one of its callees
	Calls   []*StackNode // callees, in the order in which they came
}

// Add merges the stack of a thread, frames from the leaf on. Frames that are
// not wanted, or have no method, are left out; a stack with no frame left does
// not count. It returns the first error in telling a frame's method.
func (t *StackTree) Add(thread uint32, frames iter.Seq[Frame], wanted func(*Frame) bool) error {
	var methods []*code.MethodDesc
	var firstErr error
	for f := range frames {
		if !wanted(&f) {
			continue
		}
		md, err := f.Method()
		if err != nil && firstErr == nil {
			firstErr = err
		}
		if md != nil {
			methods = append(methods, md)
		}
	}
	if len(methods) == 0 {
		return firstErr
	}
	t.Threads = append(t.Threads, thread)
	nodes := &t.Roots
	for _, md := range slices.Backward(methods) {
		n := nodeOf(nodes, md.Addr)
		if n == nil {
			n = &StackNode{Method: md}
			*nodes = append(*nodes, n)
		}
		n.Threads = append(n.Threads, thread)
		nodes = &n.Calls
	}
	return firstErr
}

func nodeOf(nodes *[]*StackNode, md target.Addr) *StackNode {
	for _, n := range *nodes {
		if n.Method.Addr == md {
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
