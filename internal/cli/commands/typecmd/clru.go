package typecmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/objects/disasm"
)

func clruCommand() cli.Command {
	return cli.Command{
		Name: "clru", Aliases: []string{"u"}, Group: cli.GroupTypes, NeedsDump: true, Ask: askClru,
		Summary: "disassemble a method",
		Help: "The whole code of the method, with the names of what it calls and of types, objects and strings that it " +
			"loads. An address inside the code is marked with >>>.",
		Options: []cli.Option{
			{Name: "gcinfo", Summary: "show where slots begin and end to hold references"},
			{Name: "ehinfo", Summary: "show where exception handlers and their code begin and end"},
			{Name: "il", Summary: "show the IL that code was made from"},
			{Name: "map", Summary: "list the map from IL to code first"},
			{Name: "o", Summary: "show the offset of each instruction"},
			{Name: "n", Summary: "leave out source lines"},
		},
		Args: []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "MethodDesc, or address in its code"}},
		Examples: []cli.Example{
			{Line: "clru 7f27f48618d8", Text: "the code of a method"},
			{Line: "clru -gcinfo -ehinfo 7f27f487b3a0", Text: "with what the compiler recorded beside it"},
		},
		Result: report.Result[answer.Disassembly](),
	}
}

func askClru(c *cli.Context) (report.Answer, error) {
	l, err := ask.Lister(c)
	if err != nil {
		return report.Answer{}, err
	}
	a, _ := c.Addr("address")
	d, err := l.Method(c.Context(), a, disasm.MethodOptions{
		GCInfo: c.Bool("gcinfo"), Handlers: c.Bool("ehinfo"), IL: c.Bool("il"), Map: c.Bool("map")})
	o := typetext.DisassemblyOptions{Offsets: c.Bool("o"), NoSource: c.Bool("n")}
	return ask.Say(d, err, func(p *report.Page, d *answer.Disassembly) { typetext.Disassembly(p, d, o) })
}
