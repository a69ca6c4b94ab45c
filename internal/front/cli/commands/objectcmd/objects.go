package objectcmd

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/values"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/front/cli/text/querytext"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/target"
)

type objOptions struct {
	values.DescribeOptions
	Object cli.Object `arg:"address" help:"the object"`
}

func dumpObjCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name: "dumpobj", Aliases: []string{"do"},
		Summary: "show an object: its type, size, fields and values",
		Help: "The value of a struct field is its address, for dumpvc. Except in SOS's form, strings, names of enum\n" +
			"values, dates and other values that fit on the line follow the field's name.",
		Examples: []cli.Example{
			{Line: "dumpobj 7efbcd80b550", Text: "show the object at that address"},
			{Line: "dumpobj Contoso.Orders.Cache.s_open", Text: "the object that a static field refers to"},
			{Line: "dumpobj -show 'name, Friend.name, retained' 7efbcd80b550", Text: "the values of these expressions"},
		},
	}, askDumpObj, func(p *report.Page, x *answer.Object, o *objOptions) {
		if o.Show != "" {
			querytext.Evaluations(p, &answer.Evaluations{Values: x.Shown})
		} else {
			objecttext.Object(p, x)
		}
	})
}

func askDumpObj(c *cli.Context, o *objOptions) (*answer.Object, error) {
	o.Plain, o.Env = ask.FormOf(c).Plain, func() (*query.Env, error) { return ask.Env(c) }
	x, err := values.Describe(ask.Context(c), ask.View(c), o.Object.Addr, o.DescribeOptions)
	if x == nil {
		return nil, invalidObject(ask.Misread(c, err))
	}
	if o.Show != "" && c.Mask() != nil { // what is typed is not masked: no text of the object stands beside it
		c.Echo(o.Show)
		x = &answer.Object{Gaps: x.Gaps, Address: x.Address, Type: x.Type, MethodTable: x.MethodTable, Size: x.Size, File: x.File, Shown: x.Shown}
	}
	if err != nil {
		return x, cli.WithAnswer(ask.Misread(c, err))
	}
	return x, nil
}

// invalidObject explains that there is no object or that it cannot be read.
func invalidObject(err error) error {
	var invalid *objects.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	return cli.WithText(func(p *report.Page) { objecttext.InvalidObject(p, err) }, err)
}

type structOptions struct {
	MT      target.Addr `arg:"mt" help:"MethodTable of the value type"`
	Address target.Addr `arg:"address" help:"address of its first field"`
}

func dumpVCCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:     "dumpvc",
		Bytes:    true, // whatever is at the address
		Summary:  "show a value type in place: its fields and values",
		Examples: []cli.Example{{Line: "dumpvc 7f07a5b34f68 7efbcd805d40", Text: "show the struct that dumpobj listed with that MT and value"}},
	}, func(c *cli.Context, o *structOptions) (*answer.Struct, error) {
		s, err := values.Struct(ask.Context(c), ask.View(c), o.MT, o.Address)
		if err != nil {
			return nil, cli.WithText(objecttext.InvalidStruct, err)
		}
		return s, nil
	}, objecttext.Struct)
}

type arrayOptions struct {
	objects.ArrayOptions
	Object cli.Object `arg:"address" help:"the array"`
}

func dumpArrayCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "dumparray",
		Summary: "list the elements of an array",
		Help: "The elements of an array of structs or numbers are shown by their addresses, for dumpvc. Except in SOS's form,\n" +
			"values that fit on the line follow.",
		Examples: []cli.Example{{Line: "dumparray -start 1 -length 2 7efbcd805f00", Text: "list elements 1 and 2"}},
	}, askDumpArray, objecttext.Array)
}

func askDumpArray(c *cli.Context, o *arrayOptions) (*answer.Array, error) {
	a, err := values.Array(ask.Context(c), ask.View(c), o.Object.Addr, o.ArrayOptions)
	if err != nil {
		return nil, noArray(c, err)
	}
	return a, nil
}

