package objectcmd

import (
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/report"
)

func dumpObjGCRefsCommand() cli.Command {
	return cli.Command{
		Name: "dumpobjgcrefs", Group: cli.GroupObjects, NeedsDump: true, Ask: askDumpObjGCRefs,
		Summary: "list the objects that an object refers to, as the GC sees them",
		Args:    []cli.Arg{ask.Object("address", "address of the object")},
		Result:  report.Result[iter.Seq2[answer.Reference, error]](),
	}
}

func askDumpObjGCRefs(c *cli.Context) (report.Answer, error) {
	r, err := ask.Objects(c)
	if err != nil {
		return report.Answer{}, err
	}
	a, _ := c.Addr("address")
	refs, err := r.References(c.Context(), a)
	if err != nil {
		return invalidObject(err)
	}
	return report.Say(refs, objecttext.References), nil
}
