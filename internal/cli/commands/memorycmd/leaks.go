package memorycmd

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph/leaks"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/memorytext"
	"github.com/sosgo/sosgo/internal/report"
)

func leaksCommand() cli.Command {
	return cli.Command{
		Name: "leaks", Group: cli.GroupMemory, NeedsDump: true, OnlyAsks: true, Ask: askLeaks,
		Summary: "says what most of the heap hangs on, and what looks as if it only grew",
		Help: fmt.Sprintf("Looked for are objects that own many of one type (from %d on), single objects that retain much, and objects that nothing owns alone with what refers to most of "+
			"them; then what leaks in .NET: events with many handlers, timers that call the same method, callbacks registered with one CancellationTokenSource, disposables in the root "+
			"scope of a service provider, weak references that lead to nothing any more. Of each it says what holds it, by the path that says most: from a static field, if one holds it. What waits for its finalizer is told at the end.\n\n"+
			"A suspect retains at least %g%% of all that lives (-share); what retains %g%% (-min) and %d KB is listed, events, timers, registrations and weak references whatever they retain. That much hangs on "+
			"something is no proof that it leaks: compare with a dump that was taken earlier. Weak references hold nothing; caches, and what is attached by a ConditionalWeakTable, are named as such.",
			leaks.DefaultCount, leaks.DefaultShare, leaks.DefaultLeast, leaks.DefaultBytes>>10),
		Options: []cli.Option{
			{Name: "share", Kind: cli.Str, Value: "N%", Summary: fmt.Sprintf("what a suspect retains at least (%g%%)", leaks.DefaultShare)},
			{Name: "min", Kind: cli.Str, Value: "N%", Summary: fmt.Sprintf("what is listed at least (%g%%)", leaks.DefaultLeast)},
			{Name: "size", Kind: cli.Size, Summary: fmt.Sprintf("bytes that are listed at least, whatever their share (%d KB)", leaks.DefaultBytes>>10)},
			{Name: "count", Kind: cli.Int, Summary: fmt.Sprintf("objects, handlers, timers, registrations or dead weak references that are many (%d)", leaks.DefaultCount)},
			{Name: "top", Kind: cli.Int, Summary: fmt.Sprintf("list at most N, 0 for all (%d)", defaultTop)},
		},
		Examples: []cli.Example{{Line: "leaks", Text: "why does the process use so much memory?"}},
		Result:   report.Result[answer.Leaks](),
	}
}

func askLeaks(c *cli.Context) (report.Answer, error) {
	o, err := leakOptions(c)
	if err != nil {
		return report.Answer{}, err
	}
	h, err := ask.Holders(c)
	if err != nil {
		return report.Answer{}, err
	}
	r, err := ask.Objects(c)
	if err != nil {
		return report.Answer{}, err
	}
	o.Jobs = c.Jobs
	out, err := leaks.Find(c.Context(), h, r, o)
	return ask.Say(out, err, memorytext.Leaks)
}

func leakOptions(c *cli.Context) (o leaks.Options, err error) {
	for name, to := range map[string]*float64{"share": &o.Share, "min": &o.Least} {
		text, ok := c.Str(name)
		if !ok {
			continue
		}
		*to, err = strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
		if err != nil || !(*to > 0 && *to <= 100) {
			return o, c.Usagef("-%s %s is no share: up to 100%%", name, text)
		}
	}
	if o.Top, err = top(c); err != nil {
		return o, err
	}
	o.Bytes, _ = c.Size("size")
	if n, ok := c.Int("count"); ok {
		if n < 2 || n > math.MaxInt32 {
			return o, c.Usagef("-count %d is not many", n)
		}
		o.Count = int(n)
	}
	return o, nil
}
