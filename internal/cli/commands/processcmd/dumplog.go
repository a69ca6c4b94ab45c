package processcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/processtext"
)

type dumpLogOptions struct {
	Thread uint32 `opt:"thread,t" value:"ID" help:"the messages of the thread with this OS id alone"`
}

func dumpLogCommand() cli.Command {
	return cli.Ask(cli.Command{Name: "dumplog", Aliases: []string{"stresslog"}, OnlyAsks: true,
		Summary: "list the messages of the runtime's stress log, the newest first",
		Help: "The runtime keeps the log in memory if the process runs with DOTNET_StressLog=1. The texts are in the file of the runtime, " +
			"which few dumps hold: --modules or --symbol-server provide it.",
		Examples: []cli.Example{{Line: "dumplog > log.txt", Text: "the whole log in a file"}},
	}, func(c *cli.Context, o *dumpLogOptions) (*answer.StressLog, error) {
		return ask.View(c).StressLog(ask.Context(c), o.Thread)
	}, processtext.StressLog)
}
