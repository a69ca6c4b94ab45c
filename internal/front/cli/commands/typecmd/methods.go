package typecmd

import (
	"errors"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/methods"
	"github.com/sosgo/sosgo/internal/disasm"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/typetext"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

type methodOptions struct {
	Address target.Addr `arg:"address" kind:"method" help:"MethodDesc, or the method's name"`
}

func dumpMDCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:     "dumpmd",
		Summary:  "describe a method by its MethodDesc",
		Examples: []cli.Example{{Line: "dumpmd 7f07a5b47868", Text: "a method, its code and the versions of that"}},
	}, func(c *cli.Context, o *methodOptions) (*answer.Method, error) {
		m, err := methods.Method(ask.Context(c), ask.View(c), o.Address)
		return m, notFound(o.Address, err, typetext.NoMethodDesc)
	}, typetext.Method)
}

type codeAddress struct {
	Address target.Addr `arg:"address" help:"in managed code, such as a return address"`
}

func ip2mdCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:     "ip2md",
		Summary:  "find the method that an address in managed code belongs to",
		Examples: []cli.Example{{Line: "ip2md 7f07a5a9a5f0", Text: "the method, and the line of the source"}},
	}, func(c *cli.Context, o *codeAddress) (*answer.Method, error) {
		r, err := ask.Code(c)
		if err != nil {
			return nil, err
		}
		m, err := r.DescribeMethodAt(o.Address)
		return m, notFound(o.Address, err, typetext.NoMethodAt)
	}, typetext.MethodAt)
}

// notFound marks err, which may be nil, with SOS's text for an invalid address.
func notFound(a target.Addr, err error, text func(*report.Page, target.Addr)) error {
	if err == nil {
		return nil
	}
	return cli.WithText(func(p *report.Page) { text(p, a) }, err)
}

type ilOptions struct {
	Raw     bool        `opt:"i" help:"IL in memory: ADDRESS is where it begins"`
	Address target.Addr `arg:"address" kind:"method" help:"MethodDesc, the method's name, address in the method's code, or a DynamicMethod or its resolver"`
}

func dumpILCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "dumpil",
		Summary: "print a method's IL",
		Examples: []cli.Example{
			{Line: "dumpil 7f07a5b43f30", Text: "the IL of a method, with names and literals"},
			{Line: "dumpil -i 7f07a40f84c4", Text: "IL in memory"},
		},
	}, askDumpIL, typetext.IL)
}

func askDumpIL(c *cli.Context, o *ilOptions) (*answer.IL, error) {
	if o.Address == 0 {
		return nil, cli.WithText(typetext.NoIL, c.Usagef("0 is not a method"))
	}
	if o.Raw {
		if err := c.MayShowBytes(); err != nil {
			return nil, err
		}
		return methods.ILAt(ask.Context(c), ask.View(c), o.Address)
	}
	il, err := methods.IL(ask.Context(c), ask.View(c), o.Address)
	var none *disasm.NoMethodError
	if errors.As(err, &none) {
		return nil, notFound(o.Address, err, typetext.NoMethodDesc)
	}
	return il, err
}

// A method is the argument of commands about the code of a method.
type method struct {
	Address target.Addr `arg:"address" kind:"method" help:"MethodDesc, address in its code, or the method's name"`
}

// An object is the argument of commands that take only an object.
type object struct {
	Object cli.Object `arg:"address" help:"the object"`
}

func ehInfoCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "ehinfo",
		Summary: "list the exception handlers of a method's code",
		Help: "For each clause the code that it covers and the code of its handler, as addresses and as offsets from " +
			"the start of the method. The end of a range is the first byte behind it.",
		Examples: []cli.Example{{Line: "ehinfo 7f07a5a92230", Text: "the handlers of a method"}},
	}, func(c *cli.Context, o *method) (*answer.Handlers, error) {
		return methods.Handlers(ask.Context(c), ask.View(c), o.Address)
	}, typetext.Handlers)
}

func gcInfoCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "gcinfo",
		Summary: "show which registers and stack slots of a method hold references",
		Help: "ADDRESS is a MethodDesc, or any address in the code of a method. Each line gives an offset from the " +
			"start of the code and what changes there: +slot begins to hold a reference, -slot ends. At a safepoint " +
			"all slots that live across the call are listed.",
		Examples: []cli.Example{{Line: "gcinfo 7f07a5b43f30", Text: "the references that Ready holds"}},
	}, func(c *cli.Context, o *method) (*answer.GCInfo, error) {
		return methods.GCInfo(ask.Context(c), ask.View(c), o.Address)
	}, typetext.GCInfo)
}

type codeOptions struct {
	disasm.MethodOptions
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
			{Line: "clru 7f07a5b43f30", Text: "the code of a method"},
			{Line: "clru -gcinfo -ehinfo 7f07a5a9a5f0", Text: "with what the compiler recorded beside it"},
		},
	}, askClru, func(p *report.Page, d *answer.Disassembly, o *codeOptions) {
		typetext.Disassembly(p, d, typetext.DisassemblyOptions{Offsets: o.Offsets, NoSource: o.NoLines})
	})
}

func askClru(c *cli.Context, o *codeOptions) (*answer.Disassembly, error) {
	return methods.Disassembly(ask.Context(c), ask.View(c), o.Address, o.MethodOptions)
}

func tiersCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "tiers", Aliases: []string{"tiering", "rejit"},
		Summary: "count the code that was compiled in the process by tier, and list the methods whose IL a profiler replaced",
		Help: "A method runs code of the first tier until it was called often enough, and is then compiled again with optimizations. Methods whose calls still run the first tier are counted; " +
			"how many calls each lacks is not read. Code of ReadyToRun images is not among it.",
		Examples: []cli.Example{{Line: "tiers", Text: "was the process still warming up?"}},
	}, ask.Plain(methods.Tiers), report.Card)
}
