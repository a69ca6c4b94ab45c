package memorytext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// TestWithoutARoot: that no root leads to an object makes it garbage where all roots are read, and it is not frozen.
func TestWithoutARoot(t *testing.T) {
	for _, c := range []struct {
		generation string
		incomplete bool
		garbage    bool
		want       string
	}{
		{"2", false, true, "It is garbage."},
		{"2", true, false, "No readable root leads to it."},
		{"frozen", false, false, "it is frozen: never collected."},
		{"frozen", true, false, "it is frozen: never collected."},
	} {
		object := answer.PathObject{Address: 0x1000, Generation: c.generation, Type: answer.Text{S: "A"}}
		for name, write := range map[string]func(*report.Page){
			"retained": func(p *report.Page) {
				retainedObject(p, &answer.RetainedObject{Object: object, Count: 1, Retained: 24}, c.incomplete)
			},
			"dominators": func(p *report.Page) {
				owned(p, &answer.Owned{Object: object, Retained: 24}, c.incomplete)
			},
		} {
			var b strings.Builder
			write(report.NewPage(&b, false, func(error) {}))
			assert.Contains(t, b.String(), c.want, name)
			assert.Equal(t, c.garbage, strings.Contains(b.String(), "It is garbage"), name)
		}
	}
}
