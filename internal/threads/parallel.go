package threads

import (
	"context"
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// ParallelOptions select the content of ParallelStacks.
type ParallelOptions struct {
	Explicit bool // also the runtime's explicit frames
}

// ParallelStacks merges the managed frames of threads from Running. It fails only with the error of ctx.
func ParallelStacks(ctx context.Context, w *stackwalk.Walker, list []*stackwalk.Thread, o ParallelOptions) (*answer.ParallelStacks, error) {
	rt := w.Runtime()
	if rt == nil {
		return nil, target.Unsupportedf("the program has no managed frames to merge: stacks merges native ones")
	}
	own := stackwalk.FrameManaged // the kind of the program's own frames
	if w.AllNative() {
		own = stackwalk.FrameNative
	}
	wanted := func(f *stackwalk.Frame) bool { return f.Kind == own || o.Explicit }
	var gaps answer.Gaps
	tree := StackTree{Program: dac.CodeOf(rt)}
	for _, t := range list {
		err := tree.Add(t.ID(), wholeStack(&gaps, t.ID(), w.Walk(ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{})), wanted)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			gaps.Note(fmt.Errorf("stack of thread %#x: %w", t.ID(), err))
		}
	}
	c := callTree{rt: rt, code: dac.CodeOf(rt), gaps: &gaps, names: map[target.Addr]callNames{}}
	out := answer.NewParallelStacks(c.calls(tree.Roots), len(tree.Threads))
	out.Gaps = gaps
	return out, nil
}

// wholeStack passes frames on and notes where the stack ends early.
func wholeStack(gaps *answer.Gaps, osID uint32, frames iter.Seq[stackwalk.Frame]) iter.Seq[stackwalk.Frame] {
	return func(yield func(stackwalk.Frame) bool) {
		for f := range frames {
			if err := f.Missing(); err != nil {
				gaps.Note(fmt.Errorf("stack of thread %#x: %w", osID, err))
			}
			if !yield(f) {
				return
			}
		}
	}
}

// A callTree converts the nodes of a StackTree to answers.
type callTree struct {
	rt    *dac.Runtime
	code  *dac.CodeReader // of rt
	gaps  *answer.Gaps
	names map[target.Addr]callNames // by MethodDesc
}

type callNames struct{ short, full answer.Text }

// calls converts nodes and everything below them. It does not recurse, because stacks are deep.
func (c *callTree) calls(roots []*StackNode) []*answer.StackCall {
	type level struct {
		nodes []*StackNode
		out   *[]*answer.StackCall
	}
	var calls []*answer.StackCall
	todo := []level{{roots, &calls}}
	for len(todo) > 0 {
		l := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, n := range l.nodes {
			names := c.name(n)
			call := &answer.StackCall{Name: names.short, FullName: names.full, Threads: n.Threads, Own: n.Own()}
			*l.out = append(*l.out, call)
			todo = append(todo, level{n.Calls, &call.Calls})
		}
	}
	return calls
}

func (c *callTree) name(n *StackNode) callNames {
	md := n.Method
	if md == nil {
		name := answer.Text{S: n.Native.Name}
		return callNames{name, name}
	}
	names, ok := c.names[md.Addr]
	if !ok {
		names.short = c.gaps.Text(stackwalk.ShortName(c.rt, md))
		full, err := c.code.MethodName(md, dac.MethodFull)
		names.full = answer.Text{S: full, Err: err} // noted with the short name
		c.names[md.Addr] = names
	}
	return names
}
