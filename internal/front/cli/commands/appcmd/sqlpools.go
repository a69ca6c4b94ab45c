package appcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/sqlpools"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/apptext"
)

type poolOptions struct {
	stackOptions
	sqlpools.Options
}

func sqlPoolsCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name: "sqlpools", Aliases: []string{"dumpsqlconnectionpools", "sqlblame"},
		Summary: "list the database connection pools: idle and busy connections, what runs on them, and how many calls wait for one",
		Help: "The drivers are SqlClient (Microsoft.Data.SqlClient and System.Data.SqlClient), Npgsql and SQLite (Microsoft.Data.Sqlite), whose pools have no limit. " +
			"A connection counts as busy as long as the program has not closed it, " +
			"even without a running command. Passwords in connection strings are masked.\n\n" +
			"A holder has a variable that refers to the connection, to the opened SqlConnection or NpgsqlConnection, or to its command: a variable of a suspended async " +
			"method, or of a method on a thread's stack. The start of a command is known for SqlClient, from the deadline of a command with a timeout.",
		Examples: []cli.Example{{Line: "sqlpools", Text: "who holds all the connections?"}},
	}, func(c *cli.Context, o *poolOptions) (*answer.SQLPools, error) {
		return sqlpools.SQLPools(ask.Context(c), ask.View(c), o.Options)
	}, apptext.CardWith)
}
