package threadcmd

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/stackwalk/crash"
)

func watsonBucketsCommand() cli.Command {
	return cli.Command{
		Name: "watsonbuckets", Group: cli.GroupThreads, NeedsDump: true, Ask: askWatsonBuckets,
		Summary: "the parameters by which Windows sorts crashes; sosgo does not read them",
		Help: "Windows Error Reporting sorts crashes into buckets, and .NET on Windows collects their parameters while it handles an exception. " +
			"Other systems have none. crashinfo says why a process died.",
		Examples: []cli.Example{{Line: "watsonbuckets", Text: "says why there is no answer"}},
	}
}

func askWatsonBuckets(c *cli.Context) (report.Answer, error) {
	return report.Answer{}, fmt.Errorf("%w (see crashinfo)", crash.WatsonBuckets(ask.Dump(c).Target()))
}
