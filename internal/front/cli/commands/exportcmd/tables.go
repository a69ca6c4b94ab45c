package exportcmd

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/app/rows"
	"github.com/sosgo/sosgo/internal/export/fleet"
	"github.com/sosgo/sosgo/internal/export/summary"
	"github.com/sosgo/sosgo/internal/export/tables"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
)

// askTables returns a function that writes tables of a form to a folder, or with -summary to a fleet.
func askTables(form tables.Form) func(*cli.Context, *exportOptions) (*answer.Exported, error) {
	return func(c *cli.Context, o *exportOptions) (*answer.Exported, error) {
		out := &answer.Exported{Of: "tables", Path: o.Path}
		given, err := o.times(c)
		if err != nil {
			return nil, err
		}
		labels, err := labelled(c, o.Label)
		if err != nil {
			return nil, err
		}
		rules, err := o.Rules.Read()
		if err != nil {
			return nil, err
		}
		var into *fleet.Fleet
		id := ""
		if o.Summary {
			if into, err = fleet.Open(o.Path); err != nil {
				return nil, err
			}
			if id, err = ask.Dump(c).ID(); err != nil {
				return nil, err
			}
			out.ID = id
			if out.Path, out.Skipped = into.Has(id); out.Skipped {
				return out, nil
			}
		}
		p, err := tablesOf(c, &out.Gaps, rules)
		if err != nil {
			return nil, err
		}
		given.set(p, c.Session.Path())
		p.Labels = labels
		write := func(folder string) error {
			return c.WriteDir(folder, func(dir string) error {
				options := tables.Options{Form: form, Brief: o.Summary, RawCSV: o.RawCSV, Mask: c.Mask()}
				written, err := tables.Write(c.Context(), p, options, &out.Gaps, func(name string, write func(io.Writer) error) error {
					return c.WriteFile(filepath.Join(dir, name), cli.New, write)
				})
				for _, w := range written {
					out.Files = append(out.Files, answer.ExportedFile{Name: w.Name, Rows: w.Rows})
				}
				return err
			})
		}
		if into == nil {
			return out, write(out.Path)
		}
		added := false
		out.Path, added, err = into.Add(id, p.Summary.Time, write)
		out.Skipped = err == nil && !added
		return out, err
	}
}

// labelled parses the labels in options.
func labelled(c *cli.Context, list []string) (map[string]string, error) {
	labels := map[string]string{}
	for _, l := range list {
		name, value, found := strings.Cut(l, "=")
		if !found || name == "" {
			return nil, c.Usagef("-label %q is not NAME=VALUE", l)
		}
		labels[name] = value
	}
	return labels, nil
}

// times are the times given by options, or nil.
type times struct{ dump, file *time.Time }

func (o *exportOptions) times(c *cli.Context) (times, error) {
	var out times
	for _, t := range []struct {
		name, text string
		into       **time.Time
	}{{"time", o.Time, &out.dump}, {"modified", o.Modified, &out.file}} {
		if t.text == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, t.text)
		if err != nil {
			return out, c.Usagef("-%s %q is not a time such as 2026-11-26T09:00:00Z", t.name, t.text)
		}
		at = at.UTC()
		*t.into = &at
	}
	return out, nil
}

// set sets the time of a process from the option, the dump or the file, in this order.
func (t times) set(p *tables.Input, path string) {
	switch s := p.Summary; {
	case t.dump != nil:
		s.Time, p.TimeFrom = t.dump, "option"
	case s.Time != nil:
		p.TimeFrom = "dump"
	case t.file != nil:
		s.Time, p.TimeFrom = t.file, "file"
	default:
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			at := info.ModTime().UTC()
			s.Time, p.TimeFrom = &at, "file"
		}
	}
}

// tablesOf returns the process to make tables of. It notes unreadable parts.
func tablesOf(c *cli.Context, g *answer.Gaps, rules string) (*tables.Input, error) {
	s, err := summary.Summary(ask.Context(c), ask.View(c), summary.Options{Rules: rules})
	if err != nil {
		return nil, err
	}
	g.NoteAll(s.Noted())
	own := *s // a copy, since set changes its time
	s = &own
	p := &tables.Input{Summary: s, Tool: c.Version()}
	if s.Crashed {
		if p.Crash, err = crash.Describe(ask.Context(c), ask.View(c), crash.Options{}); err != nil {
			return nil, err
		}
	}
	env, err := rows.Env(ask.View(c))
	if err != nil {
		return nil, err
	}
	env.Graph = ask.GraphOptions(c)
	p.Sources = env.Sources
	if p.Heap, err = heapOf(c); err != nil {
		g.Note(err)
		p.Heap = nil
	}
	return p, c.Context().Err()
}
