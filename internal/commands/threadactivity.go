package commands

import (
	"fmt"
	"strconv"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

type threadActivity struct {
	Kind   string `json:"kind" doc:"a word for the kind, such as \"running\", \"lock\", \"sleep\", \"idle\""`
	Text   string `json:"text" doc:"what the thread does or waits for, concluded from the names of the methods on its stack"`
	Top    string `json:"topFrame,omitempty" doc:"the topmost managed method"`
	Caller string `json:"callerFrame,omitempty" doc:"the topmost method that is not the framework's"`
}

// threadActivities looks at the stacks of threads.
func threadActivities(c *cli.Context, rt *dac.Runtime, threads []sosgo.Thread) ([]threadActivity, error) {
	walker, err := viewOf(c).Walker()
	if err != nil {
		return nil, err
	}
	out := make([]threadActivity, len(threads))
	for i := range threads {
		t := &threads[i]
		var regs target.Registers
		if t.OS != nil {
			regs = t.OS.Registers
		}
		a := t.Activity(walker.Walk(c.Context(), t.Managed, regs, stackwalk.WalkOptions{}))
		if a.Err != nil && t.OS != nil {
			c.Warn(fmt.Errorf("stack of thread %#x: %w", t.ID(), a.Err))
		}
		out[i] = threadActivity{Kind: a.Activity.String(), Text: a.Text, Top: methodText(c, rt, a.Top), Caller: methodText(c, rt, a.Caller)}
	}
	return out, nil
}

// methodText is the name of a method that may be none.
func methodText(c *cli.Context, rt *dac.Runtime, md *code.MethodDesc) string {
	if md == nil {
		return ""
	}
	name, err := code.Of(rt).MethodName(md, code.MethodFull)
	return textOr(c, name, err)
}

// printActivities lists threads with what they do.
func printActivities(c *cli.Context, rt *dac.Runtime, threads []sosgo.Thread) error {
	activities, err := threadActivities(c, rt, threads)
	if err != nil {
		return err
	}
	rows := make([][]string, len(threads))
	for i := range threads {
		t, a := &threads[i], &activities[i]
		index := "XXXX"
		if t.Index >= 0 {
			index = strconv.Itoa(t.Index)
		}
		rows[i] = []string{index, strconv.FormatUint(uint64(t.Managed.ManagedID), 10), fmt.Sprintf("%x", t.Managed.OSID),
			threadName(c, t), a.Text, orNone(a.Top), orNone(a.Caller)}
	}
	return report.Summary(c.Out, []string{"DBG", "ID", "OSID", "Name", "Activity", "Top frame", "Called by"}, rows)
}
