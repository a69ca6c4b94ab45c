package appcmd

import (
	"github.com/sosgo/sosgo/internal/app/hosting"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/apptext"
)

func hostCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "host", Aliases: []string{"hosts"},
		Summary: "show the state of the generic host: running or stopping, its hosted services, those that failed, and what a stop waits for",
		Help: "The state is that of the tokens of IHostApplicationLifetime. The state of a BackgroundService is that of the task which its ExecuteAsync returned; other hosted services " +
			"record none. The host observes the exception of a service that fails, so `tasks -faulted` does not list it among the unobserved ones.",
		Examples: []cli.Example{{Line: "host", Text: "did a background service fail, and why does the program not stop?"}},
	}, ask.Plain(hosting.Hosts), apptext.Card)
}

func servicesCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "services", Aliases: []string{"scopes"},
		Summary: "list the scopes of dependency injection and the disposables that each keeps: transients accumulate in long-lived scopes",
		Help: "A scope keeps the disposables that it created until it is disposed itself. The root scope lives as long as the provider: a transient disposable " +
			"that is resolved there repeatedly is never freed. Many objects of one type are such transients; single ones are usually singletons.",
		Examples: []cli.Example{{Line: "services", Text: "which disposable services accumulate?"}},
	}, ask.Plain(hosting.ServiceScopes), apptext.Card)
}

func cachesCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "caches",
		Summary: "list the memory caches of the program, with their entries by size and age",
		Help: "The caches are those of Microsoft.Extensions.Caching.Memory. The size of an entry is in the program's own units, if it set one; the bytes are those of " +
			"the value alone: `objsize` and `retained` show what it keeps alive. `items` lists keys and values of one cache.",
		Examples: []cli.Example{{Line: "caches", Text: "what is cached, and when was it last used?"}},
	}, ask.Plain(hosting.Caches), apptext.Card)
}

func dbContextsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "dbcontexts", Aliases: []string{"efcontexts"},
		Summary: "list the contexts of Entity Framework Core, and count the entities that each tracks by type and state",
		Help: "A context keeps its tracked entities alive until it is disposed: a long-lived one grows with each query. States are those of the last DetectChanges. Entities of types that several " +
			"parts of the model share, such as owned types, are not counted.",
		Examples: []cli.Example{{Line: "dbcontexts", Text: "which context tracks too many entities?"}},
	}, ask.Plain(hosting.DbContexts), apptext.Card)
}
