package appcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/sqlpools"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/apptext"
	"github.com/sosgo/sosgo/internal/report"
)

func sqlPoolsCommand() cli.Command {
	return cli.Command{
		Name: "sqlpools", Aliases: []string{"dumpsqlconnectionpools", "sqlblame"}, Group: cli.GroupApp, NeedsDump: true, Ask: askSQLPools,
		Summary: "list the pools of connections to databases: how many are idle, what runs on the others, and how many calls wait for one",
		Help: "The drivers are SqlClient (Microsoft.Data.SqlClient and System.Data.SqlClient) and Npgsql. A connection counts as busy as long as the program has not closed it, " +
			"also if no command runs on it. Passwords in connection strings are masked.\n\n" +
			"Somebody has a connection in hand if a variable refers to it, to the SqlConnection or NpgsqlConnection that was opened, or to its command: a variable of an async " +
			"method that is suspended, or of a method on a thread's stack. Since when a command runs is known of SqlClient, by the deadline that it keeps for a command with a timeout.",
		Options: []cli.Option{
			{Name: "stacks", Kind: cli.Bool, Summary: "with all frames of the async code that has connections"},
			{Name: "brief", Kind: cli.Bool, Summary: "without who has connections"},
			secretsOption(),
		},
		Examples: []cli.Example{{Line: "sqlpools", Text: "who has all the connections?"}},
		Result:   report.Result[answer.SQLPools](),
	}
}

func askSQLPools(c *cli.Context) (report.Answer, error) {
	v := ask.View(c)
	r, err := v.SQLPoolReader()
	if err != nil {
		return report.Answer{}, err
	}
	h, err := ask.ScannedHeap(c, false)
	if err != nil {
		return report.Answer{}, err
	}
	p := sqlpools.Process{Heap: h, Scan: ask.Scan(c, "looking for pools"), Walk: v.Walk}
	if !c.Bool("brief") {
		if p.Threads, err = v.Threads(); err != nil {
			c.Warn(err)
		}
		if p.Roots, err = v.RootReader(); err != nil {
			c.Warn(err)
		}
		if p.Tasks, err = v.TaskReader(); err != nil {
			c.Warn(err)
		}
	}
	out, err := r.Pools(c.Context(), p, sqlpools.Options{Secrets: c.Bool("secrets")})
	if c.Bool("stacks") {
		return ask.Say(out, err, apptext.SQLPoolsWithStacks)
	}
	return ask.Say(out, err, apptext.SQLPools)
}
