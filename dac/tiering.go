package dac

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// DescribeTiers counts the code compiled in the process by its tier, and lists the methods with IL replaced by
// a profiler. It notes unreadable parts. The error is ctx's.
func (r *CodeReader) DescribeTiers(ctx context.Context) (*answer.Tiers, error) {
	out := &answer.Tiers{Tiers: []answer.TierCount{}, Replaced: []answer.ReplacedMethod{}, Versions: []answer.ILVersion{}}
	rows := map[Tier]*answer.TierCount{}
	versions := map[*MethodDesc][]CodeVersion{}
	for info, err := range r.JITCode() {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil || info.Method == nil {
			out.Note(err)
			continue
		}
		list, seen := versions[info.Method]
		if !seen {
			list, err = r.CodeVersions(info.Method)
			out.Note(err)
			versions[info.Method] = list
			r.replaced(out, info.Method, list)
		}
		v := CodeVersion{} // for a body that is not in any version
		for i := range list {
			if list[i].Code == info.Start {
				v = list[i]
			}
		}
		out.Note(v.TierErr)
		row := rows[v.Tier]
		if row == nil {
			row = &answer.TierCount{Tier: v.Tier.String()}
			rows[v.Tier] = row
		}
		row.Bodies++
		row.Bytes += info.Size
		if v.Active {
			row.Active++
			switch v.Tier {
			case TierQuickJitted, TierQuickJittedInstrumented:
				out.Waiting++
			case TierUnknown:
				out.Unknown++
			}
		}
	}
	r.describeILVersions(ctx, out)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	out.Methods = int64(len(versions))
	for t := range TierOptimizedTier1Instrumented + 1 {
		if row := rows[t]; row != nil {
			out.Tiers = append(out.Tiers, *row)
		}
	}
	return out, nil
}

// replaced lists m if it has code of IL that a profiler supplied.
func (r *CodeReader) replaced(out *answer.Tiers, m *MethodDesc, list []CodeVersion) {
	for i := range list {
		v := &list[i]
		if v.ReJITErr != nil {
			out.Note(v.ReJITErr)
			continue
		}
		if v.ReJIT == 0 {
			continue
		}
		if len(out.Replaced) == limits.ReplacedMethods {
			out.Note(target.Unsupportedf("more than %d bodies have IL of a profiler: the others are not listed", limits.ReplacedMethods))
			return
		}
		name, err := r.MethodName(m, MethodFull)
		out.Replaced = append(out.Replaced, answer.ReplacedMethod{Method: m.Addr, Name: out.Text(name, err), ReJIT: v.ReJIT, Code: v.Code, Active: v.Active})
	}
}
