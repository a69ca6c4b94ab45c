package objecttext

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/report"
)

// Closure is the text of objsize.
func Closure(p *report.Page, x *answer.Closure, o ListingOptions) {
	if p.SOS || !o.Short {
		p.Printf("Objects which %s transitively keep alive:\n\n", closureOf(p, x))
	}
	Listing(p, &x.Listing, o)
	if x.Retained != nil && !p.SOS && !o.Short {
		p.Printf("%s bytes of them would be free without it\n", report.Commas(*x.Retained))
	}
}

// closureOf returns the object, or the type, in words.
func closureOf(p *report.Page, x *answer.Closure) string {
	switch {
	case x.Object != nil:
		return fmt.Sprintf("%x (%s)", uint64(x.Object.Address), typeName(p, x.Object.Type, x.Object.MethodTable))
	case p.SOS:
		return fmt.Sprintf("(%s)", report.Escape(x.Of.Type.String()))
	}
	return fmt.Sprintf("the %s objects of %s", report.Commas(x.Of.Count), report.Escape(x.Of.Type.String()))
}
