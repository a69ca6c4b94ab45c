package report

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// cardTime is the layout of times.
const cardTime = "2006-01-02 15:04:05.999 MST"

// A Line is a line of a record below its first one.
type Line struct{ Label, Text string }

// A Form returns the lines of a value, instead of those from its tags.
type Form func(v any) []Line

// Forms maps types to their forms.
type Forms map[reflect.Type]Form

// Card writes an answer as records: a line for each struct, with its lists below. The json and text tags of the
// fields determine the words; CONTRIBUTING.md describes the tag text.
func Card[T any](p *Page, v T) { Forms(nil).Card(p, v) }

// Card is like the function Card, with forms for some types.
func (f Forms) Card(p *Page, v any) {
	rv := reflect.Indirect(reflect.ValueOf(v))
	if !rv.IsValid() {
		return // nil
	}
	if !rv.CanAddr() { // makes pointer methods available
		at := reflect.New(rv.Type()).Elem()
		at.Set(rv)
		rv = at
	}
	c := &cards{p: p, forms: f, tags: map[*jsonenc.Field]*cardTag{}}
	r := c.read(jsonenc.PlanOf(rv.Type()).Core(), rv)
	w := cardWriter{p}
	w.root(r)
	if r.empty() {
		noted := 0
		if gaps := answer.GapsOf(v); gaps != nil {
			noted = len(gaps.Noted())
		}
		w.none(r.lists, noted)
	}
}

// cards reads an answer.
type cards struct {
	p     *Page
	forms Forms
	tags  map[*jsonenc.Field]*cardTag
}

// A record is the text of a struct.
type record struct {
	head  string
	parts []Line
	lines []Line
	lists []cardList

	several  int // maximum number of lists
	verdicts []answer.Verdict

	base  *cardTag     // of the last field that is not joined to the previous one
	joins func(string) // appends to that field's text; nil if it is empty
}

// A cardList is a list of records.
type cardList struct {
	*cardTag
	titled  bool // the tag names the list
	records []*record
	hidden  map[string]int
	table   []string // header and rows, instead of records
}

// empty reports whether an answer's record has lists and all are empty.
func (r *record) empty() bool {
	for i := range r.lists {
		if len(r.lists[i].records)+len(r.lists[i].table)+len(r.lists[i].hidden) > 0 {
			return false
		}
	}
	return len(r.lists) > 0 && len(r.verdicts) == 0
}

func (c *cards) tag(f *jsonenc.Field) *cardTag {
	t := c.tags[f]
	if t == nil {
		tag := cardTagOf(f)
		t = &tag
		c.tags[f] = t
	}
	return t
}

// read returns the record of a struct.
func (c *cards) read(plan *jsonenc.Plan, v reflect.Value) *record {
	r := &record{}
	if t, ok := v.Addr().Interface().(interface{ Title() string }); ok {
		r.head = c.p.Cell(Escape(t.Title()))
	}
	o, omits := v.Addr().Interface().(interface{ Omits(field string) bool })
	plan.Every(v, func(f *jsonenc.Field, v reflect.Value, omitted bool) {
		switch tag := c.tag(f); {
		case tag.place == placeNone:
		case omits && o.Omits(f.Name):
			r.begin(tag)
		default:
			c.field(r, f, tag, v, omitted)
		}
	})
	return r
}

// field adds a field to a record.
func (c *cards) field(r *record, f *jsonenc.Field, tag *cardTag, v reflect.Value, omitted bool) {
	r.begin(tag)
	v, missing := present(v)
	core := f.Plan.Core()
	switch {
	case missing != nil && errors.Is(missing, target.ErrUnsupported) && !errors.Is(missing, answer.ErrUnknown) && tag.place != placeHead:
	case missing != nil:
		r.add(tag, min(1, strings.Count(tag.forms[len(tag.forms)-1], "%")), answer.Absent(missing))
	case !v.IsValid():
		r.add(tag, 1, "")
	case c.forms[v.Type()] != nil:
		if f.Text != "" {
			r.lines = append(r.lines, Line{Text: tag.label()})
		}
		for _, l := range c.forms[v.Type()](v.Interface()) {
			r.lines = append(r.lines, Line{l.Label, c.p.Cell(Escape(l.Text))})
		}
	case v.Type() == reflect.TypeFor[[]answer.Verdict]():
		r.verdicts = v.Interface().([]answer.Verdict)
	case core.Kind() == jsonenc.List && core.Elem().Core().Kind() == jsonenc.Object:
		c.records(r, f, tag, v, omitted)
	case core.Kind() == jsonenc.List:
		c.texts(r, tag, f.Name, v)
	case core.Kind() == jsonenc.Object:
		c.inner(r, tag, c.read(core, v))
	default:
		if value, form := tag.leaf(c.p, f.Name, v); !tag.leavesOut(v) && (!omitted || form < len(tag.forms) || tag.has("zero")) {
			r.add(tag, form, value)
		}
	}
}

