package query

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// Options are the limits of a query. The zero value selects the default limits.
type Options struct {
	Rows   int           `opt:"rows" range:"1:2147483647" help:"most rows"` // 0 for all
	Time   time.Duration `opt:"time" help:"time limit: 30s, 5m"`            // 0 for no limit
	Memory int64         `opt:"memory" kind:"size" help:"most memory for groups and sorted rows (1 GB)"`
	// Filter selects objects of the heap before the query does; nil selects all. A caller that sets Filter reports
	// the heap's Warnings; otherwise the answer includes them.
	Filter *heap.Filter
	// Thread is the thread for registers and thread statics; nil selects Env.Thread.
	Thread *stackwalk.Thread
}

// ErrLimit reports that a query exceeded one of its limits.
var ErrLimit = target.Limitf("a limit of the query")

type limitError struct{ text string }

func (e *limitError) Error() string { return e.text }

func (e *limitError) Unwrap() error { return ErrLimit }

// Run answers a query: from SOURCE [of TYPE] | where … | group by … | select … | order by … | top N, or the same in
// SQL. An *Error reports a fault in the query. The rows are read while they are iterated.
func Run(ctx context.Context, env *Env, src string, o Options) (*answer.Query, error) {
	q, err := parseQuery(src)
	if err == nil && env == nil {
		err = errNoEnv
	}
	if err != nil {
		return nil, err
	}
	return newEngine(ctx, env.OfThread(o.Thread), src).run(q, o)
}

// Select answers a query about the objects that o.Filter selects. where is a condition, and columns a list of
// expressions. Either may be empty.
func Select(ctx context.Context, env *Env, where, columns string, o Options) (*answer.Query, error) {
	if env == nil {
		return nil, errNoEnv
	}
	q := &plan{source: "objects", limit: -1}
	if columns != "" {
		list, err := parseExpressions(columns)
		if err != nil {
			return nil, fmt.Errorf("-select: %w", err)
		}
		q.items, q.chosen = list, true
	}
	e := newEngine(ctx, env.OfThread(o.Thread), columns)
	if where != "" {
		n, err := parseExpression(where)
		if err != nil {
			return nil, fmt.Errorf("-where: %w", err)
		}
		q.where = []*node{n}
		if columns == "" {
			e.src = where
		}
	}
	return e.run(q, o)
}

// A run is a query that was checked and can run.
type run struct {
	e          *engine
	q          *plan
	o          Options
	source     *Source
	types      *typeSet // only objects of these types; nil for all
	outputs    []item   // columns of the answer
	grouped    bool     // the query has groups, or aggregates of all rows
	aggregates []aggregate
	out        *answer.Query
	scan       heap.ScanOptions
	memory     *offheap.Charge // what rows, groups and sets keep, against the limit of the dump
}

func (e *engine) run(q *plan, o Options) (*answer.Query, error) {
	e.inQuery, e.weighs = true, true
	r := &run{e: e, q: q, o: o, scan: e.env.Scan}
	steps := []func() error{r.findSource, r.findTypes, r.arrange, r.check}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	r.out = &answer.Query{Columns: r.columns(), Total: answer.Missing[uint64](answer.ErrUnread), Looked: answer.Missing[uint64](answer.ErrUnread)}
	r.out.Rows = answer.NewRows(&r.out.Gaps, r.rows)
	return r.out, nil
}

func (r *run) findSource() error {
	var names []string
	for _, list := range [][]Source{heapSources, r.e.env.Sources} {
		for i := range list {
			if list[i].is(r.q.source) {
				r.source = &list[i]
				return nil
			}
			names = append(names, list[i].Name)
		}
	}
	// The source may be a type without its namespace: FROM Order.
	if t, end := scanType(r.q.source, 0, false); t != nil && end == len(r.q.source) && r.q.of == nil && r.q.ofText == "" {
		t.pos = r.q.ofPos
		if list, err := r.e.find(t); err != nil {
			return err
		} else if len(list) > 0 {
			r.q.of, r.source = t, &heapSources[0]
			return nil
		}
	}
	bad := errorAt(r.e.src, r.q.ofPos, "there is no source %s", cut(r.q.source))
	if bad.Hint = suggest(r.q.source, names); bad.Hint == "" {
		bad.Hint = "the sources are " + strings.Join(names, ", ") + "; or give the name of a type"
	}
	return bad
}

