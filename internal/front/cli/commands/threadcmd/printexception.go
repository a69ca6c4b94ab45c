package threadcmd

import (
	"errors"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

type thrownOptions struct {
	Lines bool `opt:"lines" help:"also source files and lines in SOS's form; other forms always have them"`
	crash.ExceptionOptions
	CCW    *target.Addr `opt:"ccw" help:"not supported: needs the tables of COM interop"`
	Object cli.Object   `arg:"address,optional" help:"the exception"`
}

func printExceptionCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name: "printexception", Aliases: []string{"pe"},
		Summary: "print an exception and where it was thrown",
		Help: "Without an address it is the exception that the current thread threw last. If it threw none, the threads that have one are listed; " +
			"-all prints those of all threads. If no thread has the exception that ended the process, it is printed with the evidence for it.",
		Examples: []cli.Example{{Line: "pe -nested", Text: "all exceptions of this thread"}},
	}, askPrintException, func(p *report.Page, x *answer.ThrownException, o *thrownOptions) {
		threadtext.ThrownException(p, x, threadtext.ExceptionOptions{Nested: o.Nested, Lines: o.Lines})
	})
}

func askPrintException(c *cli.Context, o *thrownOptions) (*answer.ThrownException, error) {
	if o.CCW != nil {
		return nil, cli.Settled(target.Unsupportedf("-ccw: exceptions are not looked up by their COM wrappers; printexception takes the address of an exception, and dumpexceptions lists them"))
	}
	if _, err := ask.Runtime(c); err != nil {
		return nil, err
	}
	list, _ := ask.View(c).Threads() // the answer has the reason why some are missing
	var t *stackwalk.Thread
	if len(list) > 0 {
		t = ask.CurrentThread(c, list)
	}
	if t != nil && t.Managed == nil && !o.All && !o.Object.Given && ask.FormOf(c).NoAdvice {
		return nil, target.Unsupportedf("the current thread is unmanaged; clrthreads lists the managed ones")
	}
	o.Address = o.Object.Addr
	x, err := crash.Exception(c.Context(), ask.View(c), t, o.ExceptionOptions)
	if o.Object.Given && errors.Is(err, dac.ErrNotException) { // the address is wrong, not the dump
		err = c.Usagef("object %016x is not an exception: use dumpobj", uint64(o.Address))
	}
	if err != nil && o.Address == 0 && t != nil && t.Managed != nil {
		o.Address = t.Managed.LastThrown
	}
	if err != nil && o.Address != 0 {
		err = invalidException(o.Address, err)
	}
	return x, err
}

func invalidException(a target.Addr, err error) error {
	return cli.WithText(func(p *report.Page) { threadtext.InvalidException(p, a) }, err)
}
