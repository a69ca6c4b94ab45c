package exportcmd

import (
	"io"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/export"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/front/remote"
	"github.com/sosgo/sosgo/process"
)

// askProfile returns a function that writes the stacks, or with -heap the heap.
func askProfile(form export.ProfileForm) func(*cli.Context, *exportOptions) (*answer.Exported, error) {
	return func(c *cli.Context, o *exportOptions) (*answer.Exported, error) {
		if !o.Heap {
			return askStacks(c, o, string(form))
		}
		return heap(c, o, func(w io.Writer, p *process.Process) (*answer.Exported, error) {
			return export.HeapProfile(c.Context(), w, p, export.HeapProfileOptions{Form: form, Title: remote.Base(c.Session.Path()), Garbage: o.Garbage, Least: o.Min, Mask: c.Mask()})
		})
	}
}

// askStacks writes the stacks, like the command stacks.
func askStacks(c *cli.Context, o *exportOptions, form string) (*answer.Exported, error) {
	out := &answer.Exported{Of: "stacks"}
	return out, c.WriteFile(o.Path, cli.New, func(w io.Writer) error {
		profile, err := ask.Profile(c, o.Native)
		if err != nil {
			return err
		}
		out.Gaps, out.Stacks = profile.Gaps, len(profile.Threads)
		page := c.Page(w)
		threadtext.Profile(page, profile, threadtext.ProfileOptions{Form: form, Title: remote.Base(c.Session.Path()), PerThread: o.PerThread})
		return page.Err()
	})
}
