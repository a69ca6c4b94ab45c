package tables

import (
	"context"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/signature"
	"github.com/sosgo/sosgo/query"
)

type siteRow struct {
	Position uint64            `row:"position" doc:"order of the rows"`
	Finding  uint64            `row:"finding" doc:"number of the finding in its dump, from 0"`
	Kind     string            `row:"kind" doc:"kind of the finding"`
	Method   query.Opt[string] `row:"method" doc:"the method of the program, or the class that failed; null if there is none, or it can't be read"`
	Does     query.Opt[string] `row:"does" doc:"what it waits for"`
	Failed   query.Opt[string] `row:"failed" doc:"types of the exceptions that it failed with, separated by semicolons; ? is one that can't be read"`
	Count    uint64            `row:"count" doc:"how many threads, tasks or operations are there"`
}

// hasSites reports whether a finding has sites.
func (p *Input) hasSites() bool {
	return slices.ContainsFunc(p.Summary.Findings, func(f answer.FindingSummary) bool { return len(f.Sites) > 0 })
}

// siteTable returns the table with the input of the signatures of findings, for trying rules.
func (p *Input) siteTable() *Table {
	return rowTable("sites", "what the signatures of findings are made from", func(_ context.Context, _ *writer, add func(siteRow) error) error {
		var at, finding uint64
		for i := range p.Summary.Findings {
			f := &p.Summary.Findings[i]
			if len(f.Sites) == 0 {
				continue
			}
			for _, s := range signature.SiteRows(f.Sites) {
				err := add(siteRow{Position: at, Finding: finding, Kind: string(f.Kind), Method: textOrNull(s.Method), Does: textOrNull(s.Does), Failed: textOrNull(s.Failed), Count: s.Count})
				if err != nil {
					return err
				}
				at++
			}
			finding++
		}
		return nil
	})
}
