package commands

import (
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/target"
)

func watsonBucketsCommand() cli.Command {
	return cli.Command{
		Name: "watsonbuckets", Group: cli.GroupThreads, NeedsDump: true,
		Summary: "the parameters by which Windows sorts crashes; sosgo does not read them",
		Help: "Windows Error Reporting sorts crashes into buckets, and .NET on Windows collects their parameters while it handles an exception. " +
			"Other systems have none. crashinfo says why a process died.",
		Examples: []cli.Example{{Line: "watsonbuckets", Text: "says why there is no answer"}},
		Run:      runWatsonBuckets,
	}
}

func runWatsonBuckets(c *cli.Context) error {
	if dumpOf(c).Target().Platform().OS != target.OSWindows {
		return target.Unsupportedf("no Watson buckets are present: only .NET on Windows has them (see crashinfo)")
	}
	return target.Unsupportedf("Watson buckets are not read (see crashinfo)")
}
