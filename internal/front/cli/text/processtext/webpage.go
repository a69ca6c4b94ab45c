package processtext

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// WebPage reports that the page has ended.
func WebPage(p *report.Page, w *answer.WebPage) {
	p.Printf("The page at %s has ended.\n", report.Escape(w.URL))
}

// HTMLReport names the file that was written.
func HTMLReport(p *report.Page, r *answer.HTMLReport) {
	p.Printf("%s: %d bytes. It contains names, texts and values of the process.\n", report.Escape(r.File), r.Size)
}
