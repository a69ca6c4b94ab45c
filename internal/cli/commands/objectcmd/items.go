package objectcmd

import (
	"errors"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/objects/collections"
	"github.com/sosgo/sosgo/target"
)

var (
	collectionArgs = []cli.Arg{ask.Object("address", "address of the collection")}
	itemsOptions   = []cli.Option{
		{Name: "keys", Kind: cli.Bool, Summary: "only the keys"},
		{Name: "values", Kind: cli.Bool, Summary: "only the values"},
		{Name: "find", Kind: cli.Str, Summary: "only elements whose key or value says TEXT, in upper or lower case"},
		{Name: "offset", Kind: cli.Int, Value: "N", Summary: "leave the first N out"},
		{Name: "limit", Kind: cli.Int, Value: "N", Summary: "at most N elements, 0 for all"},
	}
)

func itemsCommand() cli.Command {
	return cli.Command{
		Name: "items", Group: cli.GroupObjects, NeedsDump: true, Ask: func(c *cli.Context) (report.Answer, error) { return askItems(c, collections.Options{}) },
		Summary: "list what a collection holds: list, dictionary, set, queue, tree, channel, cache",
		Help: "All collections of .NET's class libraries are known, those for several threads, immutable and frozen ones too, and what\n" +
			"wraps them. Elements come in the order in which the program would enumerate them. Of a StringBuilder, a BitArray and\n" +
			"memory of characters the text is shown. A collection that is damaged, or that a thread was changing, tells what holds\n" +
			"and warns of what does not. A type that has other fields than are known is not guessed at.",
		Options: itemsOptions, Args: collectionArgs,
		Examples: []cli.Example{
			{Line: "items -find smith -limit 10 7efbcd805f00", Text: "the first ten elements that say smith"},
			{Line: "items Contoso.Orders.Cache.s_open", Text: "what a static field holds"},
			{Line: "items -keys 7efbcd805f00", Text: "the keys of a dictionary"},
		},
		Result: report.Result[answer.Collection](),
	}
}

func dumpDictionaryCommand() cli.Command {
	return cli.Command{
		Name: "dumpdictionary", Group: cli.GroupObjects, NeedsDump: true,
		Ask:     func(c *cli.Context) (report.Answer, error) { return askItems(c, collections.Options{Keyed: true}) },
		Summary: "list the keys and values of a dictionary of any kind",
		Help:    "items lists other collections, too.",
		Options: itemsOptions, Args: collectionArgs,
		Examples: []cli.Example{{Line: "dumpdictionary -find smith 7efbcd805f00", Text: "the entries that say smith"}},
		Result:   report.Result[answer.Collection](),
	}
}

func askItems(c *cli.Context, o collections.Options) (report.Answer, error) {
	o.NoValues, o.NoKeys = c.Bool("keys"), c.Bool("values")
	if o.NoKeys && o.NoValues {
		return report.Answer{}, c.Usagef("-keys and -values exclude one another")
	}
	o.Find, _ = c.Str("find")
	for name, to := range map[string]*uint64{"offset": &o.Offset, "limit": &o.Limit} {
		n, ok := c.Int(name)
		if n < 0 {
			return report.Answer{}, c.Usagef("-%s %d is negative", name, n)
		}
		if ok {
			*to = uint64(n)
		}
	}
	a, _ := c.Addr("address")
	l, err := describeCollection(c, a, o)
	if err != nil {
		return noCollection(err)
	}
	return report.Say(l, objecttext.Collection), nil
}

func describeCollection(c *cli.Context, a target.Addr, o collections.Options) (*answer.Collection, error) {
	r, err := ask.Collections(c)
	if err != nil {
		return nil, err
	}
	o.Jobs = c.Jobs
	return r.Describe(c.Context(), a, o)
}

// noCollection is the answer where there is no object, or no collection.
func noCollection(err error) (report.Answer, error) {
	var invalid *objects.InvalidError
	if errors.As(err, &invalid) {
		return invalidObject(err)
	}
	return report.Answer{}, err
}

func dumpConcurrentDictionaryCommand() cli.Command {
	return cli.Command{
		Name: "dumpconcurrentdictionary", Aliases: []string{"dcd"}, Group: cli.GroupObjects, NeedsDump: true,
		Ask: func(c *cli.Context) (report.Answer, error) {
			return askConcurrent(c, "System.Collections.Concurrent.ConcurrentDictionary`2", objecttext.ConcurrentDictionary)
		},
		Summary: "list what a ConcurrentDictionary holds",
		Help:    "items lists other collections, too, and can choose elements.",
		Args:    collectionArgs,
		Result:  report.Result[answer.Collection](),
	}
}

func dumpConcurrentQueueCommand() cli.Command {
	return cli.Command{
		Name: "dumpconcurrentqueue", Aliases: []string{"dcq"}, Group: cli.GroupObjects, NeedsDump: true,
		Ask: func(c *cli.Context) (report.Answer, error) {
			return askConcurrent(c, "System.Collections.Concurrent.ConcurrentQueue`1", objecttext.ConcurrentQueue)
		},
		Summary: "list what a ConcurrentQueue holds",
		Help:    "items lists other collections, too, and can choose elements.",
		Args:    collectionArgs,
		Result:  report.Result[answer.Collection](),
	}
}

// askConcurrent asks for a collection of one class; text writes SOS's form of it.
func askConcurrent(c *cli.Context, class string, text func(*report.Page, *answer.Collection)) (report.Answer, error) {
	a, _ := c.Addr("address")
	l, err := describeCollection(c, a, collections.Options{Only: class, SOS: c.SOS})
	var other *collections.KindError
	var invalid *objects.InvalidError
	switch {
	case errors.As(err, &other):
		return report.SayText(func(p *report.Page) { objecttext.OtherCollection(p, other.Addr, other.Want, other.Type) }), err
	case errors.As(err, &invalid):
		return report.SayText(func(p *report.Page) { objecttext.NoObject(p, invalid.Addr) }), err
	case err != nil:
		return report.Answer{}, err
	}
	return report.Say(l, text), nil
}
