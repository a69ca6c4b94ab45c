package query

import (
	"strings"

	"github.com/sosgo/sosgo/internal/base/limits"
)

// An item is an expression with the name of its column.
type item struct {
	expr *node
	name string // given by as, or the expression's own text
	as   bool   // name was given by as
}

// A sorting is a sort key of rows.
type sorting struct {
	item
	column int // output column, from 1; 0 for an expression
	desc   bool
}

// A plan is a parsed query, in either syntax.
type plan struct {
	src     string
	source  string    // name of the Source
	of      *typeName // only objects of this type
	ofText  string    // type in quotes: a whole name, or a pattern with * and ?
	ofPos   int
	exactly bool // exclude derived types
	where   []*node
	groups  []item
	grouped bool
	items   []item
	star    bool // select *
	chosen  bool // the query has a select
	having  []*node
	orders  []sorting
	limit   int // -1 for no limit
	offset  int
	unique  bool // distinct
	sql     bool
}

// parseQuery parses a query: from … | …, or SELECT … FROM ….
func parseQuery(src string) (*plan, error) {
	p, q := newParser(src), &plan{src: src, limit: -1}
	if q.sql = p.acceptWord("select"); q.sql {
		p.sql(q)
	} else {
		p.pipeline(q)
	}
	if p.tok.kind != tokenEnd && !(p.isOp(";") && strings.TrimSpace(src[p.tok.end:]) == "") {
		p.failf(p.tok.pos, "the query ends before this; its steps are %s", strings.Join(steps, ", "))
	}
	return q, p.err
}

// steps are the words that start a step of a query.
var steps = []string{"where", "group by", "select", "order by", "top", "skip", "distinct", "having"}

// pipeline parses from SOURCE [of TYPE] | step | ….
func (p *parser) pipeline(q *plan) {
	p.acceptWord("from")
	p.from(q)
	for p.acceptOp("|") || p.isWord("where", "group", "select", "order", "top", "limit") {
		p.step(q)
	}
}

// from parses the source of the rows.
func (p *parser) from(q *plan) {
	if p.quotedType(q) {
		q.source = "objects"
		return
	}
	if p.tok.kind != tokenName {
		p.failf(p.tok.pos, "a source is missing: from objects, threads, frames …")
		return
	}
	start, word := p.tok.pos, p.tok.text
	p.advance()
	if p.isOp(".", "<", "[", "+") { // FROM Contoso.Order
		q.source = "objects"
		p.ofType(q, start)
		return
	}
	q.source, q.ofPos = word, start
	if strings.EqualFold(word, "live") || strings.EqualFold(word, "dead") {
		p.acceptWord("objects")
	}
	at := p.tok.end
	if !p.acceptWord("of") {
		return
	}
	if q.exactly = p.isWord("exactly"); q.exactly {
		at = p.tok.end
		p.advance()
	}
	if !p.quotedType(q) {
		p.ofType(q, at)
	}
}

// quotedType parses a type's name in quotes and reports whether there is one.
func (p *parser) quotedType(q *plan) bool {
	is := p.tok.kind == tokenValue && p.tok.value.kind == KindText
	if is {
		q.ofText, q.ofPos = p.tok.value.text, p.tok.pos
		p.advance()
	}
	return is
}

func (p *parser) ofType(q *plan, at int) {
	t, end := scanType(p.src, at, true)
	if t == nil {
		p.failf(at, "the name of a type is missing: of Contoso.Order, or of \"any name with * in it\"")
		return
	}
	q.of, q.ofPos = t, t.pos
	p.seek(end)
}

