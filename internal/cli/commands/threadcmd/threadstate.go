package threadcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/report"
)

func threadStateCommand() cli.Command {
	return cli.Command{
		Name: "threadstate", Group: cli.GroupThreads, Ask: askThreadState,
		Summary: "explain the State column of clrthreads",
		Args:    []cli.Arg{{Name: "state", Kind: cli.Address, Summary: "the bits, hexadecimal"}},
		Result:  report.Result[answer.ThreadStates](),
	}
}

func askThreadState(c *cli.Context) (report.Answer, error) {
	state, _ := c.Addr("state")
	if state>>32 != 0 {
		return report.Answer{}, c.Usagef("%#x has more than 32 bits", uint64(state))
	}
	return report.Say(&answer.ThreadStates{States: dac.ThreadState(state).Words()}, threadtext.States), nil
}
