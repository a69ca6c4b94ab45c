package typecmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
	"github.com/sosgo/sosgo/target"
)

func dumpSigCommand() cli.Command {
	return signatureCommand("dumpsig", "decode the signature of a method or field", (*dac.Runtime).DescribeSignature)
}

func dumpSigElemCommand() cli.Command {
	return signatureCommand("dumpsigelem", "decode one type of a signature", (*dac.Runtime).DescribeTypeSignature)
}

type signatureOptions struct {
	Address target.Addr `arg:"address" help:"the signature"`
	Module  target.Addr `arg:"module,optional" help:"Module whose tokens it has"`
}

func signatureCommand(name, summary string, describe func(rt *dac.Runtime, a, module target.Addr) (*answer.Signature, error)) cli.Command {
	return cli.Ask(cli.Command{Name: name, Summary: summary}, func(c *cli.Context, o *signatureOptions) (*answer.Signature, error) {
		rt, err := ask.Runtime(c)
		if err != nil {
			return nil, err
		}
		return describe(rt, o.Address, o.Module)
	}, typetext.Signature)
}
