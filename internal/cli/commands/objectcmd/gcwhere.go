package objectcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/report"
)

func gcWhereCommand() cli.Command {
	return cli.Command{
		Name: "gcwhere", Group: cli.GroupObjects, NeedsDump: true, Ask: askGCWhere,
		Summary: "says where in the heap an address lies: heap, segment and generation",
		Args:    []cli.Arg{ask.Object("address", "an object, or any address")},
		Result:  report.Result[answer.Where](),
	}
}

func askGCWhere(c *cli.Context) (report.Answer, error) {
	h, err := ask.Heap(c)
	if err != nil {
		return report.Answer{}, err
	}
	a, _ := c.Addr("address")
	return report.Say(h.Where(a), objecttext.Where), nil
}
