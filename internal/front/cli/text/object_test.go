package text

import (
	"bytes"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

func written(sos bool, f func(*report.Page)) string {
	var b bytes.Buffer
	f(report.NewPage(&b, sos, func(error) {}))
	return b.String()
}

func TestSOSFloat(t *testing.T) {
	for _, c := range []struct {
		f    float64
		want string
	}{
		{0, "0.000000"},
		{math.Copysign(0, -1), "-0.000000"},
		{math.Pi, "3.141593"},
		{float64(float32(0.72)), "0.720000"},
		{1e20, "100000000000000000000.000000"},
		{math.Inf(1), "inf"},
		{math.Inf(-1), "-inf"},
		{math.NaN(), "nan"},
		{math.Copysign(math.NaN(), -1), "-nan"},
	} {
		assert.Equal(t, c.want, SOSFloat(c.f))
	}
}

// TestPieces holds the two ways of setting in against each other: SOS's, which
// starts each piece with the indent, and that by line.
func TestPieces(t *testing.T) {
	for exact, want := range map[bool]string{false: "    a b\n    c\n", true: "    a     b\n    c\n"} {
		assert.Equal(t, want, written(exact, func(p *report.Page) {
			out := newPieces(p, 4)
			out.print("a ")
			out.print("b\n")
			out.print("c\n")
		}))
	}
	assert.Equal(t, "Name:        a\\x1b[31m\n", written(false, func(p *report.Page) {
		newPieces(p, 0).label("Name", "a\x1b[31m")
	}))
}

// TestPlaceText: a static without a value shows what its memory holds so far,
// and what is missing is never a zero.
func TestPlaceText(t *testing.T) {
	five := answer.Stored{Value: answer.Value{Kind: answer.KindInt, Size: 4, Bits: 5}}
	zero := answer.Stored{Value: answer.Value{Kind: answer.KindInt, Size: 4}}
	yet := answer.Stored{Missing: answer.Reason{Err: answer.ErrNotInitialised}}
	failed := answer.Stored{Missing: answer.Reason{Err: answer.ErrInitializerFailed}}
	gone := answer.Stored{Missing: answer.Reason{Err: target.ErrNotInDump}}
	at := target.Addr(0x10)
	for _, c := range []struct {
		place           answer.Place
		sos, text, note string
	}{
		{answer.Place{Address: &at, Stored: five}, "5", "5", ""},
		{answer.Place{Stored: gone}, "<not in dump>", "<not in dump>", ""},
		{answer.Place{Stored: yet}, noValue, noValue, "<not initialised>"},
		{answer.Place{Stored: yet, SoFar: &zero}, "0", noValue, "<not initialised>"},
		{answer.Place{Stored: failed, SoFar: &five}, "5", "5", "<initializer failed>"},
		{answer.Place{Stored: yet, SoFar: &five}, "5", "5", "<not initialised>"},
		{answer.Place{Stored: yet, SoFar: &gone}, "<not in dump>", "<not in dump>", ""},
		{answer.Place{Address: &at, Stored: five, Doubtful: true}, "5", "5", "<perhaps not initialised>"},
	} {
		text, note := PlaceText(true, &c.place)
		assert.Equal(t, c.sos, text)
		assert.Empty(t, note, "SOS has no notes")
		text, note = PlaceText(false, &c.place)
		assert.Equal(t, c.text, text)
		assert.Equal(t, c.note, note)
	}
}

// TestStringLine cuts a long string where a person reads it, and does not fail
// for a hole behind the cut.
func TestStringLine(t *testing.T) {
	long := string(bytes.Repeat([]byte("a"), 5000))
	n := uint32(5000)
	shown := "String:      " + long[:personChars] + "… (5000 characters: dumpstring prints all)\n"
	lines := func(sos bool, o *answer.Object) string {
		return written(sos, func(p *report.Page) { stringLine(newPieces(p, 0), o) })
	}
	whole := &answer.Object{String: &long, Length: &n}
	assert.Equal(t, shown, lines(false, whole))
	assert.Equal(t, "String:      "+long+"\n", lines(true, whole))
	broken := &answer.Object{StringStart: long[:4500], StringErr: target.ErrNotInDump, Length: &n}
	assert.Equal(t, shown, lines(false, broken))
	assert.Equal(t, "String:      <not in dump>\n", lines(true, broken))
	huge := uint32(0x300000)
	assert.Contains(t, lines(true, &answer.Object{String: &long, Length: &huge}), "too large to print")
	assert.Empty(t, lines(false, &answer.Object{}))
}

// TestQuoteIsSafe checks that a quoted name needs no further escapes, and that renderers quote with answer.Quote: strconv.Quote and %q leave
// fillers and variation selectors as they are.
func TestQuoteIsSafe(t *testing.T) {
	for r := range rune(unicode.MaxRune + 1) {
		if q := answer.Quote("a" + string(r) + "b"); report.Escape(q) != q {
			t.Fatalf("%U is shown: %q", r, q)
		}
	}
	q := answer.Quote("\xff\xed\xa0\x80")
	assert.Equal(t, q, report.Escape(q))
	other := regexp.MustCompile(`strconv\.(?:Append)?Quote\w*\(|"[^"\n]*%q`)
	files := 0
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		assert.NotRegexp(t, other, string(b), path)
		return err
	}))
	assert.Greater(t, files, 50)
}
