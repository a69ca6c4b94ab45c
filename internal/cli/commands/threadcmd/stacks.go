package threadcmd

import (
	"io"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/stackwalk/threads"
	"github.com/sosgo/sosgo/target"
)

func stacksCommand() cli.Command {
	return cli.Command{
		Name: "stacks", Group: cli.GroupThreads, NeedsDump: true, Ask: askStacks,
		Summary: "write the stacks of all threads for other tools",
		Help: "folded is text for flame graphs, a line for each different stack with the number of its threads; " +
			"speedscope is for https://www.speedscope.app; pprof for \"go tool pprof\", with a sample for each thread; " +
			"json is the result that --json prints.",
		Options: []cli.Option{
			{Name: "export", Kind: cli.Str, Choices: []string{"folded", "speedscope", "pprof", "json"}, Value: "FORM", Summary: "the form; folded is the default"},
			{Name: "o", Aliases: []string{"out"}, Kind: cli.File, Value: "FILE", Summary: "write to that file, which must not exist"},
			{Name: "native", Summary: "native frames too"},
			{Name: "perthread", Summary: "folded: begin each stack with its thread"},
		},
		Examples: []cli.Example{
			{Line: "stacks --export folded | grep Socket", Text: "stacks with sockets in them, one a line"},
			{Line: "stacks --export speedscope -o stacks.json", Text: "a file for speedscope"},
			{Line: "stacks --export pprof -o stacks.pb.gz", Text: "a file for go tool pprof"},
		},
		Result: report.Result[answer.Profile](),
	}
}

func askStacks(c *cli.Context) (report.Answer, error) {
	form, _ := c.Str("export")
	file, toFile := c.Str("o")
	// Two forms at once, of which the result can have one, are a mistake of the user's.
	if c.WantsJSON() && !toFile && c.Has("export") && form != "json" {
		return report.Answer{}, c.Usagef("-export %s makes no JSON result; give it a file with -o", form)
	}
	walker, list, err := ask.Stacks(c, c.Bool("native"))
	if err != nil {
		return report.Answer{}, err
	}
	profile, err := threads.Profile(c.Context(), walker, list, threads.ProfileOptions{Native: c.Bool("native"), Symbols: ask.Dump(c).Symbols()})
	if err != nil {
		return report.Answer{}, err
	}
	o := threadtext.ProfileOptions{Form: form, Title: target.BaseName(c.Session.Path()), PerThread: c.Bool("perthread")}
	if !toFile {
		return report.Say(profile, func(p *report.Page, v *answer.Profile) { threadtext.Profile(p, v, o) }), nil
	}
	err = c.WriteFile(file, cli.New, func(w io.Writer) error {
		page := report.NewPage(w, c.SOS, c.Warn, nil)
		threadtext.Profile(page, profile, o)
		return page.Err()
	})
	if err != nil {
		return report.Answer{}, err
	}
	return report.Say(profile.Written(file), threadtext.ProfileFile), nil
}
