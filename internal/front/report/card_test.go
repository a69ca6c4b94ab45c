package report_test

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

func card(t *testing.T, v any) string {
	t.Helper()
	var b strings.Builder
	report.Card(report.NewPage(&b, false, func(error) {}), v)
	return b.String()
}

func TestCard(t *testing.T) {
	since := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	a := &answer.Redis{Multiplexers: []answer.RedisMultiplexer{{
		Address: 0x7f7d8d80be00, SyncTimeouts: answer.Known[int64](4000), AsyncTimeouts: answer.Of(int64(0), target.ErrCorrupt), Disposed: answer.Known(false),
		Connections: []answer.RedisConnection{{
			Address: 0x7f7d8d80be28, Name: answer.Text{S: "gone\x1b:6379"}, State: answer.Text{Err: target.ErrNotInDump},
			Backlog: answer.RedisQueue{Count: answer.Known[int64](3), First: 0x7f7d8d80c1e0, Since: &since}, Sent: answer.RedisQueue{Count: answer.Known[int64](0)},
		}},
	}}, Verdicts: []answer.Verdict{{Statement: answer.Statement{Text: "3 commands wait"}, Strength: answer.StrengthRecorded, Evidence: []string{"the backlog"}}}}
	assert.Equal(t, `3 commands wait [recorded]
  - the backlog
7f7d8d80be00 ConnectionMultiplexer: synchronous timeouts so far 4,000, asynchronous timeouts so far <corrupt>
  7f7d8d80be28 gone\x1b:6379 <not in dump>: to be sent 3 (first 7f7d8d80c1e0, since 2026-01-02 03:04:00 UTC), sent and unanswered 0
`, card(t, a))
}

// TestCardNone: an answer without rows says so, and whether some may be missing.
func TestCardNone(t *testing.T) {
	a := &answer.SignalR{}
	assert.Equal(t, "No SignalR hubs or circuits found.\n", card(t, a))
	a.Note(target.ErrNotInDump)
	assert.Equal(t, "Whether there are SignalR hubs or circuits is not known: some data could not be read.\n", card(t, a))
	assert.Empty(t, card(t, (*answer.SignalR)(nil)))
}

type tagged struct {
	Label   int64               `json:"label" text:"label"`
	Words   string              `json:"fewWords"`
	Form    int64               `json:"form" text:"% cat|% cats|no cat"`
	Flag    bool                `json:"flag,omitempty" text:"set|not set"`
	Unset   bool                `json:"unset,omitempty" text:"unset"`
	Empty   string              `json:"empty" text:"empty %|nothing"`
	Gone    answer.Maybe[int64] `json:"gone,omitzero" text:"% dog|% dogs"`
	Other   answer.Maybe[int64] `json:"other,omitzero"`
	Joined  string              `json:"joined,omitempty" text:"+ (%)"`
	Zero    int64               `json:"zero" text:"zero;nonzero"`
	Limit   int64               `json:"limit" text:"limit;limit"`
	ID      uint32              `json:"id" text:"id;plain"`
	AgeMs   int64               `json:"ageMs"`
	Head    string              `json:"head" text:"=[%]"`
	Hidden  string              `json:"hidden" text:"-"`
	Left    string              `json:"left,omitempty" text:"left;line"`
	Instead string              `json:"instead" text:"+, instead %"`
	Line    string              `json:"line" text:"line;line"`
	More    string              `json:"more" text:"+, more;line"`
	Names   []string            `json:"names" text:"names;row"`
	Lines   []string            `json:"lines" text:"each"`
}

