package threadtext

import (
	"errors"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/export/stackexport"
	"github.com/sosgo/sosgo/internal/front/report"
)

// ProfileOptions choose the form of a profile.
type ProfileOptions struct {
	Form      string // "folded" or empty, "speedscope", "pprof", "json"
	Title     string // of a form that has one
	PerThread bool   // folded: begin each stack with its thread
}

// Profile writes the stacks of a process in the form of another tool.
func Profile(p *report.Page, v *answer.Profile, o ProfileOptions) {
	switch o.Form {
	case "speedscope":
		p.Fail(stackexport.Speedscope(p, v, o.Title))
	case "pprof":
		p.Fail(stackexport.Pprof(p, v))
	case "json":
		e := report.NewJSONEncoder(p, "stacks")
		p.Fail(errors.Join(e.Answer(v, p.Warn), e.Close(nil, nil)))
	default:
		p.Fail(stackexport.Folded(p, v, stackexport.FoldedOptions{PerThread: o.PerThread}))
	}
}

// ProfileFile writes the name of a profile's file.
func ProfileFile(p *report.Page, v *answer.Profile) {
	p.Printf("%s: the stacks of %d threads\n", report.Escape(v.File), len(v.Threads))
}
