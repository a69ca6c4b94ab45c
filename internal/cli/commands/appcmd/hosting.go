package appcmd

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/hosting"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/apptext"
	"github.com/sosgo/sosgo/internal/report"
)

func servicesCommand() cli.Command {
	return cli.Command{
		Name: "services", Aliases: []string{"scopes"}, Group: cli.GroupApp, NeedsDump: true, Ask: askServices,
		Summary: "list the scopes of dependency injection, and what each will dispose: transients of a scope that lives long pile up there",
		Help: "A scope disposes what it made when it is disposed itself, and keeps it alive until then. The scope of the provider lives as long as the program: what is asked " +
			"for there again and again, and is transient and disposable, is never freed. Many objects of one type in it are such; one of each type are singletons.",
		Examples: []cli.Example{{Line: "services", Text: "which disposable services pile up?"}},
		Result:   report.Result[answer.ServiceScopes](),
	}
}

func askServices(c *cli.Context) (report.Answer, error) {
	return askHosting(c, (*hosting.Reader).Scopes, "looking for scopes", apptext.ServiceScopes)
}

func cachesCommand() cli.Command {
	return cli.Command{
		Name: "caches", Group: cli.GroupApp, NeedsDump: true, Ask: askCaches,
		Summary: "list the memory caches of the program, with their entries by size and age",
		Help: "The caches are those of Microsoft.Extensions.Caching.Memory. The size of an entry is what the program said, in units of its own, if it said one; the bytes are those of " +
			"the value alone: `objsize` and `retained` tell what it keeps alive. `items` lists keys and values of one cache.",
		Examples: []cli.Example{{Line: "caches", Text: "what is cached, and since when has nobody asked for it?"}},
		Result:   report.Result[answer.MemoryCaches](),
	}
}

func askCaches(c *cli.Context) (report.Answer, error) {
	return askHosting(c, (*hosting.Reader).Caches, "looking for caches", apptext.MemoryCaches)
}

func dbContextsCommand() cli.Command {
	return cli.Command{
		Name: "dbcontexts", Aliases: []string{"efcontexts"}, Group: cli.GroupApp, NeedsDump: true, Ask: askDbContexts,
		Summary: "list the contexts of Entity Framework Core, with the entities that each tracks by type and state",
		Help: "A context keeps every entity alive that it has read to be changed, until it is disposed: one that lives long grows with each query. Entities of types that several " +
			"parts of the model share, such as owned types, are not counted.",
		Examples: []cli.Example{{Line: "dbcontexts", Text: "which context has piled up entities?"}},
		Result:   report.Result[answer.DbContexts](),
	}
}

func askDbContexts(c *cli.Context) (report.Answer, error) {
	return askHosting(c, (*hosting.Reader).DbContexts, "looking for contexts", apptext.DbContexts)
}

// askHosting asks a question that the objects of the whole heap answer.
func askHosting[T any](c *cli.Context, question func(*hosting.Reader, context.Context, *heap.Heap, heap.ScanOptions) (T, error), label string,
	text func(*report.Page, T)) (report.Answer, error) {
	r, err := ask.View(c).HostingReader()
	if err != nil {
		return report.Answer{}, err
	}
	h, err := ask.ScannedHeap(c, false)
	if err != nil {
		return report.Answer{}, err
	}
	out, err := question(r, c.Context(), h, ask.Scan(c, label))
	return ask.Say(out, err, text)
}
