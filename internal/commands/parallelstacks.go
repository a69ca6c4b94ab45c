package commands

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/stackwalk"
)

func parallelStacksCommand() cli.Command {
	return cli.Command{
		Name: "parallelstacks", Aliases: []string{"pstacks"}, Group: cli.GroupThreads, NeedsDump: true,
		Summary: "show the stacks of all threads in one picture",
		Help: "Threads that came through the same calls share their lines; the number before a call is how many threads " +
			"are in it. The outermost caller of each group stands last, and the threads (~~~~) above the call that they are in.",
		Options: []cli.Option{
			{Name: "allthreads", Aliases: []string{"a"}, Summary: "all thread ids of a group, instead of four"},
			{Name: "runtime", Aliases: []string{"r"}, Summary: "the runtime's own frames too"},
		},
		Examples: []cli.Example{{Line: "pstacks -a", Text: "with all thread ids"}},
		Result:   []report.Part{report.ListOf[mergedStack]("stacks")},
		Run:      runParallelStacks,
	}
}

type mergedStack struct {
	Threads []uint32 `json:"threads" doc:"OS ids of the threads that have this stack"`
	Methods []string `json:"methods" doc:"the methods, from the one that is running on"`
}

func runParallelStacks(c *cli.Context) error {
	rt, err := runtimeOf(c)
	if err != nil {
		return err
	}
	walker, err := viewOf(c).Walker()
	if err != nil {
		return err
	}
	threads, err := allThreads(c)
	if err != nil {
		return err
	}
	wanted := func(f *stackwalk.Frame) bool {
		return f.Kind == stackwalk.FrameManaged || c.Bool("runtime")
	}
	var tree stackwalk.StackTree
	for _, t := range runningThreads(c, rt, threads) {
		frames := walker.Walk(c.Context(), t.Managed, t.OS.Registers, stackwalk.WalkOptions{})
		if err := tree.Add(t.OS.ID, frames, wanted); err != nil {
			c.Warn(fmt.Errorf("stack of thread %#x: %w", t.OS.ID, err))
		}
	}
	p := &treePrinter{c: c, rt: rt, limit: 4}
	if c.Bool("allthreads") {
		p.limit = -1
	}
	if c.JSON() != nil {
		return p.json(&tree)
	}
	c.Printf("\n")
	for _, root := range tree.Roots {
		c.Printf("________________________________________________")
		p.node(root, 0)
		c.Printf("\n\n\n")
	}
	c.Printf("==> %d threads with %d roots\n\n", len(tree.Threads), len(tree.Roots))
	return nil
}

// A treePrinter prints a StackTree in SOS's form.
type treePrinter struct {
	c     *cli.Context
	rt    *dac.Runtime
	limit int // thread ids of a group, -1 for all
}

const treeIndent = 5

// node prints a call below its callees. Calls that all threads share are a run
// of one depth, so that the recursion is never deeper than there are threads.
func (p *treePrinter) node(n *stackwalk.StackNode, depth int) {
	run := []*stackwalk.StackNode{n}
	for len(n.Calls) == 1 && len(n.Calls[0].Threads) == len(n.Threads) {
		n = n.Calls[0]
		run = append(run, n)
	}
	if own := n.Own(); len(n.Calls) < 2 || !p.c.SOS && len(own) > 0 {
		p.threads(own, depth)
	}
	calls := slices.Clone(n.Calls)
	slices.SortStableFunc(calls, func(a, b *stackwalk.StackNode) int { return len(a.Threads) - len(b.Threads) })
	for _, call := range calls {
		p.node(call, depth+1)
	}
	for _, m := range slices.Backward(run) {
		p.c.Printf("\n%*s%*d %s", treeIndent*depth, "", treeIndent, len(m.Threads), report.Escape(p.label(m.Method)))
	}
}

func (p *treePrinter) threads(ids []uint32, depth int) {
	var text []string
	for i, id := range ids {
		if i == p.limit {
			break
		}
		text = append(text, fmt.Sprintf("%x", id))
	}
	list := strings.Join(text, ",")
	if len(text) < len(ids) {
		list += "..."
	}
	p.c.Printf("\n%*s ~~~~ %s", treeIndent*depth, "", list)
}

// label is the short name of a method, or the words for one that can't be read.
func (p *treePrinter) label(md *code.MethodDesc) string {
	name, err := stackwalk.ShortName(p.rt, md)
	return textOr(p.c, name, err)
}

// json writes each stack that threads stand in, merged where it is the same.
func (p *treePrinter) json(tree *stackwalk.StackTree) error {
	if err := p.c.JSON().List("stacks"); err != nil {
		return err
	}
	type place struct {
		node  *stackwalk.StackNode
		depth int
	}
	var path []*stackwalk.StackNode
	todo := make([]place, 0, len(tree.Roots))
	for _, r := range slices.Backward(tree.Roots) {
		todo = append(todo, place{r, 0})
	}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		path = append(path[:at.depth], at.node)
		if own := at.node.Own(); len(own) > 0 {
			s := mergedStack{Threads: own}
			for _, n := range slices.Backward(path) {
				name, err := code.Of(p.rt).MethodName(n.Method, code.MethodFull)
				s.Methods = append(s.Methods, textOr(p.c, name, err))
			}
			if err := p.c.JSON().Item("stacks", &s); err != nil {
				return err
			}
		}
		for _, call := range slices.Backward(at.node.Calls) {
			todo = append(todo, place{call, at.depth + 1})
		}
	}
	return nil
}
