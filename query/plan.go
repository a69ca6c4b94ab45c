package query

import (
	"strings"

	"github.com/sosgo/sosgo/internal/limits"
)

// An item is an expression with the name of its column.
type item struct {
	expr *node
	name string // as given by as, or the expression's own text
	as   bool   // as gave it
}

// A sorting is what rows are sorted by.
type sorting struct {
	item
	column int // of the output, from 1; 0 for an expression
	desc   bool
}

// A plan is a query, of either spelling.
type plan struct {
	src     string
	source  string    // name of the Source
	of      *typeName // only objects of this type
	ofText  string    // the same between quotes: the whole name, or a pattern with * and ?
	ofPos   int
	exactly bool // and not of types that derive from it
	where   []*node
	groups  []item
	grouped bool
	items   []item
	star    bool // select *
	chosen  bool // there is a select
	having  []*node
	orders  []sorting
	limit   int // -1 for none
	offset  int
	unique  bool // distinct
	sql     bool
}

// parseQuery reads a query: from … | …, or SELECT … FROM ….
func parseQuery(src string) (*plan, error) {
	p, err := newParser(src)
	if err != nil {
		return nil, err
	}
	q := &plan{src: src, limit: -1}
	if p.isWord("select") {
		q.sql = true
		err = p.sql(q)
	} else {
		err = p.pipeline(q)
	}
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokenEnd && !(p.isOp(";") && strings.TrimSpace(src[p.tok.end:]) == "") {
		return nil, p.unexpectedStep()
	}
	return q, nil
}

// steps are the words that a step of a query starts with.
var steps = []string{"where", "group by", "select", "order by", "top", "skip", "distinct", "having"}

func (p *parser) unexpectedStep() error {
	return p.errorf(p.tok.pos, "the query ends before this; its steps are %s", strings.Join(steps, ", "))
}

// pipeline reads from SOURCE [of TYPE] | step | ….
func (p *parser) pipeline(q *plan) error {
	if _, err := p.acceptWord("from"); err != nil {
		return err
	}
	if err := p.from(q); err != nil {
		return err
	}
	for {
		ok, err := p.acceptOp("|")
		if err != nil {
			return err
		}
		if !ok && !p.isWord("where", "group", "select", "order", "top", "limit") {
			return nil
		}
		if err := p.step(q); err != nil {
			return err
		}
	}
}

// from reads where the rows come from.
func (p *parser) from(q *plan) error {
	if p.tok.kind == tokenValue && p.tok.value.kind == KindText {
		q.source, q.ofText, q.ofPos = "objects", p.tok.value.text, p.tok.pos
		return p.advance()
	}
	if p.tok.kind != tokenName {
		return p.errorf(p.tok.pos, "a source is missing: from objects, threads, frames …")
	}
	start, word := p.tok.pos, p.tok.text
	if err := p.advance(); err != nil {
		return err
	}
	if p.isOp(".", "<", "[", "+") { // FROM Contoso.Order
		q.source = "objects"
		return p.ofType(q, start)
	}
	q.source, q.ofPos = word, start
	if (strings.EqualFold(word, "live") || strings.EqualFold(word, "dead")) && p.isWord("objects") {
		if err := p.advance(); err != nil {
			return err
		}
	}
	if !p.isWord("of") {
		return nil
	}
	at := p.tok.end
	if err := p.advance(); err != nil {
		return err
	}
	if p.isWord("exactly") {
		q.exactly = true
		at = p.tok.end
		if err := p.advance(); err != nil {
			return err
		}
	}
	if p.tok.kind == tokenValue && p.tok.value.kind == KindText {
		q.ofText, q.ofPos = p.tok.value.text, p.tok.pos
		return p.advance()
	}
	return p.ofType(q, at)
}

func (p *parser) ofType(q *plan, at int) error {
	t, end := scanType(p.src, at, true)
	if t == nil {
		return p.errorf(at, "the name of a type is missing: of Contoso.Order, or of \"any name with * in it\"")
	}
	q.of, q.ofPos = t, t.pos
	return p.seek(end)
}

func (p *parser) step(q *plan) error {
	word, pos := strings.ToLower(p.tok.text), p.tok.pos
	if p.tok.kind != tokenName {
		return p.errorf(pos, "a step is missing: %s", strings.Join(steps, ", "))
	}
	if q.limit >= 0 && word != "skip" {
		return p.errorf(pos, "top is the last step")
	}
	if err := p.advance(); err != nil {
		return err
	}
	switch word {
	case "where", "having":
		e, err := p.expression()
		if err != nil {
			return err
		}
		if q.grouped || q.chosen && len(q.orders) > 0 {
			q.having = append(q.having, e)
		} else {
			q.where = append(q.where, e)
		}
		return nil
	case "group":
		return p.groupBy(q)
	case "select":
		if q.chosen {
			return p.errorf(pos, "there is a select already")
		}
		return p.selection(q)
	case "order", "sort":
		return p.orderBy(q)
	case "top", "take", "limit":
		return p.count(&q.limit)
	case "skip":
		return p.count(&q.offset)
	case "distinct":
		q.unique = true
		return nil
	}
	e := p.errorf(pos, "%s is no step; the steps are %s", cut(word), strings.Join(steps, ", ")).(*Error)
	e.Hint = meant(word, steps)
	return e
}