// leavesOut reports whether the tag omits a number.
func (t *cardTag) leavesOut(v reflect.Value) bool {
	switch {
	case len(t.forms) > 1 && t.forms[0] == "" && v.CanInt():
		return v.Int() == 1
	case t.has("nonzero"):
		return v.IsZero()
	case t.has("limit"):
		return v.CanInt() && (v.Int() <= 0 || v.Int() >= math.MaxInt32)
	}
	return false
}

// records adds a list of records, or with the option row a single line.
func (c *cards) records(r *record, f *jsonenc.Field, tag *cardTag, v reflect.Value, omitted bool) {
	r.several++
	if omitted {
		return
	}
	l := cardList{cardTag: tag, titled: f.Text != "", hidden: map[string]int{}}
	plan := f.Plan.Core().Elem().Core()
	if tag.has("table") {
		l.table = c.table(plan, v)
	} else {
		c.list(&l, plan, v)
	}
	if row := l.row(); row != "" {
		r.add(tag, 0, row)
		return
	}
	r.lists = append(r.lists, l)
}

// list reads the records of a list. It counts the records that text does not show, by reason.
func (c *cards) list(l *cardList, plan *jsonenc.Plan, v reflect.Value) {
	for i := range v.Len() {
		v, missing := present(v.Index(i))
		if missing != nil || !v.IsValid() {
			continue
		}
		if h, ok := v.Addr().Interface().(interface{ Hidden() string }); ok && h.Hidden() != "" {
			l.hidden[h.Hidden()]++
			continue
		}
		l.records = append(l.records, c.read(plan, v))
	}
}

// rowWidth is the maximum width of records on one line with the option row.
const rowWidth = 150

// row returns the records of a list with the option row, if they fit on a line.
func (l *cardList) row() string {
	if !l.has("row") {
		return ""
	}
	texts := make([]string, len(l.records))
	for i, r := range l.records {
		texts[i] = r.line()
	}
	if row := strings.Join(texts, ", "); len(texts) == 1 || CellWidth(row) <= rowWidth {
		return row
	}
	return ""
}

// inner adds the record of a nested struct. Lists on the same line are left out.
func (c *cards) inner(r *record, tag *cardTag, in *record) {
	text := joined(in.parts)
	if in.head != "" && text != "" || len(in.parts) > 1 {
		text = "(" + text + ")"
	}
	text = strings.TrimSpace(in.head + " " + text)
	if text != "" {
		r.add(tag, 0, text)
	}
	r.lines, r.lists, r.several = append(r.lines, in.lines...), append(r.lists, in.lists...), r.several+in.several
}

// texts adds a list of texts or numbers, on one line or on one line each.
func (c *cards) texts(r *record, tag *cardTag, name string, v reflect.Value) {
	var values []string
	for i := range v.Len() {
		if s, _ := tag.leaf(c.p, name, v.Index(i)); s != "" {
			values = append(values, s)
		}
	}
	if tag.has("row") && len(values) > 0 {
		r.add(tag, 0, strings.Join(values, ", "))
		return
	}
	for _, s := range values {
		label, text := tag.fill(0, s)
		r.lines = append(r.lines, Line{label, text})
	}
}

// begin records the tag of a field that is not joined to the previous one.
func (r *record) begin(tag *cardTag) {
	if tag.place != placeJoin {
		r.base, r.joins = tag, nil
	}
}

// add adds a value in one of the forms of its tag.
func (r *record) add(tag *cardTag, form int, value string) {
	switch label, text := tag.fill(form, value); {
	case text == "":
	case tag.place == placeJoin:
		r.join(strings.TrimPrefix(label+" "+text, " "))
	default:
		r.put(label, text)
	}
}

