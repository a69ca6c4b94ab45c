package threadcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/stackwalk/threads"
)

func threadsCommand() cli.Command {
	return cli.Command{
		Name: "threads", Aliases: []string{"setthread"}, Group: cli.GroupThreads, NeedsDump: true, Ask: askThreads,
		Summary: "list the threads of the OS, or make one the current thread",
		Help: "Without options the thread is an index of this list; a number that is no index, or is hexadecimal, " +
			"is an OS thread id as it is printed. The current thread is marked with *: at first it is the one that crashed, if the dump tells.",
		Args: []cli.Arg{{Name: "thread", Kind: cli.Str, Optional: true, Summary: "to make the current one"}},
		Options: append(ask.ThreadOptions(),
			cli.Option{Name: "verbose", Aliases: []string{"v"}, Summary: "also print instruction, stack and frame pointer"}),
		Examples: []cli.Example{
			{Line: "setthread 7", Text: "the thread with DBG 7 in clrthreads"},
			{Line: "setthread -m 1", Text: "the thread with the managed id 1"},
		},
		Result: report.Result[answer.OSThreads](),
	}
}

func askThreads(c *cli.Context) (report.Answer, error) {
	list, err := ask.Threads(c)
	if err != nil {
		return report.Answer{}, err
	}
	if text, ok := c.Str("thread"); ok {
		return report.Answer{}, setThread(c, list, text)
	}
	d := threads.DescribeOS(ask.Dump(c).Target(), list, ask.CurrentThread(c, list))
	return report.Say(d, func(p *report.Page, l *answer.OSThreads) {
		threadtext.OSThreads(p, l, threadtext.OSThreadsOptions{Verbose: c.Bool("verbose")})
	}), nil
}

func setThread(c *cli.Context, list []threads.Thread, text string) error {
	t, err := ask.FindThread(c, list, text)
	if err != nil {
		return err
	}
	if t.OS == nil {
		return c.Usagef("no OS thread runs thread %s", text)
	}
	c.Session.SetThread(t.ID())
	return nil
}

func registersCommand() cli.Command {
	return cli.Command{
		Name: "registers", Aliases: []string{"r"}, Group: cli.GroupThreads, NeedsDump: true, Ask: askRegisters,
		Summary: "print the registers of the current thread",
		Help: "Of a thread that raised the exception that the dump was written for they are those of that moment, if the dump has them; " +
			"with -now those of the moment of the dump, when the thread mostly waits for the dump to be written.",
		Args: []cli.Arg{{Name: "thread", Kind: cli.Str, Optional: true, Summary: "instead of the current one (see threads); or the name of a register, to print that alone"}},
		Options: append(ask.ThreadOptions(),
			cli.Option{Name: "verbose", Aliases: []string{"v"}, Summary: "also print the floating-point and vector registers"},
			cli.Option{Name: "now", Summary: "those of the moment of the dump, also of the thread that raised its exception"}),
		Result: report.Result[answer.Registers](),
	}
}

func askRegisters(c *cli.Context) (report.Answer, error) {
	list, err := ask.Threads(c)
	if err != nil {
		return report.Answer{}, err
	}
	text, _ := c.Str("thread")
	o := threads.RegisterOptions{Float: c.Bool("verbose")}
	if x, ok := ask.Dump(c).Target().Exception(); ok && !c.SOS && !c.Bool("now") {
		o.Exception = &x
	}
	current, err := ask.CurrentThread(c, list).DescribeRegisters(o)
	if one := current.Only(text); err == nil && one != nil { // r rip
		return report.Say(one, threadtext.Registers), nil
	}
	t, err := ask.Thread(c, list, text)
	if err != nil {
		return report.Answer{}, err
	}
	d, err := t.DescribeRegisters(o)
	if err != nil {
		return report.Answer{}, err
	}
	return report.Say(d, threadtext.Registers), nil
}
