package processcmd

import (
	"cmp"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/triage"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/processtext"
)

type triageOptions struct {
	triage.Options
	Rules ask.RulesFile `opt:"rules" kind:"file" value:"FILE" help:"sign the crash by these rules; \"signature rules\" prints the default"`
	cli.DumpFile
}

func triageCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "triage", DumpArg: true,
		Summary: "list what is wrong with the process, the most severe first",
		Help: "The crash, deadlocks and held locks, a starved thread pool, exhausted connection pools, failed tasks, failed allocations, " +
			"large holders of memory, load contexts that stay and a damaged heap, " +
			"each in a line with its evidence and the command that shows more. What was looked at without a finding, and what could not be looked at, follows. " +
			"The exit code is 0 if nothing wrong was found, 7 if something was, and 3, 4 or 5 if nothing was found but not everything could be looked at. " +
			"What a garbage collection in progress was moving does not count for it. " +
			"docs/triage.md lists the kinds of findings with their order.\n\n" +
			"\"sosgo triage -p PID\" takes a dump of a running process first, as collect does.",
		Examples: []cli.Example{
			{Line: "triage core.4711", Text: "the first command for any dump"},
			{Line: "triage -noheap core.4711", Text: "the same without the heap, for a dump of many gigabytes"},
		},
	}, askTriage, processtext.Triage)
}

func askTriage(c *cli.Context, o *triageOptions) (*answer.Triage, error) {
	var err error
	if o.Options.Rules, err = o.Rules.Read(); err != nil {
		return nil, err
	}
	t, err := triage.Triage(ask.Context(c), ask.View(c), o.Options)
	return t, TriageEnd(c, t, err)
}

// TriageEnd returns the error with which a command that answers with a triage ends: what it found and what is missing
// decide about the exit code. It completes the advice of the triage. t may be nil.
func TriageEnd(c *cli.Context, t *answer.Triage, err error) error {
	if t == nil {
		return err
	}
	missing := err // nothing could be looked at: the page says why
	for i := range t.Unknown {
		u := &t.Unknown[i]
		if u.Settles == "" {
			u.Settles = strings.TrimPrefix(c.Advice(u.Err), cli.CheckAddress) // triage takes no address
		}
		if !u.Moving {
			missing = cmp.Or(missing, u.Err)
		}
	}
	if n := len(t.Findings); n > 0 {
		return cli.Stated(&cli.GateError{Text: "something is wrong: " + answer.Count(n, "finding", "findings")})
	}
	return cli.Stated(missing)
}
