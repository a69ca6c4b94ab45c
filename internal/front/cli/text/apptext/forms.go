package apptext

import (
	"reflect"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// Card writes an answer as records. Of async code it writes the methods of the program.
func Card[T any](p *report.Page, v T) { card(p, v, false) }

// CardWith writes an answer as records, with all frames of async code if the options want them.
func CardWith[T any, O interface{ Frames() bool }](p *report.Page, v T, o O) { card(p, v, o.Frames()) }

func card(p *report.Page, v any, frames bool) {
	report.Forms{
		reflect.TypeFor[answer.AsyncWork](): func(v any) []report.Line {
			w := v.(answer.AsyncWork)
			return stack(&w, frames)
		},
		reflect.TypeFor[answer.AsyncFrame](): func(v any) []report.Line {
			f := v.(answer.AsyncFrame)
			return []report.Line{{Label: "async", Text: frame(&f, f.Method.IsZero())}}
		},
		reflect.TypeFor[[]answer.Worker](): func(v any) []report.Line {
			var lines []report.Line
			for _, t := range v.([]answer.Worker) {
				lines = append(lines, report.Line{Label: "thread", Text: thread(&t)})
			}
			return lines
		},
	}.Card(p, v)
}