// onHeap reports whether the rows are objects of the heap.
func (r *run) onHeap() bool {
	for i := range heapSources {
		if r.source == &heapSources[i] {
			return true
		}
	}
	return false
}

func (r *run) findTypes() error {
	q := r.q
	if (q.of != nil || q.ofText != "") && !r.onHeap() {
		return errorAt(r.e.src, q.ofPos, "%s are of no type", r.source.Name)
	}
	var list []*namedType
	var err error
	switch {
	case q.of != nil:
		list, err = r.e.mustFind(q.of)
	case q.ofText != "":
		if list, err = r.e.findQuoted(q.ofText); len(list) == 0 && err == nil {
			bad := errorAt(r.e.src, q.ofPos, "no loaded type is named %q", cut(q.ofText))
			bad.Hint = "the name in quotes is whole, or has * in it"
			err = r.e.unsure(bad)
		}
	case r.source.Name == "strings":
		list, err = r.e.mustFind(systemType("String"))
	case r.source.Name == "exceptions":
		list, err = r.e.mustFind(systemType("Exception"))
	default:
		return nil
	}
	if err != nil {
		return err
	}
	r.types, err = r.e.newTypeSet(list, q.exactly)
	return err
}

func systemType(name string) *typeName {
	return &typeName{parts: []namePart{{name: "System"}, {name: name}}}
}

// arrange determines the columns of the answer and the aggregates.
func (r *run) arrange() error {
	q := r.q
	for i := range q.items {
		r.grouped = r.grouped || hasAggregate(q.items[i].expr)
	}
	r.grouped = r.grouped || q.grouped
	r.outputs = slices.Clone(q.items)
	switch {
	case r.grouped && q.star:
		return errorAt(r.e.src, 0, "select * is not for groups: name what is wanted of each, such as count()")
	case r.grouped && !q.chosen:
		r.outputs = []item{{expr: &node{op: opCall, name: "count"}, name: "count()"}}
		fallthrough
	case r.grouped && !q.sql:
		for _, g := range q.groups { // last, so that order by 2 is the second selected column
			if !slices.ContainsFunc(r.outputs, func(it item) bool { return sameNode(it.expr, g.expr) }) {
				r.outputs = append(r.outputs, g)
			}
		}
	case !q.chosen || q.star:
		for _, c := range r.source.Columns {
			if !c.Hidden {
				r.outputs = append(r.outputs, item{expr: &node{op: opName, name: c.Name}, name: c.Name})
			}
		}
	}
	for i := range q.orders {
		if o := &q.orders[i]; o.column > len(r.outputs) {
			return errorAt(r.e.src, o.expr.pos, "there is no column %d: there are %d", o.column, len(r.outputs))
		} else if o.column == 0 && !r.grouped {
			o.expr = r.replaceNames(o.expr)
		}
	}
	for i := range q.where {
		q.where[i] = r.replaceNames(q.where[i])
	}
	if !r.grouped {
		for _, h := range q.having {
			q.where = append(q.where, r.replaceNames(h))
		}
		q.having = nil
	}
	for _, it := range r.outputs {
		r.gather(it.expr)
	}
	for _, o := range q.orders {
		r.gather(o.expr)
	}
	for _, h := range q.having {
		r.gather(h)
	}
	r.uniqueNames()
	return nil
}

// replaceNames returns an expression with the names that select gave replaced by their expressions.
func (r *run) replaceNames(n *node) *node {
	if n.op == opName {
		for _, it := range r.q.items {
			if it.as && it.name == n.name && it.expr != n {
				return it.expr
			}
		}
		return n
	}
	for i, a := range n.args {
		n.args[i] = r.replaceNames(a)
	}
	return n
}

