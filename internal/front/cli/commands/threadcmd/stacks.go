package threadcmd

import (
	"io"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/front/remote"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/internal/threads"
)

type exportOptions struct {
	Export    string `opt:"export" value:"FORM" choices:"folded|speedscope|pprof|json" help:"the form: folded (default), speedscope, pprof or json"`
	Out       string `opt:"o,out" kind:"file" value:"FILE" help:"the file to write; it must not exist"`
	Native    bool   `opt:"native" help:"native frames too"`
	PerThread bool   `opt:"perthread" help:"folded: the thread at the start of each stack"`

	title string
}

// form returns the renderer's options.
func (o *exportOptions) form() threadtext.ProfileOptions {
	return threadtext.ProfileOptions{Form: o.Export, Title: o.title, PerThread: o.PerThread}
}

func stacksCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name:    "stacks",
		Summary: "write the stacks of all threads for other tools",
		Help: "folded is text for flame graphs, a line for each different stack with the number of its threads; " +
			"speedscope is for https://www.speedscope.app; pprof for \"go tool pprof\", with a sample for each thread; " +
			"json is the result that --json prints.",
		Examples: []cli.Example{
			{Line: "stacks --export folded | grep Socket", Text: "stacks with sockets in them, one a line"},
			{Line: "stacks --export speedscope -o stacks.json", Text: "a file for speedscope"},
			{Line: "stacks --export pprof -o stacks.pb.gz", Text: "a file for go tool pprof"},
		},
	}, askStacks, func(p *report.Page, v *answer.Profile, o *exportOptions) {
		if o.Out != "" {
			threadtext.ProfileFile(p, v)
		} else {
			threadtext.Profile(p, v, o.form())
		}
	})
}

func askStacks(c *cli.Context, o *exportOptions) (*answer.Profile, error) {
	// JSON output has a single form.
	if c.WantsJSON() && o.Out == "" && o.Export != "" && o.Export != "json" {
		return nil, c.Usagef("-export %s makes no JSON result; give it a file with -o", o.Export)
	}
	o.title = remote.Base(c.Session.Path())
	profile, err := ask.Profile(c, o.Native || ask.View(c).StacksOnly())
	if err != nil || o.Out == "" {
		return profile, err
	}
	err = c.WriteFile(o.Out, cli.New, func(w io.Writer) error {
		page := c.Page(w)
		threadtext.Profile(page, profile, o.form())
		return page.Err()
	})
	if err != nil {
		return nil, err
	}
	return profile.Written(o.Out), nil
}

type parallelOptions struct {
	AllThreads bool `opt:"allthreads,a,all" help:"all thread ids of a group, instead of four"`
	Runtime    bool `opt:"runtime,r" help:"the runtime's own frames too"`
}

func parallelStacksCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name: "parallelstacks", Aliases: []string{"pstacks"},
		Summary: "show the stacks of all threads in one picture",
		Help: "Threads that came through the same calls share their lines; the number before a call counts the threads " +
			"in it. The outermost caller of each group stands last, and the threads (~~~~) above the call that they are in.",
		Examples: []cli.Example{{Line: "pstacks -a", Text: "with all thread ids"}},
	}, askParallelStacks, func(p *report.Page, s *answer.ParallelStacks, o *parallelOptions) {
		threadtext.Parallel(p, s, threadtext.ParallelOptions{AllThreads: o.AllThreads})
	})
}

func askParallelStacks(c *cli.Context, o *parallelOptions) (*answer.ParallelStacks, error) {
	walker, list, err := ask.Stacks(c, false)
	if err != nil {
		return nil, err
	}
	return threads.ParallelStacks(c.Context(), walker, list, threads.ParallelOptions{Explicit: o.Runtime})
}
