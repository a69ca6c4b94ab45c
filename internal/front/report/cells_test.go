package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/front/report"
)

// masked returns what write writes on a page that masks secrets.
func masked(t *testing.T, write func(p *report.Page)) string {
	t.Helper()
	m := secrets.NewMasker()
	m.Learn("password=hunter22")
	var out bytes.Buffer
	w := secrets.NewCellWriter(m.Cells(), &out)
	p := report.NewPage(w, false, func(error) {}).Masking(m.Text)
	write(p)
	assert.NoError(t, p.Err())
	assert.NoError(t, w.Close())
	return out.String()
}

// A cellRow is a row of a card.
type cellRow struct {
	Address answerHex `json:"address" text:"head"`
	Text    string    `json:"text" text:"text"`
	Type    string    `json:"type" text:"type"`
}

type answerHex string

func (h answerHex) String() string { return string(h) }

// TestCellsAreMaskedAlone: a text of the process that ends where a secret begins takes nothing of its line with it, wherever lines are laid out.
// What is masked keeps its column.
func TestCellsAreMaskedAlone(t *testing.T) {
	columns := []report.Column{{Name: "MT", Kind: report.Pointer}, {Name: "Text", Kind: report.Text, Width: 20}, {Name: "Type", Kind: report.TypeName}}
	table := func(p *report.Page, columns []report.Column, rows [][]string) {
		out := p.Table(columns...)
		for _, r := range rows {
			assert.NoError(t, out.Row(0x7f, r[0], r[1]))
		}
		assert.NoError(t, out.Flush())
	}
	fitted := append([]report.Column(nil), columns...)
	fitted[1] = report.Column{Name: "Text", Kind: report.Text, Fit: true}
	for name, write := range map[string]func(p *report.Page, rows [][]string){
		"table":  func(p *report.Page, rows [][]string) { table(p, columns, rows) },
		"fitted": func(p *report.Page, rows [][]string) { table(p, fitted, rows) },
		"summary": func(p *report.Page, rows [][]string) {
			assert.NoError(t, report.Summary(p, []string{"Text", "Type"}, rows))
		},
		"printf": func(p *report.Page, rows [][]string) {
			for _, r := range rows {
				p.Printf("%-20s %s\n", report.Escape(r[0]), report.Escape(r[1]))
			}
		},
		"card": func(p *report.Page, rows [][]string) {
			var list struct {
				Rows []cellRow `json:"rows" text:"row;table"`
			}
			for _, r := range rows {
				list.Rows = append(list.Rows, cellRow{"7f", r[0], r[1]})
			}
			report.Card(p, &list)
		},
		"line of a card": func(p *report.Page, rows [][]string) {
			for _, r := range rows {
				report.Card(p, &cellRow{"7f", r[0], r[1]})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, fragment := range []string{`password="`, `<add key="Password" value="`, "password='", "IDENTIFIED BY '", `--password "`, `ConvertTo-SecureString '`} {
				got := masked(t, func(p *report.Page) {
					write(p, [][]string{{fragment, `Shop.Cart "a", 'b'`}, {"x", "Shop.Basket"}, {"my hunter22", `Shop.Order`}})
				})
				assert.Contains(t, got, `Shop.Cart "a", 'b'`, "%s: %s", fragment, got)
				assert.NotContains(t, got, "hunter22", got)
				assert.NotContains(t, got, "\x1e")
				if name != "line of a card" {
					lines := strings.Split(strings.TrimSpace(got), "\n")
					n := len(lines)
					assert.Equal(t, strings.Index(lines[n-2], "Shop.Basket"), strings.Index(lines[n-1], "Shop.Order"), "the mask is laid out:\n%s", got)
				}
			}
			if name != "line of a card" {
				got := masked(t, func(p *report.Page) { write(p, [][]string{{"Password:", "tiger-99"}}) })
				assert.NotContains(t, got, "tiger-99", "a name in one cell, its value in the next")
			}
			got := masked(t, func(p *report.Page) { write(p, [][]string{{"a\x1eb\x1e", "c\x1b[1m"}}) })
			assert.Contains(t, got, `a\x1eb\x1e`)
			assert.Contains(t, got, `c\x1b[1m`)
		})
	}
}
