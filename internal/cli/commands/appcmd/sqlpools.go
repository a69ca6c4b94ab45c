package appcmd

import (
	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/sqlpools"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/apptext"
	"github.com/sosgo/sosgo/internal/report"
)

type poolOptions struct {
	Stacks bool `opt:"stacks" help:"with all frames of the async code that has connections"`
	Brief  bool `opt:"brief" help:"without who has connections"`
	secrets
}

func sqlPoolsCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name: "sqlpools", Aliases: []string{"dumpsqlconnectionpools", "sqlblame"},
		Summary: "list the pools of connections to databases: how many are idle, what runs on the others, and how many calls wait for one",
		Help: "The drivers are SqlClient (Microsoft.Data.SqlClient and System.Data.SqlClient) and Npgsql. A connection counts as busy as long as the program has not closed it, " +
			"also if no command runs on it. Passwords in connection strings are masked.\n\n" +
			"Somebody has a connection if a variable refers to it, to the SqlConnection or NpgsqlConnection that was opened, or to its command: a variable of an async " +
			"method that is suspended, or of a method on a thread's stack. Since when a command runs is known of SqlClient, by the deadline that it keeps for a command with a timeout.",
		Examples: []cli.Example{{Line: "sqlpools", Text: "who has all the connections?"}},
	}, func(c *cli.Context, o *poolOptions) (*answer.SQLPools, error) {
		return ask.View(c).SQLPools(ask.Context(c), sosgo.SQLPoolOptions{Options: sqlpools.Options{Secrets: o.Secrets}, Brief: o.Brief})
	}, func(p *report.Page, a *answer.SQLPools, o *poolOptions) { apptext.SQLPools(p, a, o.Stacks) })
}
