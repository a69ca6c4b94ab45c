package threadtext

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// TestMaskedBeforeCut: the first characters of a secret that a line of references cuts are not shown.
func TestMaskedBeforeCut(t *testing.T) {
	const secret = "NakztCHkqccShApHGcPDwRMZgKnHBQandmuchmorebehindit"
	root := &answer.Root{Object: 0x1000, Value: answer.QuotedText{Text: answer.Text{S: "x " + secret}, Present: true}}
	page := report.NewPage(io.Discard, false, nil).Masking(func(text string) string { return strings.ReplaceAll(text, secret, "<hidden>") })
	assert.NotContains(t, referenceLine(page, root), "Nakzt")
	assert.Contains(t, referenceLine(report.NewPage(io.Discard, false, nil), root), "NakztCHkqccShApHGcPDwRMZg")
}
