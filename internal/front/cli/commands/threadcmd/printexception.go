package threadcmd

import (
	"errors"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/crash"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/stackwalk/threads"
	"github.com/sosgo/sosgo/target"
)

type thrownOptions struct {
	Lines  bool         `opt:"lines" help:"also source files and lines in SOS's form; other forms always have them"`
	Nested bool         `opt:"nested" help:"also the exceptions that the thread was handling when it threw"`
	All    bool         `opt:"all" help:"the exceptions of all threads"`
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
		return nil, target.Unsupportedf("-ccw: exceptions are not looked up by their COM wrappers")
	}
	rt, err := ask.Runtime(c)
	if err != nil {
		return nil, err
	}
	list, err := ask.Threads(c)
	if err != nil {
		return nil, err
	}
	if o.All {
		x := allExceptions(rt, list)
		ending(c, rt, x)
		return x, nil
	}
	t, a := ask.CurrentThread(c, list), o.Object.Addr
	if !o.Object.Given {
		if a, err = lastThrown(t); err != nil && ask.FormOf(c).NoAdvice {
			return nil, err
		}
	} else if err := provenObject(c, a); err != nil {
		return nil, invalidException(a, err)
	}
	if a == 0 && err == nil || err != nil && t.Managed == nil {
		x := &answer.ThrownException{}
		x.Others = crash.Exceptions(rt, list, &x.Gaps)
		ending(c, rt, x)
		return x, nil
	}
	if err != nil {
		return nil, err
	}
	x, err := t.DescribeException(rt, a, o.Nested)
	if o.Object.Given && errors.Is(err, dac.ErrNotException) { // the address is wrong, not the dump
		err = c.Usagef("object %016x is not an exception: use dumpobj", uint64(a))
	}
	if err != nil {
		return nil, invalidException(a, err)
	}
	return x, nil
}

// ending adds the exception that ended the process, if it is not a thread's exception. Errors about the threads are
// already noted.
func ending(c *cli.Context, rt *dac.Runtime, x *answer.ThrownException) {
	record, err := crash.Read(ask.View(c), crash.Options{})
	if len(x.Noted()) == 0 {
		x.Note(err)
	}
	x.Ended = crash.Ending(rt, record, &x.Gaps)
}

func invalidException(a target.Addr, err error) error {
	return cli.WithText(func(p *report.Page) { threadtext.InvalidException(p, a) }, err)
}

// allExceptions describes the exceptions of all threads.
func allExceptions(rt *dac.Runtime, list []threads.Thread) *answer.ThrownException {
	x := &answer.ThrownException{}
	rows := crash.Exceptions(rt, list, &x.Gaps)
	x.All = func(yield func(*answer.ThreadException, error) bool) {
		for _, row := range rows {
			e, err := code.Of(rt).DescribeException(row.Exception, code.ExceptionOptions{})
			if err == nil {
				x.NoteAll(e.Noted())
			}
			if !yield(&answer.ThreadException{Carried: row, Exception: e}, err) {
				return
			}
		}
	}
	return x
}

// lastThrown returns the exception that a thread threw last, or 0.
func lastThrown(t *threads.Thread) (target.Addr, error) {
	if t.Managed == nil {
		return 0, target.Unsupportedf("the current thread is unmanaged; clrthreads lists the managed ones")
	}
	return t.Managed.LastThrown, t.Managed.LastThrownError
}

// provenObject returns an error if a is neither 0 nor an object.
func provenObject(c *cli.Context, a target.Addr) error {
	r, err := ask.Objects(c)
	if err != nil || a == 0 {
		return err
	}
	_, err = r.Proven(a)
	return err
}