func (p *parser) step(q *plan) {
	word, pos := strings.ToLower(p.tok.text), p.tok.pos
	switch {
	case p.tok.kind != tokenName:
		p.failf(pos, "a step is missing: %s", strings.Join(steps, ", "))
	case q.limit >= 0 && word != "skip":
		p.failf(pos, "top is the last step")
	}
	p.advance()
	switch word {
	case "where", "having":
		if q.grouped || q.chosen && len(q.orders) > 0 {
			q.having = append(q.having, p.expression())
		} else {
			q.where = append(q.where, p.expression())
		}
	case "group":
		p.groupBy(q)
	case "select":
		if q.chosen {
			p.failf(pos, "there is a select already")
		}
		p.selection(q)
	case "order", "sort":
		p.orderBy(q)
	case "top", "take", "limit":
		p.count(&q.limit)
	case "skip":
		p.count(&q.offset)
	case "distinct":
		q.unique = true
	default:
		e := errorAt(p.src, pos, "%s is no step; the steps are %s", cut(word), strings.Join(steps, ", "))
		e.Hint = suggest(word, steps)
		p.fail(e)
	}
}

// sql parses a query after SELECT.
func (p *parser) sql(q *plan) {
	q.unique = p.acceptWord("distinct")
	if p.acceptWord("top") {
		p.count(&q.limit)
	}
	p.selection(q)
	if !p.acceptWord("from") {
		p.failf(p.tok.pos, "FROM is missing before this")
	}
	p.from(q)
	if p.acceptWord("where") {
		q.where = append(q.where, p.expression())
	}
	if p.acceptWord("group") {
		p.groupBy(q)
	}
	if p.acceptWord("having") {
		q.having = append(q.having, p.expression())
	}
	if p.acceptWord("order") {
		p.orderBy(q)
	}
	for p.isWord("limit", "offset") {
		into := &q.limit
		if p.isWord("offset") {
			into = &q.offset
		}
		p.advance()
		p.count(into)
	}
}

func (p *parser) groupBy(q *plan) {
	p.acceptWord("by")
	q.groups, q.grouped = append(q.groups, p.items()...), true
}

func (p *parser) selection(q *plan) {
	q.chosen = true
	if q.star = p.acceptOp("*"); !q.star {
		q.items = p.items()
	}
}

// items parses expressions separated by commas, each optionally with as and a name.
func (p *parser) items() (list []item) {
	for {
		p.columns(len(list))
		p.naming = true
		it := p.column()
		p.naming = false
		if it.as = p.acceptWord("as"); it.as {
			it.name = p.columnName()
		}
		list = append(list, it)
		if !p.acceptOp(",") {
			return list
		}
	}
}

// columns fails if n columns are the maximum.
func (p *parser) columns(n int) {
	if n == limits.QueryColumns {
		p.failf(p.tok.pos, "more than %d columns", limits.QueryColumns)
	}
}

// column parses an expression. Its text is the name of the column.
func (p *parser) column() item {
	start := p.tok.pos
	e := p.expression()
	return item{expr: e, name: strings.Join(strings.Fields(p.src[start:max(start, e.end)]), " ")}
}

func (p *parser) columnName() string {
	name := p.tok.text
	switch {
	case p.tok.kind == tokenName:
	case p.tok.kind == tokenValue && p.tok.value.kind == KindText:
		name = p.tok.value.text
	default:
		p.failf(p.tok.pos, "the name of a column is missing behind as")
	}
	p.advance()
	return name
}

func (p *parser) orderBy(q *plan) {
	p.acceptWord("by")
	q.orders = nil
	for {
		p.columns(len(q.orders))
		start := p.tok.pos
		o := sorting{item: p.column()}
		if v := o.expr.value; o.expr.op == opValue && v.kind == KindInt {
			if o.column = int(min(v.bits, limits.QueryColumns+1)); o.column < 1 || o.column > limits.QueryColumns {
				p.failf(start, "there is no column %d", v.bits)
			}
		}
		if o.desc = p.acceptWord("desc", "descending"); !o.desc {
			p.acceptWord("asc", "ascending")
		}
		q.orders = append(q.orders, o)
		if !p.acceptOp(",") {
			return
		}
	}
}

// count parses a number of rows.
func (p *parser) count(into *int) {
	v := p.tok.value
	if p.tok.kind != tokenValue || v.kind != KindInt || v.bits > limits.QueryRows {
		p.failf(p.tok.pos, "a number of rows is missing, at most %d", limits.QueryRows)
	}
	*into = int(v.bits)
	p.advance()
}
