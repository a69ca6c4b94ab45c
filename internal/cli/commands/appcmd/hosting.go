package appcmd

import (
	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/apptext"
)

func servicesCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "services", Aliases: []string{"scopes"},
		Summary: "list the scopes of dependency injection, and what each will dispose: transients of a scope that lives long pile up there",
		Help: "A scope disposes what it made when it is disposed itself, and keeps it alive until then. The scope of the provider lives as long as the program: what is asked " +
			"for there again and again, and is transient and disposable, is never freed. Many objects of one type in it are such; one of each type are singletons.",
		Examples: []cli.Example{{Line: "services", Text: "which disposable services pile up?"}},
	}, ask.Plain((*sosgo.View).ServiceScopes), apptext.ServiceScopes)
}

func cachesCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "caches",
		Summary: "list the memory caches of the program, with their entries by size and age",
		Help: "The caches are those of Microsoft.Extensions.Caching.Memory. The size of an entry is what the program said, in units of its own, if it said one; the bytes are those of " +
			"the value alone: `objsize` and `retained` tell what it keeps alive. `items` lists keys and values of one cache.",
		Examples: []cli.Example{{Line: "caches", Text: "what is cached, and since when has nobody asked for it?"}},
	}, ask.Plain((*sosgo.View).Caches), apptext.MemoryCaches)
}

func dbContextsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "dbcontexts", Aliases: []string{"efcontexts"},
		Summary: "list the contexts of Entity Framework Core, with the entities that each tracks by type and state",
		Help: "A context keeps every entity alive that it has read to be changed, until it is disposed: one that lives long grows with each query. Entities of types that several " +
			"parts of the model share, such as owned types, are not counted.",
		Examples: []cli.Example{{Line: "dbcontexts", Text: "which context has piled up entities?"}},
	}, ask.Plain((*sosgo.View).DbContexts), apptext.DbContexts)
}
