package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRawLines: the argument of a Raw command is what stands on the line, and only the names of filters begin filters.
func TestRawLines(t *testing.T) {
	a := &app{table: newTable([]Command{
		declares[struct {
			Rows     int      `opt:"rows"`
			Verbose  bool     `opt:"v"`
			Question []string `arg:"question"`
		}](Command{Name: "ask", Raw: true}),
		declares[fakeWord](Command{Name: "other"}),
	})}
	for text, want := range map[string][]string{
		`ask from x | where a > 1 | top 3`:      {"ask", `from x | where a > 1 | top 3`},
		`ask -rows 3 -v a || b | grep x`:        {"ask", "-rows", "3", "-v", "a || b"},
		`ask "a".Length > 2`:                    {"ask", `"a".Length > 2`},
		`ask -5 + 3`:                            {"ask", "-5 + 3"},
		`ask a == "x | grep y" | count`:         {"ask", `a == "x | grep y"`},
		`ask -- -v`:                             {"ask", "-v"},
		`ask`:                                   {"ask"},
		`ask $_.x | head -n 3 | sort > out.txt`: {"ask", "$_.x"},
	} {
		l, raw, err := a.rawLine(text)
		require.NoError(t, err, text)
		assert.True(t, raw, text)
		var got []string
		for _, w := range l.command {
			got = append(got, w.text)
		}
		assert.Equal(t, want, got, text)
	}
	l, _, err := a.rawLine("ask x | head -n 3 | sort > out.txt")
	require.NoError(t, err)
	assert.Len(t, l.filters, 2)
	assert.Equal(t, "out.txt", l.file)
	for _, text := range []string{`ask 'from x | top 3' > out`, `ask "from x | top 3" | grep a`, `other x | where`, `nosuch`} {
		_, raw, err := a.rawLine(text)
		require.NoError(t, err, text)
		assert.False(t, raw, text)
	}
	_, _, err = a.rawLine("ask -rows")
	assert.NoError(t, err) // missing arguments are reported when the options are read
}
