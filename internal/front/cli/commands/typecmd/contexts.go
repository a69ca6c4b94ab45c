package typecmd

import (
	"github.com/sosgo/sosgo/internal/app/contexts"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/typetext"
)

func contextsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "contexts", Aliases: []string{"alcs", "loadcontexts"},
		Summary: "list the AssemblyLoadContexts with their assemblies, and what keeps those alive that were asked to unload",
		Help: "A collectible context is unloaded when nothing keeps its LoaderAllocator any more: no object of its types, no RuntimeType or delegate of it, " +
			"and no thread that runs its code. For each " +
			"that was asked to unload and is still there, the roots and the paths from them are listed. `gcroot` with the LoaderAllocator shows every object on the way.",
		Examples: []cli.Example{{Line: "contexts", Text: "why is the plugin not unloaded?"}},
	}, ask.Plain(contexts.LoadContexts), typetext.LoadContexts)
}
