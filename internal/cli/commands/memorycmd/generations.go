package memorycmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/memorytext"
	"github.com/sosgo/sosgo/internal/report"
)

func ephRefsCommand() cli.Command {
	return cli.Command{
		Name: "ephrefs", Group: cli.GroupMemory, NeedsDump: true, Ask: askEphRefs,
		Summary: "lists the objects of older generations that refer to younger ones",
		Help: "A collection of young generations has to look at these objects, and takes for alive what they refer to, though they may be garbage " +
			"themselves. Rows with many references are where such collections spend their time.",
		Result: report.Result[answer.OldReferences](),
	}
}

func askEphRefs(c *cli.Context) (report.Answer, error) {
	h, err := ask.ScannedHeap(c, false)
	if err != nil {
		return report.Answer{}, err
	}
	out, err := h.OldReferences(c.Context(), ask.Scan(c, "scanning the heap"))
	return ask.Say(out, err, memorytext.OldReferences)
}

func ephToLOHCommand() cli.Command {
	return cli.Command{
		Name: "ephtoloh", Group: cli.GroupMemory, NeedsDump: true, Ask: askEphToLOH,
		Summary: "lists the references between young objects and large ones",
		Help: "Large objects are collected with generation 2 alone. One that refers to young objects keeps them alive until then, garbage or not; " +
			"where a young object refers to a large one that refers to young ones, short-lived data lives long.",
		Result: report.Result[answer.LargeReferences](),
	}
}

func askEphToLOH(c *cli.Context) (report.Answer, error) {
	h, err := ask.ScannedHeap(c, false)
	if err != nil {
		return report.Answer{}, err
	}
	out, err := h.LargeReferences(c.Context(), ask.Scan(c, "scanning the heap"))
	return ask.Say(out, err, memorytext.LargeReferences)
}