// TestCardTags: each form and option of the tag text.
func TestCardTags(t *testing.T) {
	v := &struct {
		Tagged []tagged `json:"tagged"`
	}{[]tagged{
		{Label: 5, Words: "w", Form: 1, Flag: true, Unset: true, Empty: "e", Gone: answer.Known[int64](2), Other: answer.Known[int64](7), Joined: "j", Zero: 1, Limit: 3,
			ID: 12345, AgeMs: 1500, Head: "h", Hidden: "secret", Left: "l", Instead: "i", Line: "x", More: "y", Names: []string{"a", "b"}, Lines: []string{"c", "d"}},
		{Form: 2, Gone: answer.Missing[int64](target.ErrNotInDump), Other: answer.Missing[int64](target.ErrUnsupported), Joined: "k", Limit: math.MaxInt32, Instead: "i"},
	}}
	assert.Equal(t, `[h]: label 5, few words w, 1 cat, set, unset, empty e, 2 dogs, other 7 (j), zero 1, limit 3, id 12345, age 1.5 s, names a, b
  left l, instead i
  line x, more y
  each c
  each d

label 0, 2 cats, not set, nothing, <not in dump> dogs, (k), id 0, age 0 s
  left instead i
`, card(t, v))
}

// TestCardUnset: a value that nobody has set is unknown, and no zero, in a record and in a table.
func TestCardUnset(t *testing.T) {
	v := &struct {
		Free  answer.Maybe[int64] `json:"free"`
		Cells []cell              `json:"cells" text:"cells;table"`
	}{Cells: []cell{{Address: 0x10, Of: 1}}}
	got := card(t, v)
	assert.Contains(t, got, "free <unknown>")
	assert.Regexp(t, `10 +<unknown>`, got)
}

type titled struct {
	Number int `json:"number" text:"-"`
	Even   int `json:"even" text:"even"`
}

// Omits leaves out what is odd.
func (t *titled) Omits(field string) bool { return field == "even" && t.Number%2 > 0 }

// Title returns a name for the record.
func (t *titled) Title() string { return "No. " + strings.Repeat("I", t.Number) }

// Hidden hides zeros.
func (t *titled) Hidden() string {
	if t.Number == 0 {
		return "without a number"
	}
	return ""
}

type cell struct {
	Address target.Addr         `json:"address"`
	Type    string              `json:"type" text:"=|null"`
	Of      int64               `json:"of" text:"+ of %"`
	Count   answer.Maybe[int64] `json:"count"`
	Never   string              `json:"never"`
}

// TestCardLists: titles, records that are only counted, lists that end early, headings, tables and footers.
func TestCardLists(t *testing.T) {
	v := &struct {
		Titled []titled `json:"titled" text:"parts;first 2;count"`
		Other  []titled `json:"other" text:"Others:;heading"`
		Cells  []cell   `json:"cells" text:"cells;table"`
		Row    []titled `json:"row" text:"row;row"`
	}{
		[]titled{{1, 0}, {0, 0}, {2, 7}, {3, 0}, {0, 0}}, []titled{{1, 0}},
		[]cell{{0x10, "界", 4, answer.Known[int64](1000), ""}, {0x7f7d8d80be28, "", 5, answer.Missing[int64](target.ErrCorrupt), ""}}, []titled{{5, 0}, {5, 0}},
	}
	assert.Equal(t, `row No. IIIII, No. IIIII
part No. I
part No. II: even 7
1 more; --json lists them
2 parts without a number
3 parts
Others:
  No. I
     Address      Count  Type
000000000010      1,000  界 of 4
7f7d8d80be28  <corrupt>  null of 5
`, card(t, v))
}

// TestTextTags: the tags of package answer have no options but those that a card knows.
func TestTextTags(t *testing.T) {
	known := []string{"line", "nonzero", "zero", "size", "limit", "plain", "cut", "row", "table", "heading", "first", "count", "elapsed"}
	files, err := filepath.Glob("../../../answer/*.go")
	require.NoError(t, err)
	found := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(` text:"([^"]*)"`).FindAllStringSubmatch(string(source), -1) {
			found++
			for _, option := range strings.Split(m[1], ";")[1:] {
				name, _, _ := strings.Cut(option, " ")
				assert.True(t, slices.Contains(known, name), "%s: %s: a card has no option %q", file, m[1], option)
			}
		}
	}
	assert.Greater(t, found, 100)
}
