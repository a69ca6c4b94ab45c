package processcmd

import (
	"github.com/sosgo/sosgo/internal/app/settings"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/report"
)

func processCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "process", Aliases: []string{"config", "environment"},
		Summary: "show how the process was started and configured: command line, environment, AppContext, the host's configuration",
		Help: "The keys of a configuration (IConfiguration) have the value of the last provider that has them, and its name. Values are hidden where a word of the name is one for a secret " +
			"(password, token, key, connection string ...) or the value has the form of one; -full shows them.",
		Examples: []cli.Example{{Line: "process", Text: "which settings did it run with?"}},
	}, ask.With(settings.Process), report.Card)
}
