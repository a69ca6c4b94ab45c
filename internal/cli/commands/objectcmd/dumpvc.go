package objectcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/report"
)

func dumpVCCommand() cli.Command {
	return cli.Command{
		Name: "dumpvc", Group: cli.GroupObjects, NeedsDump: true, Ask: askDumpVC,
		Summary: "show a value type in place: its fields and values",
		Args: []cli.Arg{
			{Name: "mt", Kind: cli.Address, Summary: "MethodTable of the value type"},
			{Name: "address", Kind: cli.Address, Summary: "address of its first field"},
		},
		Examples: []cli.Example{{Line: "dumpvc 7f07a5b34f68 7efbcd805d40", Text: "show the struct that dumpobj listed with that MT and value"}},
		Result:   report.Result[answer.Struct](),
	}
}

func askDumpVC(c *cli.Context) (report.Answer, error) {
	r, err := ask.Objects(c)
	if err != nil {
		return report.Answer{}, err
	}
	mt, _ := c.Addr("mt")
	a, _ := c.Addr("address")
	s, err := r.DescribeStruct(mt, a)
	if err != nil {
		return report.SayText(objecttext.InvalidStruct), err
	}
	return report.Say(s, objecttext.Struct), nil
}
