package threadcmd

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/stackwalk/crash"
)

func watsonBucketsCommand() cli.Command {
	return cli.Do(cli.Command{
		Name:    "watsonbuckets",
		Summary: "explain why the crash parameters of Windows are not shown (sosgo does not read them)",
		Help: "Windows Error Reporting sorts crashes into buckets, and .NET on Windows collects their parameters while it handles an exception. " +
			"Other systems have none. crashinfo explains why a process died.",
		Examples: []cli.Example{{Line: "watsonbuckets", Text: "why there is no answer"}},
	}, func(c *cli.Context, _ *cli.None) (report.Answer, error) {
		return report.Answer{}, fmt.Errorf("%w (see crashinfo)", crash.WatsonBuckets(ask.Dump(c).Target()))
	})
}
