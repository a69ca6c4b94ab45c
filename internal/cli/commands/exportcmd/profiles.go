package exportcmd

import (
	"io"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/export/heappprof"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/stackwalk/threads"
	"github.com/sosgo/sosgo/target"
)

func askPprof(c *cli.Context, path string) (*answer.Exported, error) {
	return askProfile(c, path, "pprof", (*heappprof.Profile).Pprof)
}

func askFolded(c *cli.Context, path string) (*answer.Exported, error) {
	return askProfile(c, path, "folded", (*heappprof.Profile).Folded)
}

func askSpeedscope(c *cli.Context, path string) (*answer.Exported, error) {
	return askProfile(c, path, "speedscope", func(p *heappprof.Profile, w io.Writer) error {
		return p.Speedscope(w, target.BaseName(c.Session.Path()))
	})
}

// askProfile writes the stacks, or with -heap the heap by write.
func askProfile(c *cli.Context, path, form string, write func(*heappprof.Profile, io.Writer) error) (*answer.Exported, error) {
	if !c.Bool("heap") {
		return askStacks(c, path, form)
	}
	o := heappprof.Options{Garbage: c.Bool("garbage")}
	o.Least, _ = c.Size("min")
	out := &answer.Exported{Of: "heap"}
	return out, c.WriteFile(path, cli.New, func(w io.Writer) error {
		h, err := heapOf(c)
		if err != nil {
			return err
		}
		p, err := heappprof.Read(c.Context(), h, o)
		if err != nil {
			return err
		}
		out.Gaps, out.Objects, out.Size, out.Stacks = p.Gaps, p.Objects, p.Size, p.Paths()
		return write(p, w)
	})
}

// askStacks writes the stacks, as the command stacks does.
func askStacks(c *cli.Context, path, form string) (*answer.Exported, error) {
	out := &answer.Exported{Of: "stacks"}
	return out, c.WriteFile(path, cli.New, func(w io.Writer) error {
		walker, list, err := ask.Stacks(c, c.Bool("native"))
		if err != nil {
			return err
		}
		profile, err := threads.Profile(c.Context(), walker, list, threads.ProfileOptions{Native: c.Bool("native"), Symbols: ask.Dump(c).Symbols()})
		if err != nil {
			return err
		}
		out.Gaps, out.Stacks = profile.Gaps, len(profile.Threads)
		page := report.NewPage(w, c.SOS, c.Warn, nil)
		threadtext.Profile(page, profile, threadtext.ProfileOptions{Form: form, Title: target.BaseName(c.Session.Path()), PerThread: c.Bool("perthread")})
		return page.Err()
	})
}