func (p *parser) sql(q *plan) error {
	if err := p.advance(); err != nil {
		return err
	}
	var err error
	if q.unique, err = p.acceptWord("distinct"); err != nil {
		return err
	}
	if p.isWord("top") {
		if err := p.advance(); err != nil {
			return err
		}
		if err := p.count(&q.limit); err != nil {
			return err
		}
	}
	if err := p.selection(q); err != nil {
		return err
	}
	if !p.isWord("from") {
		return p.errorf(p.tok.pos, "FROM is missing before this")
	}
	if err := p.advance(); err != nil {
		return err
	}
	if err := p.from(q); err != nil {
		return err
	}
	return p.clauses(q)
}

// clauses reads what follows FROM, in SQL's order.
func (p *parser) clauses(q *plan) error {
	if ok, err := p.acceptWord("where"); err != nil || ok {
		if err := p.condition(&q.where, err); err != nil {
			return err
		}
	}
	if ok, err := p.acceptWord("group"); err != nil || ok {
		if err == nil {
			err = p.groupBy(q)
		}
		if err != nil {
			return err
		}
	}
	if ok, err := p.acceptWord("having"); err != nil || ok {
		if err := p.condition(&q.having, err); err != nil {
			return err
		}
	}
	if ok, err := p.acceptWord("order"); err != nil || ok {
		if err == nil {
			err = p.orderBy(q)
		}
		if err != nil {
			return err
		}
	}
	for p.isWord("limit", "offset") {
		into := &q.limit
		if p.isWord("offset") {
			into = &q.offset
		}
		if err := p.advance(); err != nil {
			return err
		}
		if err := p.count(into); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) condition(into *[]*node, err error) error {
	if err != nil {
		return err
	}
	e, err := p.expression()
	if err == nil {
		*into = append(*into, e)
	}
	return err
}

func (p *parser) groupBy(q *plan) error {
	if _, err := p.acceptWord("by"); err != nil {
		return err
	}
	list, err := p.items()
	q.groups, q.grouped = append(q.groups, list...), true
	return err
}

func (p *parser) selection(q *plan) error {
	q.chosen = true
	if p.isOp("*") {
		q.star = true
		return p.advance()
	}
	var err error
	q.items, err = p.items()
	return err
}

// items reads expressions between commas, each perhaps with as and a name.
func (p *parser) items() ([]item, error) {
	var list []item
	for {
		if len(list) == limits.QueryColumns {
			return nil, p.errorf(p.tok.pos, "more than %d columns", limits.QueryColumns)
		}
		start := p.tok.pos
		p.naming = true
		e, err := p.expression()
		p.naming = false
		if err != nil {
			return nil, err
		}
		it := item{expr: e, name: strings.Join(strings.Fields(p.src[start:e.end]), " ")}
		if ok, err := p.acceptWord("as"); err != nil {
			return nil, err
		} else if ok {
			if it.name, err = p.columnName(); err != nil {
				return nil, err
			}
			it.as = true
		}
		list = append(list, it)
		if ok, err := p.acceptOp(","); err != nil || !ok {
			return list, err
		}
	}
}

func (p *parser) columnName() (string, error) {
	name := p.tok.text
	switch {
	case p.tok.kind == tokenName:
		return name, p.advance()
	case p.tok.kind == tokenValue && p.tok.value.kind == KindText:
		name = p.tok.value.text
		return name, p.advance()
	}
	return "", p.errorf(p.tok.pos, "the name of a column is missing behind as")
}

func (p *parser) orderBy(q *plan) error {
	if _, err := p.acceptWord("by"); err != nil {
		return err
	}
	q.orders = nil
	for {
		if len(q.orders) == limits.QueryColumns {
			return p.errorf(p.tok.pos, "more than %d columns", limits.QueryColumns)
		}
		start := p.tok.pos
		e, err := p.expression()
		if err != nil {
			return err
		}
		o := sorting{item: item{expr: e, name: strings.Join(strings.Fields(p.src[start:e.end]), " ")}}
		if e.op == opValue && e.value.kind == KindInt {
			if o.column = int(min(e.value.bits, limits.QueryColumns+1)); o.column < 1 || o.column > limits.QueryColumns {
				return p.errorf(start, "there is no column %d", e.value.bits)
			}
		}
		if o.desc, err = p.acceptWord("desc", "descending"); err != nil {
			return err
		}
		if !o.desc {
			if _, err := p.acceptWord("asc", "ascending"); err != nil {
				return err
			}
		}
		q.orders = append(q.orders, o)
		if ok, err := p.acceptOp(","); err != nil || !ok {
			return err
		}
	}
}

// count reads a number of rows.
func (p *parser) count(into *int) error {
	v := p.tok.value
	if p.tok.kind != tokenValue || v.kind != KindInt || v.bits > limits.QueryRows {
		return p.errorf(p.tok.pos, "a number of rows is missing, at most %d", limits.QueryRows)
	}
	*into = int(v.bits)
	return p.advance()
}
