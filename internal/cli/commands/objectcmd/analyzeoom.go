package objectcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/report"
)

func analyzeOOMCommand() cli.Command {
	return cli.Command{
		Name: "analyzeoom", Group: cli.GroupObjects, NeedsDump: true, Ask: askAnalyzeOOM,
		Summary: "says why the garbage collector last could not allocate memory",
		Help: "Each heap of the collector remembers the last allocation that failed in it. An OutOfMemoryException that other code threw " +
			"is not remembered there; dumpexceptions -type OutOfMemory finds those. What fills the heap, leaks and dumpheap -stat tell.",
		Result: report.Result[answer.OutOfMemory](),
	}
}

func askAnalyzeOOM(c *cli.Context) (report.Answer, error) {
	a, err := ask.View(c).OutOfMemory()
	if err != nil {
		return report.Answer{}, err
	}
	return report.Say(a, objecttext.OutOfMemory), nil
}
