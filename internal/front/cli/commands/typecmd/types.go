package typecmd

import (
	"cmp"
	"iter"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/values"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/typetext"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

type typeOptions struct {
	NoCount bool   `opt:"nocount" help:"no counts of objects"`
	Used    bool   `opt:"used" help:"only types that have objects"`
	Pattern string `arg:"pattern,optional" kind:"type" help:"part of the type's name; MODULE! before it names a module"`
}

func typesCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "types",
		Summary: "list the loaded types, and count their objects",
		Help: "A type counts when its name contains the pattern, in any case. Types come by module and token, then arrays and generic\n" +
			"instances. Where the dump has no heap the counts are left out.",
		Examples: []cli.Example{{Line: "types -used Order", Text: "types with Order in their name, with their objects counted"},
			{Line: "types App!Order", Text: "those of App.dll alone"}},
	}, askTypes, typetext.LoadedTypes)
}

func askTypes(c *cli.Context, o *typeOptions) (iter.Seq2[answer.LoadedType, error], error) {
	rt, err := ask.Runtime(c)
	if err != nil {
		return nil, err
	}
	var h *heap.Heap
	if !o.NoCount {
		if h, err = ask.Heap(c); err != nil {
			c.Warn(err) // the types can be listed without the heap
		}
	}
	module, name, found := strings.Cut(o.Pattern, "!")
	var modules []target.Addr
	if !found {
		name = o.Pattern
	} else if module != dac.AllModules {
		named, _, err := rt.ModulesNamed(module) // the list of types has the same gaps
		if err != nil {
			return nil, err
		}
		for _, m := range named {
			modules = append(modules, m.Addr)
		}
	}
	name = strings.Trim(name, "*") // name matches a part either way
	return ask.FoundNamed(c, heap.LoadedTypes(c.Context(), rt, h, heap.LoadedTypesOptions{Used: o.Used, Name: name, Modules: modules,
		Scan: ask.Scan(c, "counting objects")}), "loaded type", name)
}

type tableOptions struct {
	MD      bool        `opt:"md" help:"the methods too"`
	All     bool        `opt:"all" help:"the methods and fields, and the attributes of the class"`
	Address target.Addr `arg:"address" help:"the MethodTable"`
}

func dumpMTCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name:     "dumpmt",
		Summary:  "describe a type by its MethodTable",
		Examples: []cli.Example{{Line: "dumpmt -md 7f07a5b48688", Text: "a type and its methods"}},
	}, func(c *cli.Context, o *tableOptions) (*answer.Type, error) {
		return values.Type(ask.Context(c), ask.View(c), o.Address, objects.TypeOptions{Methods: o.All || o.MD, Fields: o.All})
	}, func(p *report.Page, t *answer.Type, o *tableOptions) { typetext.MethodTable(p, t, o.All) })
}

type classOptions struct {
	Address target.Addr `arg:"address" help:"the EEClass or MethodTable"`
}

func dumpClassCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "dumpclass",
		Summary: "describe a type by its EEClass or MethodTable: attributes and fields",
		Help:    "An EEClass stands for its canonical MethodTable.",
	}, func(c *cli.Context, o *classOptions) (*answer.Type, error) {
		r, err := ask.Objects(c)
		if err != nil {
			return nil, err
		}
		return r.DescribeClass(o.Address, objects.TypeOptions{Fields: true})
	}, typetext.Class)
}

func dumpRuntimeTypesCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "dumpruntimetypes",
		Summary: "list the System.RuntimeType objects of the heap and the types that they stand for",
	}, askDumpRuntimeTypes, typetext.RuntimeTypes)
}

func askDumpRuntimeTypes(c *cli.Context, _ *cli.None) (iter.Seq2[answer.RuntimeType, error], error) {
	types, err := values.RuntimeTypes(ask.Context(c), ask.View(c))
	if err != nil {
		return nil, err
	}
	return ask.Found(types, "System.RuntimeType object")
}

type staticOptions struct {
	All bool `opt:"all" help:"all types"`
	objects.StaticsOptions
	Pattern string `arg:"pattern,optional" kind:"type" help:"part of the declaring type's name"`
}

func staticsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "statics",
		Summary: "list static fields with their values",
		Help: "A type counts when its name contains the pattern, in any case. Thread statics are listed once a thread. A field of a\n" +
			"class whose constructor has not run is `<not initialised>`.",
		Examples: []cli.Example{
			{Line: "statics Cache", Text: "static fields of the types with Cache in their name"},
			{Line: "statics -all -refs", Text: "every object that a static field holds"},
		},
	}, askStatics, typetext.Statics)
}

func askStatics(c *cli.Context, o *staticOptions) (iter.Seq2[answer.StaticField, error], error) {
	o.Type = cmp.Or(o.Type, o.Pattern)
	if o.Type == "" && !o.All {
		return nil, c.Usagef("name a type, or give -all")
	}
	fields, err := values.Statics(ask.Context(c), ask.View(c), o.StaticsOptions)
	if err != nil {
		return nil, err
	}
	return ask.FoundNamed(c, fields, "static field", o.Type)
}
