package objectcmd

import (
	"errors"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/values"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

type itemOptions struct {
	objects.CollectionOptions
	Object cli.Object `arg:"address" kind:"value" help:"the collection"`
}

func itemsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "items",
		Summary: "list what a collection holds: list, dictionary, set, queue, tree, channel, cache",
		Help: "All collections of .NET's class libraries are supported, concurrent, immutable and frozen ones and wrappers too.\n" +
			"Elements come in the order in which the program would enumerate them. A StringBuilder, a BitArray and\n" +
			"memory of characters are shown as text. An expression may find a value type in place, such as a field of type\n" +
			"ArraySegment<T>, Memory<T> or ImmutableArray<T>. Where a collection is damaged, or a thread was changing it, the sound part is\n" +
			"listed with a warning. A type with unexpected fields is refused.",
		Examples: []cli.Example{
			{Line: "items -find key4 -limit 10 7efbcd806bc0", Text: "the first ten elements that contain key4"},
			{Line: "items Contoso.Orders.Cache.s_open", Text: "what a static field holds"},
			{Line: "items -keys 7efbcd806bc0", Text: "the keys of a dictionary"},
		},
	}, func(c *cli.Context, o *itemOptions) (*answer.Collection, error) { return askItems(c, o, false) }, objecttext.Collection)
}

func dumpDictionaryCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:     "dumpdictionary",
		Summary:  "list the keys and values of a dictionary of any kind",
		Help:     "items lists other collections, too.",
		Examples: []cli.Example{{Line: "dumpdictionary -find key4 7efbcd806bc0", Text: "the entries that contain key4"}},
	}, func(c *cli.Context, o *itemOptions) (*answer.Collection, error) { return askItems(c, o, true) }, objecttext.Collection)
}

func askItems(c *cli.Context, o *itemOptions, keyed bool) (*answer.Collection, error) {
	o.Keyed, o.MethodTable = keyed, o.Object.MethodTable
	l, err := values.Items(ask.Context(c), ask.View(c), o.Object.Addr, o.CollectionOptions)
	if err != nil {
		return nil, invalidObject(err)
	}
	return l, nil
}

func dumpConcurrentDictionaryCommand() cli.Command {
	return concurrentCommand("dumpconcurrentdictionary", "dcd", "ConcurrentDictionary`2", objecttext.ConcurrentDictionary)
}

func dumpConcurrentQueueCommand() cli.Command {
	return concurrentCommand("dumpconcurrentqueue", "dcq", "ConcurrentQueue`1", objecttext.ConcurrentQueue)
}

// concurrentCommand returns a command that lists a collection of one class. text writes it in SOS's form.
func concurrentCommand(name, alias, class string, text func(*report.Page, *answer.Collection)) cli.Command {
	return cli.Ask(cli.Command{
		Name: name, Aliases: []string{alias},
		Summary: "list what a " + class[:len(class)-2] + " holds",
		Help:    "items lists other collections, too, and can choose elements.",
	}, func(c *cli.Context, o *object) (*answer.Collection, error) {
		return askConcurrent(c, o.Object.Addr, "System.Collections.Concurrent."+class)
	}, text)
}

func askConcurrent(c *cli.Context, a target.Addr, class string) (*answer.Collection, error) {
	form := ask.FormOf(c)
	l, err := values.Items(ask.Context(c), ask.View(c), a, objects.CollectionOptions{Only: class, SlotOrder: form.SlotOrder, Referred: form.Referred})
	var other *objects.NotCollectionError
	var invalid *objects.InvalidError
	switch {
	case errors.As(err, &other):
		return nil, cli.WithText(func(p *report.Page) { objecttext.OtherCollection(p, other.Addr, other.Want, other.Type) }, err)
	case errors.As(err, &invalid):
		return nil, cli.WithText(func(p *report.Page) { objecttext.NoObject(p, invalid.Addr) }, err)
	}
	return l, err
}
