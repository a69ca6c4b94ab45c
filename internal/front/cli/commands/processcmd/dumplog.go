package processcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/processtext"
	"github.com/sosgo/sosgo/target"
)

type dumpLogOptions struct {
	Thread  uint32       `opt:"thread,t" value:"ID" help:"the messages of the thread with this OS id alone"`
	Address *target.Addr `opt:"address,a" help:"the messages that name this address alone: of an object, a root or a MethodTable"`
}

func dumpLogCommand() cli.Command {
	return cli.Ask(cli.Command{Name: "dumplog", Aliases: []string{"stresslog"}, OnlyAsks: true,
		Summary: "list the messages of the runtime's stress log, the newest first",
		Help: "The runtime keeps the log in memory if the process runs with DOTNET_StressLog=1. The texts are in the file of the runtime, " +
			"which few dumps hold: --modules or --symbol-server provide it. With DOTNET_LogLevel=A and DOTNET_LogFacility=FFFFFFFF the log has each root that a collection " +
			"promoted or relocated, with the object and its earlier address.",
		Examples: []cli.Example{{Line: "dumplog > log.txt", Text: "the whole log in a file"},
			{Line: "dumplog -address ADDRESS", Text: "what collections did with an object, or with a root"}},
	}, func(c *cli.Context, o *dumpLogOptions) (*answer.StressLog, error) {
		out, err := memory.StressLog(ask.Context(c), ask.View(c), o.Thread)
		if err == nil && o.Address != nil {
			own := *out
			out = &own
			out.About(*o.Address)
		}
		return out, err
	}, processtext.StressLog)
}
