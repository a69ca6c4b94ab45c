package threadtext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

// TestMethodWithoutName: where the name lacks, the MethodDesc stands, to go on with;
// SOS's form stays.
func TestMethodWithoutName(t *testing.T) {
	write := func(sos bool, f *answer.Frame) string {
		return page(sos, func(p *report.Page) {
			w := frameWriter{p: p}
			var b strings.Builder
			w.method(&b, f)
			p.Print(b.String())
		})
	}
	f := &answer.Frame{Method: answer.Text{Err: target.ErrNotInDump}, MethodDesc: 0x7f0012345678}
	assert.Equal(t, "<not in dump> (MethodDesc 00007f0012345678)", write(false, f))
	assert.Equal(t, "<not in dump>", write(true, f))
	f.MethodDesc = 0
	assert.Equal(t, "<not in dump>", write(false, f))
	assert.Equal(t, "A.B()", write(false, &answer.Frame{Method: answer.Text{S: "A.B()"}, MethodDesc: 0x10}))
}
