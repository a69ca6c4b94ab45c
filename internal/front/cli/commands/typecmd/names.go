package typecmd

import (
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/methods"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/typetext"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

type nameOptions struct {
	Name []string `arg:"name" kind:"type" help:"module and name"`
}

func name2EECommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "name2ee",
		Summary: "find a type, method or field by name",
		Usage:   "MODULE!NAME | MODULE NAME",
		Help: "MODULE is a file name with or without its extension, or * for all modules. NAME is the full name of a type, loaded or not,\n" +
			"or of a type's member; stars in it stand for any text in the names of types and methods. If nothing has that name, loaded types that contain it are listed; --sos lists these too.",
		Examples: []cli.Example{
			{Line: "name2ee *!System.String", Text: "search all modules"},
			{Line: "name2ee App.dll App.Program.Main", Text: "a method"},
			{Line: "name2ee App!*Save*", Text: "all types and methods with Save in their names"},
		},
	}, askName2EE, typetext.Names)
}

func askName2EE(c *cli.Context, o *nameOptions) (*answer.NameSearch, error) {
	module, name, err := o.split(c)
	if err != nil {
		return nil, err
	}
	return methods.FindName(ask.Context(c), ask.View(c), module, name)
}

// split splits the arguments: "module!name" or "module name".
func (o *nameOptions) split(c *cli.Context) (module, name string, err error) {
	if len(o.Name) == 1 {
		module, name, _ = strings.Cut(o.Name[0], "!")
	} else if len(o.Name) == 2 {
		module, name = o.Name[0], o.Name[1]
	}
	if module == "" || name == "" || strings.Contains(name, "!") && len(o.Name) == 1 {
		return "", "", c.Usagef("a module and a name are needed: module!name, or *!name for all modules")
	}
	return module, name, nil
}

type tokenOptions struct {
	Module string      `arg:"module" help:"file name of the module, or * for all"`
	Token  target.Addr `arg:"token" help:"TypeDef, TypeRef, MethodDef or FieldDef"`
}

func token2EECommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "token2ee",
		Summary: "find a type, method or field by its metadata token",
	}, askToken2EE, typetext.Tokens)
}

func askToken2EE(c *cli.Context, o *tokenOptions) (*answer.NameSearch, error) {
	token := metadata.Token(o.Token)
	switch token.Table() {
	case metadata.TableTypeDef, metadata.TableTypeRef, metadata.TableMethodDef, metadata.TableField:
	default:
		return nil, c.Usagef("a token of this table is not supported: TypeDef 02, TypeRef 01, MethodDef 06 and FieldDef 04 are")
	}
	return methods.FindToken(ask.Context(c), ask.View(c), o.Module, token)
}

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
	return cli.Ask(cli.Command{Name: name, Bytes: true, Summary: summary}, func(c *cli.Context, o *signatureOptions) (*answer.Signature, error) {
		rt, err := ask.Runtime(c)
		if err != nil {
			return nil, err
		}
		return describe(rt, o.Address, o.Module)
	}, typetext.Signature)
}
