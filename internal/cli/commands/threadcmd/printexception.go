package threadcmd

import (
	"errors"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/stackwalk/crash"
	"github.com/sosgo/sosgo/stackwalk/threads"
	"github.com/sosgo/sosgo/target"
)

func printExceptionCommand() cli.Command {
	return cli.Command{
		Name: "printexception", Aliases: []string{"pe"}, Group: cli.GroupThreads, NeedsDump: true, Ask: askPrintException,
		Summary: "print an exception and where it was thrown",
		Help: "Without an address it is the exception that the current thread threw last. If it threw none, the threads that have one are listed; " +
			"-all prints those of all threads.",
		Args: []cli.Arg{ask.OptionalObject("address", "address of the exception")},
		Options: []cli.Option{
			{Name: "lines", Summary: "also print source files and lines (outside SOS's form they are always printed)"},
			{Name: "nested", Summary: "also print the exceptions that the thread was handling when it threw"},
			{Name: "all", Summary: "print the exceptions of all threads"},
			{Name: "ccw", Kind: cli.Address, Summary: "not supported: needs the tables of COM interop"},
		},
		Examples: []cli.Example{{Line: "pe -nested", Text: "all that went wrong on this thread"}},
		Result:   report.Result[answer.ThrownException](),
	}
}

func askPrintException(c *cli.Context) (report.Answer, error) {
	if c.Has("ccw") {
		return report.Answer{}, target.Unsupportedf("-ccw: exceptions are not looked up by their COM wrappers")
	}
	rt, err := ask.Runtime(c)
	if err != nil {
		return report.Answer{}, err
	}
	list, err := ask.Threads(c)
	if err != nil {
		return report.Answer{}, err
	}
	say := func(x *answer.ThrownException) report.Answer {
		return report.Say(x, func(p *report.Page, x *answer.ThrownException) {
			threadtext.ThrownException(p, x, threadtext.ExceptionOptions{Nested: c.Bool("nested"), Lines: c.Bool("lines")})
		})
	}
	if c.Bool("all") {
		return say(allExceptions(rt, list)), nil
	}
	t := ask.CurrentThread(c, list)
	a, given := c.Addr("address")
	if !given {
		if a, err = lastThrown(t); err != nil && c.SOS {
			return report.Answer{}, err
		}
	} else if err := provenObject(c, a); err != nil {
		return report.SayText(func(p *report.Page) { threadtext.InvalidException(p, a) }), err
	}
	if a == 0 && err == nil || err != nil && t.Managed == nil {
		x := &answer.ThrownException{}
		x.Others = crash.Exceptions(rt, list, &x.Gaps)
		return say(x), nil
	}
	if err != nil {
		return report.Answer{}, err
	}
	x, err := t.DescribeException(rt, a, c.Bool("nested"))
	if given && errors.Is(err, dac.ErrNotException) { // the address is wrong, and nothing in the dump
		err = target.Unsupportedf("object %016x is no exception: use dumpobj", uint64(a))
	}
	if err != nil {
		return report.SayText(func(p *report.Page) { threadtext.InvalidException(p, a) }), err
	}
	return say(x), nil
}

// allExceptions are those of all threads.
func allExceptions(rt *dac.Runtime, list []threads.Thread) *answer.ThrownException {
	x := &answer.ThrownException{}
	rows := crash.Exceptions(rt, list, &x.Gaps)
	x.All = func(yield func(answer.ThreadException, error) bool) {
		for _, row := range rows {
			e, err := code.Of(rt).DescribeException(row.Exception, code.ExceptionOptions{})
			if err == nil {
				x.NoteAll(e.Noted())
			}
			if !yield(answer.ThreadException{Carried: row, Exception: e}, err) {
				return
			}
		}
	}
	return x
}

// lastThrown is the exception that a thread threw last, 0 for none.
func lastThrown(t *threads.Thread) (target.Addr, error) {
	if t.Managed == nil {
		return 0, target.Unsupportedf("the current thread is unmanaged; clrthreads lists the managed ones")
	}
	return t.Managed.LastThrown, t.Managed.LastThrownError
}

// provenObject says why a, which the user gave, is no object. 0 is none's.
func provenObject(c *cli.Context, a target.Addr) error {
	r, err := ask.Objects(c)
	if err != nil || a == 0 {
		return err
	}
	_, err = r.Proven(a)
	return err
}