// noArray explains that the object is not an array or lacks such elements.
func noArray(c *cli.Context, err error) error {
	var bad *objects.RangeError
	switch {
	case errors.Is(err, objects.ErrNotArray):
		return cli.WithText(objecttext.NotArray, c.Usagef("%v", err))
	case !errors.As(err, &bad):
		return invalidObject(err)
	case bad.Array.Rank > 1:
		return cli.WithText(objecttext.BadRank, c.Usagef("%v", bad))
	case bad.Option == "Start":
		return cli.WithText(objecttext.BadStart, c.Usagef("%v", bad))
	}
	return c.Usagef("%v", bad)
}

func dumpDelegateCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "dumpdelegate", Aliases: []string{"getdelegatemethod"},
		Summary: "list the methods that a delegate calls, with their targets",
	}, askDumpDelegate, objecttext.Delegate)
}

func askDumpDelegate(c *cli.Context, o *object) (iter.Seq2[answer.DelegateCall, error], error) {
	calls, err := values.DelegateCalls(ask.Context(c), ask.View(c), o.Object.Addr)
	var not *objects.NotDelegateError
	switch {
	case errors.As(err, &not):
		return nil, cli.WithText(func(p *report.Page) { objecttext.NotDelegate(p, not.Type) }, c.Usagef("%v: use dumpobj", err))
	case err != nil:
		return nil, invalidObject(err)
	}
	return calls, nil
}

func dumpObjGCRefsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "dumpobjgcrefs",
		Summary: "list the objects that an object refers to, as the GC sees them",
	}, func(c *cli.Context, o *object) (iter.Seq2[answer.Reference, error], error) {
		refs, err := values.References(ask.Context(c), ask.View(c), o.Object.Addr)
		if err != nil {
			return nil, invalidObject(err)
		}
		return refs, nil
	}, objecttext.References)
}

type stringOptions struct {
	Out    string     `opt:"out" kind:"file" help:"the file to write the text to"`
	Raw    bool       `opt:"raw" help:"the text as it is"`
	Object cli.Object `arg:"address" help:"the string"`
}

func dumpStringCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name: "dumpstring", Aliases: []string{"ds"},
		Summary: "print the whole text of a string",
		Help: "The text is printed with control characters made visible, except line feeds and tabs; -out writes it to\n" +
			"the file as it is, in UTF-8. Strings of any length are streamed. Surrogates that stand alone\n" +
			"have no UTF-8 and are written as escapes, \\ud800.",
		Examples: []cli.Example{{Line: "dumpstring -out body.json 7f079cc00b40", Text: "write the string to a file"}},
	}, askDumpString, func(p *report.Page, s *answer.String, o *stringOptions) {
		if o.Raw {
			objecttext.RawString(p, s)
		} else {
			objecttext.String(p, s)
		}
	})
}

func askDumpString(c *cli.Context, o *stringOptions) (*answer.String, error) {
	s, err := values.ReadString(ask.Context(c), ask.View(c), o.Object.Addr)
	if target.ReportedKind(err) == target.ErrArgument { // an object of another type
		return nil, c.Usagef("%v: use dumpobj", err)
	}
	if err != nil || o.Out == "" {
		return s, err
	}
	if err := writeTextFile(c, o.Out, s.Text); err != nil {
		return nil, err
	}
	s.Text, s.File = answer.LongText{}, o.Out
	return s, nil
}

// writeTextFile writes a text to a file in UTF-8, unescaped.
func writeTextFile(c *cli.Context, path string, text answer.LongText) error {
	return c.WriteText(path, cli.Replace, func(w io.Writer) error {
		buf := bufio.NewWriter(w)
		err := text.StreamText(func(part string) error {
			_, err := buf.WriteString(utf16text.Valid(part))
			return err
		})
		return cmp.Or(err, buf.Flush())
	})
}
