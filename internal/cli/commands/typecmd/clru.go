package typecmd

import (
	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/target"
)

type codeOptions struct {
	GCInfo  bool        `opt:"gcinfo" help:"where slots begin and end to hold references"`
	EHInfo  bool        `opt:"ehinfo" help:"where exception handlers and their code begin and end"`
	IL      bool        `opt:"il" help:"the IL that code was made from"`
	Map     bool        `opt:"map" help:"the map from IL to code, first"`
	Offsets bool        `opt:"o" help:"the offset of each instruction"`
	NoLines bool        `opt:"n" help:"no source lines"`
	Address target.Addr `arg:"address" kind:"method" help:"MethodDesc, address in its code, or the method's name"`
}

func clruCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name: "clru", Aliases: []string{"u"},
		Summary: "disassemble a method",
		Help: "The whole code of the method, with the names of what it calls and of types, objects and strings that it " +
			"loads. An address inside the code is marked with >>>.",
		Examples: []cli.Example{
			{Line: "clru 7f27f48618d8", Text: "the code of a method"},
			{Line: "clru -gcinfo -ehinfo 7f27f487b3a0", Text: "with what the compiler recorded beside it"},
		},
	}, askClru, func(p *report.Page, d *answer.Disassembly, o *codeOptions) {
		typetext.Disassembly(p, d, typetext.DisassemblyOptions{Offsets: o.Offsets, NoSource: o.NoLines})
	})
}

func askClru(c *cli.Context, o *codeOptions) (*answer.Disassembly, error) {
	return ask.View(c).Disassembly(ask.Context(c), o.Address, sosgo.CodeOptions{GCInfo: o.GCInfo, Handlers: o.EHInfo, IL: o.IL, Map: o.Map})
}
