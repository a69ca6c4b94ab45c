package tables

import (
	"context"

	"github.com/sosgo/sosgo/internal/app/signature"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/target"
)

type crashRow struct {
	Position uint64                 `row:"position" doc:"order of the rows"`
	Role     string                 `row:"role" doc:"what the row is: kind (the exception or signal), frame (a method), unnamed (a method whose name can't be read, by module, build and token), place (in the build of a module), generated (words for a place), or a property of the crash: doubtful, thrown, cut, certain"`
	Text     query.Opt[string]      `row:"text" doc:"the kind, or the method as stacks have it; null if it can't be read"`
	Module   query.Opt[string]      `row:"module" doc:"the module of a place"`
	Build    query.Opt[string]      `row:"build" doc:"its build: build id, or time stamp and size"`
	Offset   query.Opt[target.Addr] `row:"offset" doc:"the place in it"`
}

// crashTable returns the table with the input of the crash's signature, for trying rules.
func (p *Input) crashTable() *Table {
	return rowTable("crash", "what the signature of a crash is made from", func(_ context.Context, _ *writer, add func(crashRow) error) error {
		rec := signature.RecordOf(p.Crash)
		for i, r := range rec.Rows() {
			row := crashRow{Position: uint64(i), Role: r.Role, Text: textOrNull(r.Text), Module: textOrNull(r.Place.Module), Build: textOrNull(r.Place.Build),
				Offset: query.SomeIf(target.Addr(r.Place.Offset), r.Place.Module != "")}
			if err := add(row); err != nil {
				return err
			}
		}
		return nil
	})
}