func (r *run) uniqueNames() {
	seen := map[string]bool{}
	for i := range r.outputs {
		name := r.outputs[i].name
		for n := 2; seen[name]; n++ {
			name = fmt.Sprintf("%s (%d)", r.outputs[i].name, n)
		}
		r.outputs[i].name, seen[name] = name, true
	}
}

// isGroupCall reports whether a node is an aggregate. count, min and max have one argument at most.
func isGroupCall(n *node) bool { return n.op == opCall && isAggregate(n.name) && len(n.args) <= 1 }

func hasAggregate(n *node) bool { return isGroupCall(n) || slices.ContainsFunc(n.args, hasAggregate) }

// gather collects the aggregates in an expression.
func (r *run) gather(n *node) {
	if r.grouped && isGroupCall(n) {
		if r.aggregateOf(n) < 0 {
			g := aggregate{name: strings.ToLower(n.name), distinct: n.distinct}
			if len(n.args) == 1 && n.args[0].op != opStar {
				g.arg = n.args[0]
			}
			r.aggregates = append(r.aggregates, g)
		}
		return
	}
	for _, a := range n.args {
		r.gather(a)
	}
}

// aggregateOf returns the index of the aggregate that a node is, or -1.
func (r *run) aggregateOf(n *node) int {
	if !isGroupCall(n) {
		return -1
	}
	for i, g := range r.aggregates {
		if !strings.EqualFold(g.name, n.name) || g.distinct != n.distinct {
			continue
		}
		star := len(n.args) == 0 || n.args[0].op == opStar
		if star && g.arg == nil || !star && g.arg != nil && sameNode(g.arg, n.args[0]) {
			return i
		}
	}
	return -1
}

// sameNode reports whether two expressions are equal.
func sameNode(a, b *node) bool {
	if a == b {
		return true
	}
	if a.op != b.op || a.name != b.name || a.maybe != b.maybe || a.distinct != b.distinct || len(a.args) != len(b.args) || (a.typ == nil) != (b.typ == nil) {
		return false
	}
	if a.op == opValue && (a.value.kind != b.value.kind || a.value.bits != b.value.bits || a.value.text != b.value.text || a.value.aux != b.value.aux) {
		return false
	}
	if a.typ != nil && a.typ.String() != b.typ.String() || (a.re == nil) != (b.re == nil) || a.re != nil && a.re.String() != b.re.String() {
		return false
	}
	return slices.EqualFunc(a.args, b.args, sameNode)
}

// rowScope returns the scope for expressions about a row.
func (r *run) rowScope(t *objects.Type) *scope {
	s := &scope{e: r.e, columns: r.source.Columns, object: r.source.Object, heap: r.onHeap(), typ: t}
	if s.heap {
		s.object = -1
	} else {
		s.source = r.source
	}
	return s
}

// groupScope returns the scope for expressions about a group. Its row has the keys, the aggregates, and the outputs.
func (r *run) groupScope() *scope {
	return &scope{e: r.e, object: -1, known: func(n *node) int {
		for i, g := range r.q.groups {
			if sameNode(n, g.expr) || g.as && n.op == opName && n.name == g.name {
				return i
			}
		}
		if i := r.aggregateOf(n); i >= 0 {
			return len(r.q.groups) + i
		}
		if n.op == opName {
			for i, it := range r.outputs {
				if it.as && it.name == n.name {
					return len(r.q.groups) + len(r.aggregates) + i
				}
			}
		}
		return -1
	}}
}

// check checks all names against the dump before the query runs.
func (r *run) check() error {
	c := checker{s: r.rowScope(nil)}
	if r.onHeap() {
		if _, err := r.e.heap(); err != nil {
			return err
		}
		c.types = r.rowTypes()
	} else if r.source.Object >= 0 {
		c.types = r.objectTypes()
	}
	var list []*node
	list = append(list, r.q.where...)
	for _, g := range r.q.groups {
		list = append(list, g.expr)
	}
	for _, g := range r.aggregates {
		if g.arg != nil {
			list = append(list, g.arg)
		}
	}
	if !r.grouped {
		for _, it := range r.outputs {
			list = append(list, it.expr)
		}
		for _, o := range r.q.orders {
			if o.column == 0 {
				list = append(list, o.expr)
			}
		}
	}
	for _, n := range list {
		if _, err := c.check(n); err != nil {
			return err
		}
	}
	return r.compileOnce()
}

