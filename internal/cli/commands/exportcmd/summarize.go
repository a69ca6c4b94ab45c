package exportcmd

import (
	"encoding/hex"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/export/summary"
	"github.com/sosgo/sosgo/graph/leaks"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/exporttext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/target"
)

func summarizeCommand() cli.Command {
	return cli.Command{
		Name: "summarize", Group: cli.GroupExport, NeedsDump: true, DumpArg: true, Ask: askSummarize,
		Summary: "say in one line of JSON what a crash pipeline wants to know: signature, reason, top frame, suspects, sizes",
		Help: "The line is the result that --json prints in its envelope. Signatures hold across dumps: that of a crash is made of the type of the exception (or the signal) and " +
			"the innermost five methods, that of a suspect of its kind, its types and what keeps it alive, without addresses. What could not be read is absent, and missing counts it. " +
			"With -noheap the heap is not looked at, which takes most of the time of a large dump.",
		Args:    []cli.Arg{{Name: "file", Kind: cli.File, Optional: true, Summary: "the dump"}},
		Options: []cli.Option{{Name: "noheap", Summary: "leave the heap out: sizes and suspects"}},
		Examples: []cli.Example{
			{Line: "summarize core.4711", Text: "one line for the log of a pipeline"},
		},
		Result: report.Result[answer.Summary](),
	}
}

func askSummarize(c *cli.Context) (report.Answer, error) {
	s, err := summaryOf(c, c.Bool("noheap"))
	return ask.Say(s, err, exporttext.Summary)
}

// dumpID returns the dump's own id: the start of its fingerprint.
func dumpID(c *cli.Context) (string, error) {
	f, err := ask.Dump(c).File().Fingerprint()
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(f[:8]), nil
}

// summaryOf sums the dump up. What can't be read is noted in it.
func summaryOf(c *cli.Context, noHeap bool) (*answer.Summary, error) {
	d, v := ask.Dump(c), ask.View(c)
	process, platform := d.Target().Process(), d.Target().Platform()
	s := &answer.Summary{Dump: target.BaseName(c.Session.Path()), Process: process.Command, PID: process.ID, System: fmt.Sprintf("%s %s", platform.OS, platform.Arch)}
	var err error
	if s.ID, err = dumpID(c); err != nil {
		return nil, err
	}
	if t := process.DumpTime; !t.IsZero() {
		t = t.UTC()
		s.Time = &t
	}
	if inst, err := v.Instance(); err == nil {
		s.Runtime = inst.Version()
	}
	list, err := v.Threads()
	s.Note(err)
	if len(list) > 0 {
		n := len(list)
		s.Threads = &n
	}
	if crash, err := v.Crash(c.Context()); err == nil {
		summary.AddCrash(s, crash)
	} else {
		s.Note(err)
	}
	if !noHeap {
		s.Note(addLeaks(c, s))
	}
	s.Missing = len(s.Noted())
	return s, c.Context().Err()
}

// addLeaks returns what the heap holds.
func addLeaks(c *cli.Context, s *answer.Summary) error {
	h, err := ask.Holders(c)
	if err != nil {
		return err
	}
	r, err := ask.Objects(c)
	if err != nil {
		return err
	}
	found, err := leaks.Find(c.Context(), h, r, leaks.Options{})
	if err != nil {
		return err
	}
	summary.AddLeaks(s, found)
	return nil
}
