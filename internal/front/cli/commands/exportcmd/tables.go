package exportcmd

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/export"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/internal/export/fleet"
	"github.com/sosgo/sosgo/internal/export/summary"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/target"
)

// askTables returns a function that writes tables of a form to a folder, or with -summary to a fleet.
func askTables(form export.TableForm) func(*cli.Context, *exportOptions) (*answer.Exported, error) {
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
		if _, err := ask.Holders(c); err != nil {
			out.Note(err)
		}
		s, err := summary.Summary(ask.Context(c), ask.View(c), summary.Options{Rules: rules})
		if err != nil {
			return nil, err
		}
		out.NoteAll(s.Noted())
		own := *s // a copy with another time
		options := export.TableOptions{Form: form, Brief: o.Summary, RawCSV: o.RawCSV, Labels: labels, Tool: c.Version(), Mask: c.Mask(),
			Summary: &own, TimeFrom: given.set(&own, c.Session.Path())}
		stage := ""
		if into != nil {
			stage = o.Path // where the tables of a part that is not complete are no part for readers
		}
		write := func(folder string) error {
			return c.WriteDir(folder, stage, func(dir string) error {
				written, err := export.Tables(ask.Context(c), ask.View(c), options, func(name string, write func(io.Writer) error) error {
					return c.WriteFile(filepath.Join(dir, name), cli.New, write)
				})
				if written != nil {
					out.Files = written.Files
					out.NoteAll(written.Noted())
				}
				if err == nil {
					err = limited(c, out, into != nil)
				}
				return err
			})
		}
		if into == nil {
			return out, write(out.Path)
		}
		added := false
		out.Path, added, err = into.Add(id, own.Time, write)
		out.Skipped = err == nil && !added
		return out, err
	}
}

// limited returns an error that wraps target.ErrLimit if the tables are incomplete because of a limit that the user gave: files are kept, and who reads them
// later sees no warning. A fleet takes nothing that --limit cut, either.
func limited(c *cli.Context, out *answer.Exported, fleet bool) error {
	if !c.Bounded() {
		return nil
	}
	limits := out.Noted()
	if !fleet {
		limits = slices.DeleteFunc(slices.Clone(limits), func(err error) bool { return !errors.As(err, new(*offheap.LimitError)) })
	} else if d, ok := c.Dump().(interface{ Limited() error }); ok && d.Limited() != nil {
		limits = append(limits, d.Limited())
	}
	for _, err := range limits {
		if errors.Is(err, target.ErrLimit) {
			return &limitError{err}
		}
	}
	return nil
}

// A limitError reports tables that a limit of the command made incomplete.
type limitError struct{ limit error }

func (e *limitError) Error() string {
	return "the tables would be incomplete because of a limit of the command (--limit, --max-memory): " + e.limit.Error()
}

func (e *limitError) Unwrap() error { return e.limit }

// Advice says what to do.
func (*limitError) Advice() string {
	return "nothing was written: repeat the command with a higher limit, or without"
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

// set sets the time of a process from the option, the dump or the file, in this order. It returns the origin.
func (t times) set(s *answer.Summary, path string) (from string) {
	switch {
	case t.dump != nil:
		s.Time = t.dump
		return "option"
	case s.Time != nil:
		return "dump"
	case t.file != nil:
		s.Time = t.file
		return "file"
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	at := info.ModTime().UTC()
	s.Time = &at
	return "file"
}
