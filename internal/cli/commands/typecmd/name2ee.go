package typecmd

import (
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/metadata"
)

func name2EECommand() cli.Command {
	return cli.Command{
		Name: "name2ee", Group: cli.GroupTypes, NeedsDump: true, Ask: askName2EE,
		Summary: "find a type, method or field by name",
		Usage:   "MODULE!NAME | MODULE NAME",
		Help: "MODULE is a file name with or without its extension, or * for all modules. NAME is the full name of a type, loaded or not,\n" +
			"or of a type's member. If nothing has that name, loaded types that contain it are listed; --sos lists these too.",
		Args: []cli.Arg{{Name: "name", Kind: cli.TypeName, Rest: true, Summary: "module and name"}},
		Examples: []cli.Example{
			{Line: "name2ee *!System.String", Text: "search all modules"},
			{Line: "name2ee App.dll App.Program.Main", Text: "a method"},
		},
		Result: report.Result[answer.NameSearch](),
	}
}

func askName2EE(c *cli.Context) (report.Answer, error) {
	module, name, err := moduleAndName(c)
	if err != nil {
		return report.Answer{}, err
	}
	r, err := ask.Code(c)
	if err != nil {
		return report.Answer{}, err
	}
	found, err := r.FindName(module, name)
	return ask.Say(found, err, typetext.Names)
}

// moduleAndName splits the arguments: "module!name" or "module name".
func moduleAndName(c *cli.Context) (module, name string, err error) {
	args := c.Strings("name")
	if len(args) == 1 {
		module, name, _ = strings.Cut(args[0], "!")
	} else if len(args) == 2 {
		module, name = args[0], args[1]
	}
	if module == "" || name == "" || strings.Contains(name, "!") && len(args) == 1 {
		return "", "", c.Usagef("a module and a name are needed: module!name, or *!name for all modules")
	}
	return module, name, nil
}

func token2EECommand() cli.Command {
	return cli.Command{
		Name: "token2ee", Group: cli.GroupTypes, NeedsDump: true, Ask: askToken2EE,
		Summary: "find a type, method or field by its metadata token",
		Args: []cli.Arg{
			{Name: "module", Kind: cli.Str, Summary: "file name of the module, or * for all"},
			{Name: "token", Kind: cli.Address, Summary: "TypeDef, TypeRef, MethodDef or FieldDef"},
		},
		Result: report.Result[answer.NameSearch](),
	}
}

func askToken2EE(c *cli.Context) (report.Answer, error) {
	module, _ := c.Str("module")
	value, _ := c.Addr("token")
	token := metadata.Token(value)
	switch token.Table() {
	case metadata.TableTypeDef, metadata.TableTypeRef, metadata.TableMethodDef, metadata.TableField:
	default:
		return report.Answer{}, c.Usagef("a token of this table is not supported: TypeDef 02, TypeRef 01, MethodDef 06 and FieldDef 04 are")
	}
	r, err := ask.Code(c)
	if err != nil {
		return report.Answer{}, err
	}
	found, err := r.FindToken(module, token)
	return ask.Say(found, err, typetext.Tokens)
}
