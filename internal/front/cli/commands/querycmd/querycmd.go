// Package querycmd holds the commands for the user's own expressions and queries. Each passes the text to package
// query and names the renderer of the answer. It evaluates nothing itself. Start with Commands.
package querycmd

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/rows"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/querytext"
	"github.com/sosgo/sosgo/query"
)

// Commands returns the commands of the group.
func Commands() []cli.Command {
	return cli.In(cli.GroupAsk, evalCommand(), queryCommand())
}

type evalOptions struct {
	Expression []string `arg:"expression" kind:"expression" help:"one expression, or several between commas"`
}

func evalCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "eval", Aliases: []string{"evaluateexpression", "expr"}, Raw: true,
		Summary: "evaluate an expression in C# syntax",
		Usage:   "EXPRESSION",
		Help: "x.Name is a field, or the field behind a property: Name, else <Name>k__BackingField, else _name, m_name, s_name, _Name or name; if\n" +
			"several of these exist the error lists them. Names with other letters stand between back-ticks. Nothing of the program is run.\n\n" +
			"Objects: 0x7f079cc00b40, Ns.Type.StaticField (also Ns.Generic<int>.Field and Ns.Outer.Inner.Field), $_ (the last address), @rax.\n" +
			"Paths: x.y, x?.y, x[3], x[\"key\"], (T)x, x as T. Operators: those of C# but | (use bor(a, b)), ??, ?:, is, in (…), like 'a%',\n" +
			"matches /re/. Numbers may have units: 10kb, 2mb. Enum values equal their names; DateTime and TimeSpan equal '2026-11-20' and '1h30m'.\n" +
			"Methods: Contains, StartsWith, EndsWith, IndexOf, Substring, ToLower, ToUpper, Trim, HasFlag, ContainsKey, Count.\n" +
			"Functions: LIST.\n\n" +
			"What is not in the dump is neither zero nor null: what is computed from it is as unknown, and ?? does not replace it.\n" +
			"On a line of the prompt the expression needs no quotes; in a shell, put it in single quotes.",
		List: functionList,
		Examples: []cli.Example{
			{Line: "eval obj(0x7efbcd80b550).Friend.name", Text: "a field of a field of the object at that address"},
			{Line: "eval Contoso.Cache.s_items[\"key\"].Count", Text: "start at a static field"},
			{Line: "eval size($_), retained($_), gen($_)", Text: "of the last object shown"},
		},
	}, askEval, querytext.Evaluations)
}

// functionList lists the functions with their arguments.
func functionList() string {
	var out []string
	for _, f := range query.Functions() {
		out = append(out, f.Name+"("+f.Args+")")
	}
	return strings.Join(out, ", ")
}

func askEval(c *cli.Context, o *evalOptions) (*answer.Evaluations, error) {
	p, err := ask.Env(c)
	if err != nil {
		return nil, err
	}
	text := strings.Join(o.Expression, " ")
	c.Echo(text)
	e, err := query.Evaluate(c.Context(), p, text)
	if err = ask.Misread(c, err); e == nil {
		return nil, err
	}
	if len(e.Values) == 1 && e.Values[0].Address != 0 {
		c.Session.SetLast(e.Values[0].Address)
	}
	return e, cli.WithAnswer(err)
}

type queryOptions struct {
	query.Options
	Question []string `arg:"question" kind:"expression" help:"from … | …, or SELECT …"`
}

func queryCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "query", Aliases: []string{"q"}, Raw: true,
		List:    sourceList,
		Summary: "query objects, threads, frames, roots and more, in steps or in SQL",
		Usage:   "[OPTIONS] QUESTION",
		Help: "A question goes from a source through steps, each behind |:\n\n" +
			"  from objects of Contoso.Order | where Total > 100 && size > 1kb | group by Customer.Name\n" +
			"       | select count(), sum(size) | order by 2 desc | top 20\n\n" +
			"or is SQL: SELECT Customer.Name, count(*) FROM Contoso.Order WHERE Total > 100 GROUP BY Customer.Name ORDER BY 2 DESC LIMIT 20.\n\n" +
			"Sources with their columns (those in parentheses are not shown by default):\nLIST\n" +
			"objects, live and dead may have of TYPE behind them; a type alone means its objects. of TYPE also takes types that derive from it\n" +
			"or implement it, of exactly TYPE does not; List means every List<T>, \"name with *\" in quotes is a pattern. A namespace may be left out.\n\n" +
			"Names are columns, then fields of the row's object, as in eval; this is that object. A field of null, or one that a derived type\n" +
			"lacks, is null, and null is neither less nor greater than anything. A row whose condition can't be decided, because data is not in the dump, is left out with a warning.\n" +
			"In groups: count(), count(distinct x), sum, min, max, avg, any. Keys that select does not name are shown behind its columns.",
		Examples: []cli.Example{
			{Line: "query from objects | group by type | select count(), sum(size) | order by 2 desc | top 10", Text: "what fills the heap"},
			{Line: "query from strings | where length > 1000 | select address, length, text | order by length desc | top 5", Text: "the longest strings"},
			{Line: "query from exceptions | select type, _message", Text: "all exceptions with their messages"},
			{Line: "query from tasks | where status == \"WaitingForActivation\" | group by method, awaits | select count() | order by 1 desc", Text: "what async methods wait for"},
			{Line: "query from frames | where method matches /Wait/ | group by method | select count() | order by 1 desc", Text: "where threads wait"},
		},
	}, askQuery, querytext.Query)
}

// sourceList lists the sources with their columns, one per line. Adjacent sources with equal columns share a line.
func sourceList() string {
	var out strings.Builder
	var names []string
	list := rows.Sources()
	for i := range list {
		names = append(names, list[i].Name)
		columns := columnList(list[i].Columns)
		if i+1 < len(list) && columnList(list[i+1].Columns) == columns {
			continue
		}
		fmt.Fprintf(&out, "  %s: %s\n", strings.Join(names, ", "), columns)
		names = nil
	}
	return out.String()
}

// columnList lists the names of columns, with hidden ones in parentheses.
func columnList(columns []query.Column) string {
	var shown, hidden []string
	for _, c := range columns {
		if c.Hidden {
			hidden = append(hidden, c.Name)
		} else {
			shown = append(shown, c.Name)
		}
	}
	text := strings.Join(shown, " ")
	if hidden != nil {
		text += " (" + strings.Join(hidden, " ") + ")"
	}
	return text
}

func askQuery(c *cli.Context, o *queryOptions) (*answer.Query, error) {
	p, err := ask.Env(c)
	if err != nil {
		return nil, err
	}
	text := strings.Join(o.Question, " ")
	c.Echo(text)
	out, err := query.Run(c.Context(), p, text, o.Options)
	if err == nil {
		ask.EchoHeads(c, out.Columns)
	}
	return out, ask.Misread(c, err)
}