// compileOnce compiles all expressions without a type, to find errors before anything runs.
func (r *run) compileOnce() error {
	if _, err := r.compile(nil); err != nil {
		return err
	}
	if r.grouped {
		_, err := r.compileGroups()
		return err
	}
	return nil
}

// objectTypes returns the possible types of the objects that the rows of a source are about, or nil if unknown.
func (r *run) objectTypes() []*objects.Type {
	if r.e.table().gap != nil {
		return nil
	}
	if len(r.source.Of) == 0 {
		return r.rowTypes()
	}
	var out []*objects.Type
	for _, name := range r.source.Of {
		t, _ := scanType(name, 0, false)
		list, err := r.e.find(t)
		if err != nil {
			return nil
		}
		out = append(out, r.e.typesOf(list)...)
	}
	return out
}

// rowTypes returns the possible types of rows, or nil for all.
func (r *run) rowTypes() []*objects.Type {
	var out []*objects.Type
	for _, n := range r.e.table().all {
		if n.mt.IsOpen() || n.mt.IsInterface() {
			continue
		}
		t := r.e.typeOf(n)
		if t == nil {
			continue
		}
		if r.types != nil {
			if ok, err := r.types.has(t); !ok && err == nil {
				continue
			}
		}
		out = append(out, t)
	}
	if r.e.table().gap != nil && len(out) == 0 {
		return nil // there may be others
	}
	return out
}

func (r *run) columns() []answer.QueryColumn {
	var out []answer.QueryColumn
	for _, it := range r.outputs {
		c := answer.QueryColumn{Name: it.name}
		for _, col := range r.source.Columns {
			c.Count = c.Count || col.Count && col.Name == it.expr.name && it.expr.op == opName
		}
		if it.expr.op == opCall {
			c.Count = c.Count || slices.Contains([]string{"count", "size", "retained", "len"}, strings.ToLower(it.expr.name))
			if i := r.aggregateOf(it.expr); i >= 0 && r.aggregates[i].arg != nil {
				for _, col := range r.source.Columns {
					c.Count = c.Count || col.Count && r.aggregates[i].arg.op == opName && col.Name == r.aggregates[i].arg.name
				}
			}
		}
		out = append(out, c)
	}
	return out
}

func (r *run) rows(yield func(answer.QueryRow, error) bool) error {
	before := r.e.ctx
	defer func() { r.e.ctx = before }()
	if r.o.Time > 0 {
		ctx, cancel := context.WithTimeout(r.e.ctx, r.o.Time)
		defer cancel()
		r.e.ctx = ctx
	}
	r.memory = offheap.BudgetOf(r.e.ctx).Charge("the query")
	defer r.memory.Free()
	r.e.ctx = offheap.WithCharge(r.e.ctx, r.memory) // of sources
	s := sink{r: r, yield: yield}
	err := r.feed(&s)
	if err == nil {
		err = s.finish()
	}
	for _, lost := range append(r.note(&s.all), s.all.lost()...) {
		s.stopped = s.stopped || !yield(answer.QueryRow{}, lost)
	}
	switch {
	case s.stopped:
		return nil
	case err == nil || errors.Is(err, errEnough):
		r.out.Total = answer.Known(s.yielded)
		return nil
	}
	if errors.Is(err, context.DeadlineExceeded) && r.o.Time > 0 {
		err = &limitError{fmt.Sprintf("the query took more than its limit of %v; what was found until then is not all", r.o.Time)}
	}
	return err
}

// errEnough ends a query that has all its rows.
var errEnough = errors.New("enough rows")

