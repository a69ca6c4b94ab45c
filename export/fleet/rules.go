package fleet

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/export/internal/parquetfile"
	"github.com/sosgo/sosgo/internal/signature"
	"github.com/sosgo/sosgo/internal/sorting"
	"github.com/sosgo/sosgo/target"
)

// TryRules signs all crashes of the fleet by two texts of rules, and reports which signatures merge and split. An empty text stands for the default rules.
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
	err := f.crashes(ctx, func(rec *signature.Record) {
		out.Dumps++
		var ids [2]answer.Identity
		for i := range rules {
			ids[i] = rec.Sign(rules[i])
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
	})
	if err != nil {
		return nil, err
	}
	out.Before, out.After = len(signed[0]), len(signed[1])
	out.Merged = changes(signed, links, 1)
	out.Split = changes(signed, links, 0)
	return out, nil
}

// changes returns the signatures on one side (0 is before, 1 is after) that stand for several on the other.
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
		sorting.Sort(list, func(a, b answer.SignedCrashes) int {
			return cmp.Or(cmp.Compare(b.Dumps, a.Dumps), cmp.Compare(a.Signature, b.Signature))
		})
		out = append(out, answer.RulesChange{One: *signed[side][sig], Several: list})
	}
	sorting.Stable(out, func(a, b answer.RulesChange) int { return cmp.Compare(b.One.Dumps, a.One.Dumps) })
	return out
}

// crashes calls use with the record of each crash.
func (f *Fleet) crashes(ctx context.Context, use func(*signature.Record)) error {
	paths, err := filepath.Glob(filepath.Join(f.dir, datePrefix+"*", partPrefix+"*", "crash.parquet"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var rec *signature.Record
		last := ""
		err := eachGroup(path, func(columns []parquetfile.Column, rows int, values []parquetfile.Values) error {
			var at [6]*parquetfile.Values
			for i, name := range [...]string{"dump_id", "role", "text", "module", "build", "offset"} {
				k := slices.IndexFunc(columns, func(c parquetfile.Column) bool {
					return c.Name == name && (c.Type == parquetfile.Text) == (name != "offset")
				})
				if k < 0 {
					return target.Unsupportedf("there is no column %q", name)
				}
				at[i] = &values[k]
			}
			text := func(i, r int) string { return string(at[i].At(r)) }
			for r := range rows {
				if id := text(0, r); rec == nil || id != last {
					if rec != nil {
						use(rec)
					}
					rec, last = &signature.Record{Sound: true}, id
				}
				rec.Add(signature.Row{Role: text(1, r), Text: text(2, r), Place: signature.Place{Module: text(3, r), Build: text(4, r), Offset: at[5].Numbers[r]}})
			}
			return nil
		})
		if err != nil {
			return err
		}
		if rec != nil {
			use(rec)
		}
	}
	return nil
}
