package typecmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/target"
)

func dumpSigCommand() cli.Command {
	return signatureCommand("dumpsig", "decode the signature of a method or field", (*dac.Runtime).DescribeSignature)
}

func dumpSigElemCommand() cli.Command {
	return signatureCommand("dumpsigelem", "decode one type of a signature", (*dac.Runtime).DescribeTypeSignature)
}

func signatureCommand(name, summary string, describe func(rt *dac.Runtime, a, module target.Addr) (*answer.Signature, error)) cli.Command {
	return cli.Command{
		Name: name, Group: cli.GroupTypes, NeedsDump: true,
		Summary: summary,
		Args: []cli.Arg{
			{Name: "address", Kind: cli.Address, Summary: "of the signature"},
			{Name: "module", Kind: cli.Address, Optional: true, Summary: "Module whose tokens it has"},
		},
		Result: report.Result[answer.Signature](),
		Ask: func(c *cli.Context) (report.Answer, error) {
			rt, err := ask.Runtime(c)
			if err != nil {
				return report.Answer{}, err
			}
			a, _ := c.Addr("address")
			module, _ := c.Addr("module")
			sig, err := describe(rt, a, module)
			return ask.Say(sig, err, typetext.Signature)
		},
	}
}