// note completes the answer after its rows. It returns the parts of the heap that lack rows.
func (r *run) note(p *partial) (lost []error) {
	r.out.Looked = answer.Known(p.looked)
	if r.onHeap() && r.o.Filter == nil {
		if h, err := r.e.heap(); err == nil { // on an error there are no rows
			lost = slices.Clone(h.Warnings())
		}
	}
	r.out.NoteAll(r.e.graphGaps())
	if r.e.guessed.Load() {
		r.out.Strength = answer.StrengthPossible
	}
	for _, n := range r.e.rowNames {
		r.out.Note(n.err())
	}
	return lost
}

// lost returns the errors of rows that could not be read or selected.
func (p *partial) lost() (out []error) {
	for _, g := range p.gaps {
		if g.count > 0 {
			out = append(out, fmt.Errorf("%d %s: %w", g.count, g.what, g.err))
		}
	}
	out = append(out, p.corrupt...)
	for _, mt := range slices.Sorted(maps.Keys(p.doubts)) {
		out = append(out, p.doubts[mt])
	}
	return out
}

// feed passes the rows of the source to s.
func (r *run) feed(s *sink) error {
	if r.onHeap() {
		return r.scanHeap(s)
	}
	prog, err := r.compile(nil)
	if err != nil {
		return err
	}
	f := r.e.newFrame()
	part := &partial{r: r}
	for row, err := range r.source.Rows(r.e.ctx) {
		if r.e.ctx.Err() != nil {
			return r.e.ctx.Err()
		}
		if err != nil {
			part.noteCorrupt(err)
			continue
		}
		f.row = row
		part.add(f, prog)
		if err := s.take(part); err != nil {
			return err
		}
		part.reset()
	}
	return s.take(part)
}

// A program is the compiled query for rows of one type.
type program struct {
	typ    *objects.Type // type of the rows' objects; nil for other rows
	never  bool          // no row is selected
	mt     target.Addr   // type that doubt is about
	doubt  error         // why it is unknown whether rows of the type are selected; never is then set
	test   func(*frame) truth
	keys   []code
	args   []code // arguments of aggregates; without eval to count rows
	items  []code
	orders []code // sort keys that are not columns
	single bool   // the keys are the same for all rows
	group  *group // if single, the group of the rows of the current part
}

func (r *run) compile(t *objects.Type) (*program, error) {
	s := r.rowScope(t)
	p := &program{single: true}
	var tests []code
	for _, w := range r.q.where {
		c, err := s.compile(w)
		if err != nil {
			return nil, err
		}
		if c.constant != nil && c.constant.kind == KindBool {
			if c.constant.bits == 0 {
				p.never = true
				return p, nil
			}
			continue
		}
		tests = append(tests, c)
	}
	for _, c := range tests {
		p.addTest(c.condition())
	}
	var err error
	for _, g := range r.q.groups {
		c, err := s.compile(g.expr)
		if err != nil {
			return nil, err
		}
		p.single = p.single && c.constant != nil
		p.keys = append(p.keys, c)
	}
	if r.grouped {
		p.args = make([]code, len(r.aggregates))
		for i, g := range r.aggregates {
			if g.arg != nil {
				if p.args[i], err = s.compile(g.arg); err != nil {
					return nil, err
				}
			}
		}
		return p, nil
	}
	for _, it := range r.outputs {
		c, err := s.compile(it.expr)
		if err != nil {
			return nil, err
		}
		p.items = append(p.items, c)
	}
	for _, o := range r.q.orders {
		var c code
		if o.column > 0 {
			c = p.items[o.column-1]
		} else if c, err = s.compile(o.expr); err != nil {
			return nil, err
		}
		p.orders = append(p.orders, c)
	}
	return p, nil
}

func (p *program) addTest(test func(*frame) truth) {
	if before := p.test; before != nil {
		second := test
		test = func(f *frame) truth {
			x := before(f)
			if x == no {
				return no
			}
			err := f.err
			y := second(f)
			if x == yes || y == no {
				return y
			}
			f.err = err
			return undecided
		}
	}
	p.test = test
}