// join appends a text to the previous field, or replaces it if it is empty.
func (r *record) join(text string) {
	if r.joins != nil {
		r.joins(text)
		return
	}
	if r.base == nil {
		r.base = &cardTag{place: placeHead}
	}
	label := ""
	if r.base.has("line") && !strings.Contains(r.base.forms[0], "%") {
		label = r.base.forms[0]
	}
	r.put(label, strings.TrimLeft(text, " ,;:"))
}

// put puts a text at the place of base.
func (r *record) put(label, text string) {
	if r.base.place == placeHead {
		r.head = strings.TrimSpace(r.head + " " + strings.TrimSpace(label+" "+text))
		r.joins = func(more string) { r.head += more }
		return
	}
	at := &r.parts
	if r.base.has("line") {
		at = &r.lines
	}
	i := len(*at)
	*at = append(*at, Line{label, text})
	r.joins = func(more string) { (*at)[i].Text += more }
}

// present dereferences pointers and Maybes. It returns the error of a missing value, and an invalid value for nil.
func present(v reflect.Value) (reflect.Value, error) {
	for v.IsValid() {
		switch {
		case v.Type() == reflect.TypeFor[answer.Text]():
			if t := v.Interface().(answer.Text); t.Err != nil && t.Instead == "" {
				return reflect.Value{}, t.Err
			}
			return v, nil
		case v.Type() == reflect.TypeFor[answer.Reason]():
			return v, v.Interface().(answer.Reason).Err
		case v.Kind() == reflect.Pointer:
			v = v.Elem()
		case v.Kind() == reflect.Struct && v.Type().Implements(reflect.TypeFor[maybe]()) && v.FieldByName("Value").IsValid():
			if err := v.Interface().(maybe).Err(); err != nil {
				return reflect.Value{}, err
			}
			v = v.FieldByName("Value")
		default:
			return v, nil
		}
	}
	return v, nil
}

// A maybe is an answer.Maybe of any type.
type maybe interface{ Err() error }

// leaf returns a value as text, and the index of the tag's form for it.
func (t *cardTag) leaf(p *Page, name string, v reflect.Value) (text string, form int) {
	switch x := v.Interface().(type) {
	case bool:
		if !x {
			return "", 1
		}
		return "", 0
	case target.Addr:
		if x != 0 {
			text = Hex12(x)
		}
	case answer.Hex:
		text = Hex(x)
	case time.Time:
		if !x.IsZero() {
			text = x.Format(cardTime)
		}
	case answer.Seconds:
		text = words.Elapsed(time.Duration(float64(x) * float64(time.Second)).Round(time.Second))
	case time.Duration:
		text = words.Elapsed(x)
	case fmt.Stringer:
		text = t.cell(p, x.String())
	case encoding.TextMarshaler:
		b, _ := x.MarshalText()
		text = t.cell(p, string(b))
	default:
		return t.plain(p, name, v)
	}
	if text == "" {
		return "", 1
	}
	return text, 0
}

// cell returns a text of the process, which may be cut, as a cell of a page.
func (t *cardTag) cell(p *Page, text string) string {
	if p.cells == nil {
		return CutEnd(text, t.number("cut"))
	}
	return p.Cell(CutEnd(p.Masked(Escape(text)), t.number("cut")))
}

// plain returns a number or a string, as leaf does.
func (t *cardTag) plain(p *Page, name string, v reflect.Value) (text string, form int) {
	switch {
	case v.CanInt() && strings.HasSuffix(name, "Ms"):
		text = Millis(v.Int())
	case v.CanInt() && (t.has("plain") || v.Int() < 0):
		text = strconv.FormatInt(v.Int(), 10)
	case v.CanInt():
		text = Commas(uint64(v.Int()))
	case v.CanUint() && t.has("size"):
		text = Size(v.Uint())
	case v.CanUint() && t.has("plain"):
		text = strconv.FormatUint(v.Uint(), 10)
	case v.CanUint():
		text = Commas(v.Uint())
	case t.has("elapsed") && v.Len() > 0:
		d, _ := time.ParseDuration(v.String()) // the library wrote it
		return words.Elapsed(d), 0
	default:
		if text = t.cell(p, fmt.Sprint(v.Interface())); text == "" {
			form = 1
		}
		return text, form
	}
	switch {
	case v.IsZero():
		return text, 2
	case text == "1":
		return text, 0
	}
	return text, 1
}
