package objecttext

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/report"
)

// Unreachable is the text of notreachableinrange.
func Unreachable(p *report.Page, u *answer.Unreachable, o ListingOptions) {
	if p.SOS {
		sosUnreachable(p, u, o)
		return
	}
	Listing(p, &u.Listing, o)
	if !o.Short && len(u.Others) > 0 {
		p.Printf("%s of the %s words are no addresses of objects\n", report.Commas(uint64(len(u.Others))), report.Commas(u.Words))
	}
}

// sosUnreachable is the form of SOS: among the objects, where they stand in the range, are the words that are no addresses of
// objects, each with a warning. The statistics are of objects alone.
func sosUnreachable(p *report.Page, u *answer.Unreachable, o ListingOptions) {
	t := objectTable(p)
	others, begun := u.Others, false
	row := func(a uint64, cells ...any) {
		switch {
		case o.Short:
			p.Printf("%012x\n", a)
		default:
			if !begun {
				p.Fail(t.Header())
			}
			p.Fail(t.Row(append([]any{a}, cells...)...))
		}
		begun = true
	}
	words := func(before int) {
		for ; len(others) > 0 && others[0].After <= before; others = others[1:] {
			v := uint64(others[0].Value)
			p.Printf("Warning: %x is not a valid object\n", v)
			row(v, "", "", "")
		}
	}
	i := 0
	for object, err := range u.Objects.All() {
		if err != nil {
			p.Fail(err)
			return
		}
		words(i)
		row(uint64(object.Address), uint64(object.MethodTable), object.Size, note(&object))
		i++
	}
	words(i)
	if u.Statistics != nil && !o.Short {
		statistics(p, u.Statistics, begun)
	}
}
