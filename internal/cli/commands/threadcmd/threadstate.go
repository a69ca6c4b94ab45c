package threadcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/text/threadtext"
	"github.com/sosgo/sosgo/target"
)

type stateOptions struct {
	State target.Addr `arg:"state" help:"the bits, hexadecimal"`
}

func threadStateCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "threadstate", NoDump: true,
		Summary: "explain the State column of clrthreads",
	}, func(c *cli.Context, o *stateOptions) (*answer.ThreadStates, error) {
		if o.State>>32 != 0 {
			return nil, c.Usagef("%#x has more than 32 bits", uint64(o.State))
		}
		return &answer.ThreadStates{States: dac.ThreadState(o.State).Words()}, nil
	}, threadtext.States)
}
