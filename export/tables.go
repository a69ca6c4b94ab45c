package export

import (
	"context"
	"io"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/app/rows"
	"github.com/sosgo/sosgo/internal/export/summary"
	"github.com/sosgo/sosgo/internal/export/tables"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// A TableForm is a format of tables.
type TableForm string

// The formats of tables.
const (
	Parquet TableForm = "parquet"
	CSV     TableForm = "csv"
	NDJSON  TableForm = "ndjson"
)

// TableOptions select the tables and their form. The zero value writes all in Parquet.
type TableOptions struct {
	Form   TableForm
	Brief  bool                // only the tables to compare dumps by: no objects, no strings
	RawCSV bool                // texts of CSV as they are; else an apostrophe precedes what a spreadsheet would run
	Labels map[string]string   // of the dump, for the table dump
	Tool   string              // name and version of the writing program, for the table dump
	Mask   func(string) string // if not nil, replaces secrets in texts

	// Summary, if not nil, is written instead of View.Summary's. TimeFrom is the origin of its time: dump, file or option.
	Summary  *answer.Summary
	TimeFrom string
}

// A CreateFunc makes the file of a table, calls write for its content, and closes it.
type CreateFunc func(name string, write func(io.Writer) error) error

// Tables writes tables about a process: the dump, findings, types, objects, strings, threads, frames, roots, handles,
// statics, tasks and requests. A table that can't be read at all is left out and noted: an empty table means that
// there are no rows.
func Tables(ctx context.Context, p *process.Process, o TableOptions, create CreateFunc) (*answer.Exported, error) {
	out, in := &answer.Exported{}, &tables.Input{Summary: o.Summary}
	var err error
	if in.Summary == nil {
		if in.Summary, err = summary.Summary(ctx, p, summary.Options{}); err != nil {
			return nil, err
		}
		out.NoteAll(in.Summary.Noted())
	}
	if in.Summary.Crashed {
		if in.Crash, err = crash.Describe(ctx, p, crash.Options{}); err != nil {
			return nil, err
		}
	}
	env, err := rows.Env(p)
	if err != nil {
		return nil, err
	}
	in.Sources = env.Sources
	if in.Heap, err = heapOf(ctx, p, o.Mask); err != nil {
		out.Note(err)
		in.Heap = nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return out, writeTables(ctx, in, o, out, create)
}

// SummaryTables writes the tables that a summary alone has, such as one from an earlier run.
func SummaryTables(ctx context.Context, s *answer.Summary, o TableOptions, create CreateFunc) (*answer.Exported, error) {
	if s == nil {
		return nil, target.Argumentf("no summary was given")
	}
	out := &answer.Exported{}
	return out, writeTables(ctx, &tables.Input{Summary: s}, o, out, create)
}

func writeTables(ctx context.Context, in *tables.Input, o TableOptions, out *answer.Exported, create CreateFunc) error {
	form, err := tableForm(o.Form)
	if err != nil {
		return err
	}
	if create == nil {
		return target.Argumentf("no function makes the files")
	}
	in.Labels, in.Tool, in.TimeFrom = o.Labels, o.Tool, o.TimeFrom
	if in.TimeFrom == "" && in.Summary.Time != nil {
		in.TimeFrom = "dump"
	}
	out.Form, out.Of = string(form), "tables"
	written, err := tables.Write(ctx, in, tables.Options{Form: form, Brief: o.Brief, RawCSV: o.RawCSV, Mask: o.Mask}, &out.Gaps, create)
	for _, w := range written {
		out.Files = append(out.Files, answer.ExportedFile{Name: w.Name, Rows: w.Rows})
	}
	return err
}

// tableForm returns the form of tables, Parquet by default.
func tableForm(f TableForm) (tables.Form, error) {
	switch f {
	case "":
		return tables.Parquet, nil
	case Parquet, CSV, NDJSON:
		return tables.Form(f), nil
	}
	return "", target.Argumentf("there are no tables of the form %q", f)
}
