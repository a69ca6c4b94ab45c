package typetext

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/text"
	"github.com/sosgo/sosgo/report"
)

// LoadContext is the text of dumpalc.
func LoadContext(p *report.Page, o *answer.Object) { text.Object(p, o) }

// NoLoadContext is the text of dumpalc for a type of the default load context,
// which managed code has not asked for.
func NoLoadContext(p *report.Page) {
	p.Print("Name:        System.Runtime.Loader.DefaultAssemblyLoadContext\nThe managed instance of this context doesn't exist yet\n")
}

// InvalidObject says, in SOS's form, that there is no object.
func InvalidObject(p *report.Page, err error) { text.InvalidObject(p, err) }
