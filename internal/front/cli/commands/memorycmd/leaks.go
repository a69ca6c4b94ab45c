package memorycmd

import (
	"github.com/sosgo/sosgo/internal/app/leaks"
	"github.com/sosgo/sosgo/internal/app/waste"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/memorytext"
)

func leaksCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "leaks", OnlyAsks: true,
		Summary: "show the largest holders of live memory, and patterns that usually leak",
		Help: "It looks for objects that own many objects of one type (-count), single objects that retain much, and objects that nothing owns alone, with " +
			"what refers to most of them; then for what leaks in .NET: events with many handlers, timers that call the same method, callbacks registered with one " +
			"CancellationTokenSource, disposables in the root scope of a service provider, dead weak references. Each has its holder, from a static field if one holds it. " +
			"Objects that await finalization come last.\n\n" +
			"A suspect retains at least -share of live memory. Holders of -min and -size are listed too; events, timers, registrations and weak references whatever they " +
			"retain. A large holder is no proof of a leak: compare with an earlier dump (diff). Weak references hold nothing; caches, and what is attached by a " +
			"ConditionalWeakTable, are named as such.",
		Examples: []cli.Example{{Line: "leaks", Text: "why does the process use so much memory?"}},
	}, ask.With(leaks.Leaks), memorytext.Leaks)
}

func wasteCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "waste", OnlyAsks: true,
		Summary: "find wasted memory, such as duplicate strings and empty collections, and what refers to it",
		Help: "It looks for strings with the same content, as dumpheap -strings compares them; arrays of references that are at least half null; arrays of " +
			"values that are all zero or all the same (from 16 bytes on) or end in zeros (at least half of them, from 64 bytes on); arrays and collections without " +
			"elements; collections filled at most by half; values in boxes; and objects whose fields are all null or zero. " +
			"All objects of the heap count, reachable or not, unless -live is given. No byte counts twice: the array of a collection counts for the collection.\n\n" +
			"Collections are List, Dictionary, HashSet, Queue, Stack, SortedList, PriorityQueue, LinkedList and SortedSet, those without type arguments, " +
			"StringBuilder and MemoryStream, and types that derive from them. Holders are fields, static ones too, and arrays; what only a local refers to has none.",
	}, ask.With(waste.Waste), memorytext.Waste)
}
