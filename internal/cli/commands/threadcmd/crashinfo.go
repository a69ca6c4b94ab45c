package threadcmd

import (
	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/report"
)

func crashInfoCommand() cli.Command {
	return cli.Command{
		Name: "crashinfo", Group: cli.GroupThreads, NeedsDump: true, Ask: askCrashInfo,
		Summary: "say on one page why the process died",
		Help: "The signal or exception record, the thread that died, its stack, the managed exception with its causes, and the likely reason in plain words. " +
			"Of a NativeAOT process it is what the process wrote about itself.",
		Options: []cli.Option{
			{Name: "e", Summary: "accepted for SOS's sake"},
			{Name: "lines", Summary: "print source files and lines in SOS's form too"},
		},
		Examples: []cli.Example{{Line: "crashinfo", Text: "the first thing to ask a crash dump"}},
		Result:   report.Result[answer.Crash](),
	}
}

func askCrashInfo(c *cli.Context) (report.Answer, error) {
	x, err := ask.View(c).Crash(c.Context())
	if err != nil {
		return report.Answer{}, err
	}
	return report.Say(x, func(p *report.Page, x *answer.Crash) {
		threadtext.Crash(p, x, threadtext.CrashOptions{Lines: c.Bool("lines")})
	}), nil
}

// Greeting is what the prompt says of a dump before anything was asked: why
// the process died, if it did. What can't be read is left to crashinfo.
func Greeting(d cli.Dump, runtime string) []string {
	opened, ok := d.(*sosgo.Dump)
	if !ok {
		return nil
	}
	v, _ := opened.View(runtime) // it keeps the error
	return threadtext.Greeting(v.BriefCrash())
}
