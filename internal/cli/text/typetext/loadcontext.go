package typetext

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli/text"
	"github.com/sosgo/sosgo/internal/report"
)

// LoadContext is the text of dumpalc.
func LoadContext(p *report.Page, l *answer.LoadContext) {
	if l.Object == nil {
		p.Print("Name:        System.Runtime.Loader.DefaultAssemblyLoadContext\nThe managed instance of this context doesn't exist yet\n")
		return
	}
	text.Object(p, l.Object)
}

// InvalidObject says, in SOS's form, that there is no object.
func InvalidObject(p *report.Page, err error) { text.InvalidObject(p, err) }
