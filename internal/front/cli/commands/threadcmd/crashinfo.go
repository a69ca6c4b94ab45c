package threadcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/app/stacks"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/process"
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
	}, func(c *cli.Context, _ *crashOptions) (*answer.Crash, error) {
		return crash.Describe(c.Context(), ask.View(c), crash.Options{})
	},
		func(p *report.Page, x *answer.Crash, o *crashOptions) {
			threadtext.Crash(p, x, threadtext.CrashOptions{Lines: o.Lines})
		})
}

// Greeting returns the prompt's first lines about a dump: the reason of a crash, if any. Errors are left to
// crashinfo.
func Greeting(d cli.Dump, runtime string) []string {
	opened, ok := d.(*process.Dump)
	if !ok {
		return nil
	}
	v, _ := opened.Process(runtime) // the process keeps the error
	return threadtext.Greeting(crash.DescribeBriefly(v, crash.Options{}))
}

type threadOptions struct {
	ask.ThreadIDs
	Thread string `arg:"thread,optional" help:"the thread"`
}

func clrmaCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "clrma",
		Summary: "analyze a thread: its managed frames, its last exception and the causes",
		Help: "It is what WinDbg's !analyze requests from a runtime: managed frames, the exception with those that caused it, and those that " +
			"were being handled besides. crashinfo explains why the process died.",
		Examples: []cli.Example{{Line: "clrma", Text: "the current thread"}},
	}, askCLRMA, threadtext.Analysis)
}

func askCLRMA(c *cli.Context, o *threadOptions) (*answer.ThreadAnalysis, error) {
	list, err := ask.Threads(c)
	if err != nil {
		return nil, err
	}
	t, err := o.ThreadIDs.Thread(c, list, o.Thread)
	if err != nil {
		return nil, err
	}
	so := threads.StackOptions{Now: ask.FormOf(c).Now, Walk: walkOfAll(c), Source: true, Symbols: ask.Dump(c).Symbols()}
	return stacks.Analyze(ask.Context(c), ask.View(c), t, so)
}

func watsonBucketsCommand() cli.Command {
	return cli.Do(cli.Command{
		Name:    "watsonbuckets",
		Summary: "explain why the crash parameters of Windows are not shown (sosgo does not read them)",
		Help: "Windows Error Reporting sorts crashes into buckets, and .NET on Windows collects their parameters while it handles an exception. " +
			"Other systems have none. crashinfo explains why a process died.",
		Examples: []cli.Example{{Line: "watsonbuckets", Text: "why there is no answer"}},
	}, func(c *cli.Context, _ *cli.None) (report.Answer, error) {
		return report.Answer{}, noBucketsError{crash.WatsonBuckets(ask.Dump(c).Target())}
	})
}

// A noBucketsError is the reason why there are no Watson buckets.
type noBucketsError struct{ error }

func (e noBucketsError) Unwrap() error { return e.error }

// Advice names the command that explains why the process died.
func (noBucketsError) Advice() string {
	return "crashinfo explains why the process died; the signature in summarize sorts crashes into groups"
}
