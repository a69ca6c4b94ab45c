package objecttext

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/report"
)

// Unreachable is the text of notreachableinrange.
func Unreachable(p *report.Page, u *answer.Unreachable, o ListingOptions) {
	if p.SOS {
		for i := range u.Others {
			p.Printf("Warning: %x is not a valid object\n", uint64(u.Others[i].Value))
		}
	}
	Listing(p, &u.Listing, o)
	if !p.SOS && !o.Short && len(u.Others) > 0 {
		p.Printf("%s of the %s words are no addresses of objects\n", report.Commas(uint64(len(u.Others))), report.Commas(u.Words))
	}
}
