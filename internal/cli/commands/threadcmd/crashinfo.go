package threadcmd

import (
	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/report"
)

type crashOptions struct {
	E     bool `opt:"e" help:"accepted for compatibility with SOS"`
	Lines bool `opt:"lines" help:"source files and lines in SOS's form too"`
}

func crashInfoCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name:    "crashinfo",
		Summary: "explain on one page why the process died",
		Help: "The signal or exception record, the thread that died, its stack, the managed exception with its causes, and the likely reason in plain words. " +
			"For a NativeAOT process it shows what the process wrote about itself.",
		Examples: []cli.Example{{Line: "crashinfo", Text: "the first command for a crash dump"}},
	}, func(c *cli.Context, _ *crashOptions) (*answer.Crash, error) { return ask.View(c).Crash(c.Context()) },
		func(p *report.Page, x *answer.Crash, o *crashOptions) {
			threadtext.Crash(p, x, threadtext.CrashOptions{Lines: o.Lines})
		})
}

// Greeting returns what the prompt prints for a dump at first: why the process died, if it did. What can't be read is
// left to crashinfo.
func Greeting(d cli.Dump, runtime string) []string {
	opened, ok := d.(*sosgo.Dump)
	if !ok {
		return nil
	}
	v, _ := opened.View(runtime) // it keeps the error
	return threadtext.Greeting(v.BriefCrash())
}
