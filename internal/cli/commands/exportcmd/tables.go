package exportcmd

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/export/tables"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
)

// askTables returns what writes tables of a form to a folder, or with -summary to the folder of this dump in it.
func askTables(form tables.Form) func(*cli.Context, *exportOptions) (*answer.Exported, error) {
	return func(c *cli.Context, o *exportOptions) (*answer.Exported, error) {
		out := &answer.Exported{Of: "tables", Path: o.Path}
		given, labels, err := o.described(c)
		if err != nil {
			return nil, err
		}
		if o.Summary {
			id, err := ask.Dump(c).ID()
			if err != nil {
				return nil, err
			}
			if out.Path = filepath.Join(o.Path, "dump_id="+id); isThere(out.Path) {
				out.Skipped = true
				return out, nil
			}
		}
		p, err := tablesOf(c, &out.Gaps)
		if err != nil {
			return nil, err
		}
		if given != nil {
			p.Summary.Time, p.TimeFrom = given, "option"
		}
		p.Labels = labels
		return out, c.WriteDir(out.Path, func(dir string) error {
			written, err := tables.Write(c.Context(), p, tables.Options{Form: form, Brief: o.Summary, RawCSV: o.RawCSV, Mask: c.Mask()}, &out.Gaps, func(name string, write func(io.Writer) error) error {
				return c.WriteFile(filepath.Join(dir, name), cli.New, write)
			})
			for _, w := range written {
				out.Files = append(out.Files, answer.ExportedFile{Name: w.Name, Rows: w.Rows})
			}
			return err
		})
	}
}

// described returns the time and the labels that options give the dump.
func (o *exportOptions) described(c *cli.Context) (*time.Time, map[string]string, error) {
	labels := map[string]string{}
	for _, l := range o.Label {
		name, value, found := strings.Cut(l, "=")
		if !found || name == "" {
			return nil, nil, c.Usagef("-label %q is not NAME=VALUE", l)
		}
		labels[name] = value
	}
	if o.Time == "" {
		return nil, labels, nil
	}
	t, err := time.Parse(time.RFC3339, o.Time)
	if err != nil {
		return nil, nil, c.Usagef("-time %q is not a time such as 2026-11-26T09:00:00Z", o.Time)
	}
	t = t.UTC()
	return &t, labels, nil
}

// isThere reports whether a folder is there: those of dumps are whole.
func isThere(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// tablesOf returns the process whose tables are made. It records what can't be read.
func tablesOf(c *cli.Context, g *answer.Gaps) (*tables.Process, error) {
	s, err := ask.View(c).Summary(ask.Context(c))
	if err != nil {
		return nil, err
	}
	g.NoteAll(s.Noted())
	own := *s // the time is its own
	s = &own
	p := &tables.Process{Summary: s, Tool: c.Version()}
	if s.Time != nil {
		p.TimeFrom = "dump"
	} else if info, err := os.Stat(c.Session.Path()); err == nil && info.Mode().IsRegular() {
		t := info.ModTime().UTC()
		s.Time, p.TimeFrom = &t, "file"
	}
	process, err := ask.View(c).QueryProcess(ask.GraphOptions(c))
	if err != nil {
		return nil, err
	}
	p.Sources = process.Sources
	if p.Heap, err = heapOf(c); err != nil {
		g.Note(err)
		p.Heap = nil
	}
	return p, c.Context().Err()
}
