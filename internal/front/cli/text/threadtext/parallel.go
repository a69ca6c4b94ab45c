package threadtext

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// ParallelOptions choose the form of merged stacks.
type ParallelOptions struct {
	AllThreads bool // all thread ids of a group, instead of a few
}

// Parallel is the text of parallelstacks.
func Parallel(p *report.Page, s *answer.ParallelStacks, o ParallelOptions) {
	if !p.SOS && s.Threads == 0 && len(s.Noted()) > 0 {
		p.Print("No managed frames found; some stacks can't be read.\n")
		return
	}
	p.Print("\n")
	for _, root := range s.Roots {
		p.Print("________________________________________________")
		stackCall(p, root, 0, o)
		p.Print("\n\n\n")
	}
	p.Printf("==> %d threads with %d roots\n\n", s.Threads, len(s.Roots))
}

const (
	treeIndent   = 5
	shownThreads = 4 // of a group
)

// stackCall writes a call below its callees. Calls that all threads share are a run
// of one depth, so that the recursion is never deeper than there are threads.
func stackCall(p *report.Page, c *answer.StackCall, depth int, o ParallelOptions) {
	run := []*answer.StackCall{c}
	for len(c.Calls) == 1 && len(c.Calls[0].Threads) == len(c.Threads) {
		c = c.Calls[0]
		run = append(run, c)
	}
	if len(c.Calls) < 2 || !p.SOS && len(c.Own) > 0 {
		threadIDs(p, c.Own, depth, o)
	}
	calls := slices.Clone(c.Calls)
	slices.SortStableFunc(calls, func(a, b *answer.StackCall) int { return len(a.Threads) - len(b.Threads) })
	for _, call := range calls {
		stackCall(p, call, depth+1, o)
	}
	for _, m := range slices.Backward(run) {
		p.Printf("\n%s%*d %s", report.Indent(depth, treeIndent), treeIndent, len(m.Threads), report.Escape(m.Name.String()))
	}
}

func threadIDs(p *report.Page, ids []uint32, depth int, o ParallelOptions) {
	shown := ids
	if !o.AllThreads {
		shown = ids[:min(len(ids), shownThreads)]
	}
	words := make([]string, len(shown))
	for i, id := range shown {
		words[i] = fmt.Sprintf("%x", id)
	}
	list := strings.Join(words, ",")
	if len(shown) < len(ids) {
		list += "..."
	}
	p.Printf("\n%s ~~~~ %s", report.Indent(depth, treeIndent), list)
}
