package fleet

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/signature"
	"github.com/sosgo/sosgo/internal/export/internal/parquetfile"
	"github.com/sosgo/sosgo/target"
)

// TryRules signs all crashes and findings of the fleet with two texts of rules, and reports the signatures that
// merge and split. An empty text means the default rules.
func (f *Fleet) TryRules(ctx context.Context, before, after string) (*answer.RulesTrial, error) {
	var rules [2]*signature.Rules
	for i, text := range []string{before, after} {
		var err error
		if rules[i], err = signature.ParseRules(cmp.Or(text, signature.DefaultRules)); err != nil {
			return nil, err
		}
	}
	out := &answer.RulesTrial{Merged: []answer.RulesChange{}, Split: []answer.RulesChange{}}
	var signed [2]map[string]*answer.SignedCrashes // by signature
	links := map[[2]string]int{}
	for i := range signed {
		signed[i] = map[string]*answer.SignedCrashes{}
	}
	note := func(sign func(*signature.Rules) answer.Identity) {
		var ids [2]answer.Identity
		for i := range rules {
			ids[i] = sign(rules[i])
			s := signed[i][ids[i].Signature]
			if s == nil {
				s = &answer.SignedCrashes{Identity: ids[i]}
				signed[i][ids[i].Signature] = s
			}
			s.Dumps++
		}
		links[[2]string{ids[0].Signature, ids[1].Signature}]++
		if ids[0].Signature != ids[1].Signature {
			out.Changed++
		}
	}
	err := f.crashes(ctx, func(rec *signature.Record) {
		out.Dumps++
		note(rec.Sign)
	})
	if err == nil {
		err = f.findings(ctx, func(kind answer.FindingKind, sites []answer.Site) {
			out.Findings++
			note(func(r *signature.Rules) answer.Identity { return signature.Finding(kind, sites, r) })
		})
	}
	if err != nil {
		return nil, err
	}
	out.Before, out.After = len(signed[0]), len(signed[1])
	out.Merged = changes(signed, links, 1)
	out.Split = changes(signed, links, 0)
	return out, nil
}

// changes returns the signatures on one side (0 is before, 1 is after) that match several on the other.
func changes(signed [2]map[string]*answer.SignedCrashes, links map[[2]string]int, side int) []answer.RulesChange {
	others := map[string][]answer.SignedCrashes{}
	for link, n := range links {
		other := *signed[1-side][link[1-side]]
		other.Dumps = n
		others[link[side]] = append(others[link[side]], other)
	}
	out := []answer.RulesChange{}
	for _, sig := range slices.Sorted(maps.Keys(others)) {
		list := others[sig]
		if len(list) < 2 {
			continue
		}
		slices.SortStableFunc(list, func(a, b answer.SignedCrashes) int {
			return cmp.Or(cmp.Compare(b.Dumps, a.Dumps), cmp.Compare(a.Signature, b.Signature))
		})
		out = append(out, answer.RulesChange{One: *signed[side][sig], Several: list})
	}
	slices.SortStableFunc(out, func(a, b answer.RulesChange) int { return cmp.Compare(b.One.Dumps, a.One.Dumps) })
	return out
}

// crashes calls use with the record of each crash.
func (f *Fleet) crashes(ctx context.Context, use func(*signature.Record)) error {
	var rec *signature.Record
	last := ""
	end := func() {
		if rec != nil {
			use(rec)
		}
		rec = nil
	}
	return f.eachRow(ctx, "crash", []string{"dump_id", "role", "text", "module", "build"}, []string{"offset"}, func(text []string, numbers []uint64) {
		if rec == nil || text[0] != last {
			end()
			rec, last = &signature.Record{Sound: true}, text[0]
		}
		rec.Add(signature.Row{Role: text[1], Text: text[2], Place: signature.Place{Module: text[3], Build: text[4], Offset: numbers[0]}})
	}, end)
}

// findings calls use with the kind and the sites of each finding with sites.
func (f *Fleet) findings(ctx context.Context, use func(kind answer.FindingKind, sites []answer.Site)) error {
	var sites []answer.Site
	var dump, kind string
	var at uint64
	end := func() {
		if len(sites) > 0 {
			use(answer.FindingKind(kind), sites)
		}
		sites = nil
	}
	return f.eachRow(ctx, "sites", []string{"dump_id", "kind", "method", "does", "failed"}, []string{"finding", "count"}, func(text []string, numbers []uint64) {
		if text[0] != dump || numbers[0] != at {
			end()
		}
		dump, kind, at = text[0], text[1], numbers[0]
		sites = append(sites, signature.SiteRow{Method: text[2], Does: text[3], Failed: text[4], Count: numbers[1]}.Site())
	}, end)
}

// eachRow calls row with the columns of each row of a table in all parts, and end after each part. A part
// without the table has no rows.
func (f *Fleet) eachRow(ctx context.Context, table string, texts, numbers []string, row func([]string, []uint64), end func()) error {
	paths, err := filepath.Glob(filepath.Join(f.dir, datePrefix+"*", partPrefix+"*", table+".parquet"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err := eachGroup(path, func(columns []parquetfile.Column, rows int, values []parquetfile.Values) error {
			var at []*parquetfile.Values
			for i, name := range slices.Concat(texts, numbers) {
				k := slices.IndexFunc(columns, func(c parquetfile.Column) bool {
					return c.Name == name && (c.Type == parquetfile.Text) == (i < len(texts))
				})
				if k < 0 {
					return target.NoSuchf("there is no column %q", name)
				}
				at = append(at, &values[k])
			}
			text, number := make([]string, len(texts)), make([]uint64, len(numbers))
			for r := range rows {
				for i := range text {
					text[i] = string(at[i].At(r))
				}
				for i := range number {
					number[i] = at[len(texts)+i].Numbers[r]
				}
				row(text, number)
			}
			return nil
		})
		if err != nil {
			return err
		}
		end()
	}
	return nil
}
