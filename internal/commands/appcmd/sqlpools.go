package appcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/commands/ask"
	"github.com/sosgo/sosgo/internal/text/apptext"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/sqlpools"
)

func sqlPoolsCommand() cli.Command {
	return cli.Command{
		Name: "sqlpools", Aliases: []string{"dumpsqlconnectionpools", "sqlblame"}, Group: cli.GroupApp, NeedsDump: true, Ask: askSQLPools,
		Summary: "lists the pools of connections to databases: how many are idle, what runs on the others, and how many calls wait for one",
		Help: "The drivers are SqlClient (Microsoft.Data.SqlClient and System.Data.SqlClient) and Npgsql. A connection counts as busy as long as the program has not closed it, " +
			"also if no command runs on it. Passwords in connection strings are masked.",
		Options:  []cli.Option{secretsOption()},
		Examples: []cli.Example{{Line: "sqlpools", Text: "who has all the connections?"}},
		Result:   report.Result[answer.SQLPools](),
	}
}

func askSQLPools(c *cli.Context) (report.Answer, error) {
	r, err := ask.View(c).SQLPools()
	if err != nil {
		return report.Answer{}, err
	}
	h, err := ask.ScannedHeap(c, false)
	if err != nil {
		return report.Answer{}, err
	}
	out, err := r.Pools(c.Context(), h, sqlpools.Options{Secrets: c.Bool("secrets"), Scan: ask.Scan(c, "looking for pools")})
	return ask.Say(out, err, apptext.SQLPools)
}
