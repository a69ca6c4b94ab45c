package exportcmd

import (
	"io"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/export/heappprof"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/target"
)

func askPprof(c *cli.Context, o *exportOptions) (*answer.Exported, error) {
	return askProfile(c, o, "pprof", (*heappprof.Profile).Pprof)
}

func askFolded(c *cli.Context, o *exportOptions) (*answer.Exported, error) {
	return askProfile(c, o, "folded", (*heappprof.Profile).Folded)
}

func askSpeedscope(c *cli.Context, o *exportOptions) (*answer.Exported, error) {
	return askProfile(c, o, "speedscope", func(p *heappprof.Profile, w io.Writer) error {
		return p.Speedscope(w, target.BaseName(c.Session.Path()))
	})
}

// askProfile writes the stacks, or with -heap the heap by calling write.
func askProfile(c *cli.Context, o *exportOptions, form string, write func(*heappprof.Profile, io.Writer) error) (*answer.Exported, error) {
	if !o.Heap {
		return askStacks(c, o, form)
	}
	out := &answer.Exported{Of: "heap"}
	return out, c.WriteFile(o.Path, cli.New, func(w io.Writer) error {
		h, err := heapOf(c)
		if err != nil {
			return err
		}
		p, err := heappprof.Read(c.Context(), h, heappprof.Options{Garbage: o.Garbage, Least: o.Min})
		if err != nil {
			return err
		}
		out.Gaps, out.Objects, out.Size, out.Stacks = p.Gaps, p.Objects, p.Size, p.Paths()
		return write(p, w)
	})
}

// askStacks writes the stacks, like the command stacks.
func askStacks(c *cli.Context, o *exportOptions, form string) (*answer.Exported, error) {
	out := &answer.Exported{Of: "stacks"}
	return out, c.WriteFile(o.Path, cli.New, func(w io.Writer) error {
		walker, list, err := ask.Stacks(c, o.Native)
		if err != nil {
			return err
		}
		profile, err := threads.Profile(c.Context(), walker, list, threads.ProfileOptions{Native: o.Native, Symbols: ask.Dump(c).Symbols()})
		if err != nil {
			return err
		}
		out.Gaps, out.Stacks = profile.Gaps, len(profile.Threads)
		for i := range profile.Threads {
			profile.Threads[i].Name = masked(c, profile.Threads[i].Name)
		}
		page := c.Page(w)
		threadtext.Profile(page, profile, threadtext.ProfileOptions{Form: form, Title: target.BaseName(c.Session.Path()), PerThread: o.PerThread})
		return page.Err()
	})
}
