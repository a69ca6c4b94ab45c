package query

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A group holds the aggregates of the rows with the same keys.
type group struct {
	keys []Value
	accs []accumulator
}

// A result is a row that waits to be sorted.
type result struct {
	cells  []answer.Cell
	orders []Value
}

// A gap counts the rows that have the same kind of missing part.
type gap struct {
	what  string
	count uint64
	err   error
}

// The kinds of gaps of a query.
const (
	gapCondition = iota
	gapAggregate
	gapCount
)

// A partial is the result for a part of the rows. It is for one goroutine.
type partial struct {
	r       *run
	groups  map[string]*group
	order   []*group
	names   []string // keys of order
	results []result
	bytes   int64 // estimated memory of groups and results
	charged int64 // of bytes, to r.memory
	looked  uint64
	gaps    [gapCount]gap
	corrupt []error
	doubts  map[target.Addr]error // by MethodTable: why it is unknown whether its objects are selected
	fatal   error
	key     []byte
}

func (p *partial) reset() {
	clear(p.groups)
	p.order, p.names, p.results = p.order[:0], p.names[:0], p.results[:0]
	p.bytes, p.charged, p.looked, p.gaps, p.corrupt, p.doubts, p.fatal = 0, 0, 0, [gapCount]gap{}, nil, nil, nil
}

// charge counts the part's memory against the limit of the dump if it has changed by at least step.
func (p *partial) charge(step int64) error {
	n := p.bytes - p.charged
	if n > -step && n < step {
		return nil
	}
	err := p.r.memory.Add(n)
	if err == nil {
		p.charged = p.bytes
	}
	return err
}

// chargeStep is the growth of a part in bytes between two charges.
const chargeStep = 1 << 20

// noteCorrupt records missing rows.
func (p *partial) noteCorrupt(err error) {
	if len(p.corrupt) < heap.MaxCorruptions {
		p.corrupt = append(p.corrupt, err)
	}
}

// noteDoubt records that it is unknown whether the objects of a type are selected. Every part with such objects records
// it. It is counted once for all parts.
func (p *partial) noteDoubt(mt target.Addr, err error) {
	if p.doubts == nil {
		p.doubts = map[target.Addr]error{}
	}
	p.doubts[mt] = err
}

func (p *partial) noteGap(which int, what string, err error) {
	g := &p.gaps[which]
	if g.count++; g.err == nil {
		g.what, g.err = what, err
	}
}

// add processes a row.
func (p *partial) add(f *frame, prog *program) {
	p.looked++
	if prog.never || p.fatal != nil {
		return
	}
	if prog.test != nil {
		switch prog.test(f) {
		case no:
			return
		case undecided:
			p.noteGap(gapCondition, "rows are left out, because the condition can't be decided", f.err)
			return
		}
	}
	p.keep(f, prog)
	p.fatal = p.charge(chargeStep)
}

// keep adds a selected row to its group or to the results.
func (p *partial) keep(f *frame, prog *program) {
	if p.r.grouped {
		p.addToGroup(f, prog)
		return
	}
	p.bytes += resultBytes
	res := result{cells: make([]answer.Cell, len(prog.items))}
	for i, c := range prog.items {
		res.cells[i] = f.cell(c.eval(f))
		p.bytes += cellBytes + int64(len(res.cells[i].Text))
	}
	if len(prog.orders) > 0 {
		res.orders = make([]Value, len(prog.orders))
		for i, c := range prog.orders {
			res.orders[i] = f.sortable(c.eval(f))
			p.bytes += valueBytes + int64(len(res.orders[i].text))
		}
	}
	p.results = append(p.results, res)
}

// Estimated bytes of a result, a cell, a value, a group, and an entry of a set beside its text.
const (
	resultBytes = 64
	cellBytes   = 80
	valueBytes  = 96
	groupBytes  = 256
	entryBytes  = 96 // a map doubles when it grows
)

func (p *partial) addToGroup(f *frame, prog *program) {
	g := prog.group
	if g == nil || !prog.single {
		g = p.groupOf(f, prog)
		prog.group = g
	}
	for i := range p.r.aggregates {
		a := &g.accs[i]
		if prog.args[i].eval == nil {
			a.count++
			continue
		}
		if number := prog.args[i].number; number != nil && p.r.aggregates[i].name == "sum" {
			a.addInteger(uint64(number(f)), 0)
			a.count++
			continue
		}
		before := a.known
		a.add(f, &p.r.aggregates[i], prog.args[i].eval(f))
		p.bytes += a.known - before
	}
}

func (p *partial) groupOf(f *frame, prog *program) *group {
	p.key = p.key[:0]
	for _, c := range prog.keys {
		p.key = f.appendKey(p.key, c.eval(f))
	}
	if g := p.groups[string(p.key)]; g != nil {
		return g
	}
	g := &group{keys: make([]Value, len(prog.keys)), accs: make([]accumulator, len(p.r.aggregates))}
	for i, c := range prog.keys {
		g.keys[i] = c.eval(f)
	}
	p.put(string(p.key), g)
	return g
}

func (p *partial) put(key string, g *group) {
	if p.groups == nil {
		p.groups = map[string]*group{}
	}
	p.groups[key] = g
	p.order, p.names = append(p.order, g), append(p.names, key)
	p.bytes += groupBytes + int64(len(key)) + int64(len(g.keys)+len(g.accs))*2*valueBytes
	for i := range g.accs {
		p.bytes += g.accs[i].known
	}
}

// merge adds the result for a later part of the rows.
func (p *partial) merge(b *partial) {
	for i, g := range b.order {
		mine := p.groups[b.names[i]]
		if mine == nil {
			p.put(b.names[i], g)
			continue
		}
		for j := range g.accs {
			before := mine.accs[j].known
			mine.accs[j].merge(&g.accs[j], &p.r.aggregates[j])
			p.bytes += mine.accs[j].known - before
		}
	}
	p.results = append(p.results, b.results...)
	if !p.r.grouped {
		p.bytes += b.bytes
	}
	p.looked += b.looked
	for i := range p.gaps {
		if p.gaps[i].err == nil {
			p.gaps[i].what, p.gaps[i].err = b.gaps[i].what, b.gaps[i].err
		}
		p.gaps[i].count += b.gaps[i].count
	}
	for _, err := range b.corrupt {
		p.noteCorrupt(err)
	}
	for mt, err := range b.doubts {
		p.noteDoubt(mt, err)
	}
}

// A sink receives the parts in order and yields the rows.
type sink struct {
	r       *run
	yield   func(answer.QueryRow, error) bool
	all     partial
	seen    map[string]struct{} // rows that were yielded, for distinct
	known   int64               // estimated memory of seen
	skipped int
	yielded uint64
	stopped bool // the caller stopped
}

// take merges a part. It yields the rows that need not wait.
func (s *sink) take(p *partial) error {
	if s.all.r == nil {
		s.all.r = s.r
	}
	if p.fatal != nil {
		return p.fatal
	}
	s.all.merge(p)
	if err := s.r.memory.Add(-p.charged); err != nil {
		return err
	}
	p.charged = 0
	waiting := s.r.grouped || len(s.r.q.orders) > 0
	if !waiting {
		for _, res := range s.all.results {
			if err := s.emit(res.cells); err != nil {
				return err
			}
		}
		s.all.results, s.all.bytes = s.all.results[:0], 0
		return nil
	}
	if top := s.wanted(); !s.r.grouped && top > 0 && len(s.all.results) > 2*top+1024 && !s.r.q.unique {
		s.sort()
		s.all.results = slices.Clone(s.all.results[:top])
		s.all.bytes = 0 // for top rows, which were there before
	}
	if err := s.all.charge(1); err != nil {
		return err
	}
	if err := s.r.within(s.all.bytes); err != nil {
		return err
	}
	switch {
	case len(s.all.results) > limits.QueryRows || len(s.all.order) > limits.QueryRows:
		return &limitError{fmt.Sprintf("the query has more than %d rows to sort or group", limits.QueryRows)}
	}
	return nil
}

// within returns an error if so many bytes are more than the limit of the query.
func (r *run) within(bytes int64) error {
	if memory := cmp.Or(r.o.Memory, limits.QueryMemory); bytes > memory {
		return &limitError{fmt.Sprintf("the query wants more than %d MB of memory: ask for fewer groups or columns, or raise -memory", memory>>20)}
	}
	return nil
}

// wanted returns the number of sorted rows to keep, or 0 for all.
func (s *sink) wanted() int {
	top := s.r.o.Rows
	if n := s.r.q.limit; n >= 0 && (top == 0 || n < top) {
		top = n
	}
	if top == 0 {
		return 0
	}
	return top + s.r.q.offset + 1 // one more shows that there are more
}

// An unreadError reports that nothing could be read.
type unreadError struct{ err error }

func (e *unreadError) Error() string {
	return "nothing of what was asked for can be read: " + e.err.Error()
}

func (e *unreadError) Unwrap() error { return e.err }

// sort sorts the rows. Equal rows keep their order.
func (s *sink) sort() {
	if len(s.r.q.orders) == 0 {
		return
	}
	slices.SortStableFunc(s.all.results, func(a, b result) int {
		for i := range a.orders {
			c := compareSorted(a.orders[i], b.orders[i])
			known := a.orders[i].kind != KindError && b.orders[i].kind != KindError
			if s.r.q.orders[i].desc && known { // missing values are always last
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
}

// finish yields the rows that waited.
func (s *sink) finish() error {
	if s.all.looked == 0 && len(s.all.corrupt) > 0 {
		return &unreadError{s.all.corrupt[0]} // instead of zero rows
	}
	if s.r.grouped {
		if err := s.groups(); err != nil {
			return err
		}
	}
	s.sort()
	for _, res := range s.all.results {
		if err := s.emit(res.cells); err != nil {
			return err
		}
	}
	return nil
}

// emit yields a row if it is within the limits of the query.
func (s *sink) emit(cells []answer.Cell) error {
	if s.r.q.unique {
		if isNew, err := s.isNew(cells); !isNew || err != nil {
			return err
		}
	}
	if s.skipped < s.r.q.offset {
		s.skipped++
		return nil
	}
	if n := s.r.q.limit; n >= 0 && s.yielded >= uint64(n) || s.r.o.Rows > 0 && s.yielded >= uint64(s.r.o.Rows) {
		s.r.out.More = true
		return errEnough
	}
	s.yielded++
	if !s.yield(answer.QueryRow{Columns: s.r.out.Columns, Cells: cells}, nil) {
		s.stopped = true
		return errEnough
	}
	return nil
}

func (s *sink) isNew(cells []answer.Cell) (bool, error) {
	var key []byte
	for i := range cells {
		key = append(append(key, byte(cells[i].Kind), 0), cells[i].Plain()...)
	}
	if _, ok := s.seen[string(key)]; ok {
		return false, nil
	}
	if s.seen == nil {
		s.seen = map[string]struct{}{}
	}
	if len(s.seen) >= limits.QueryRows {
		return false, &limitError{fmt.Sprintf("the query has more than %d different rows", limits.QueryRows)}
	}
	s.seen[string(key)] = struct{}{}
	grown := entryBytes + int64(len(key))
	s.known += grown
	return true, cmp.Or(s.r.memory.Add(grown), s.r.within(s.known))
}

// A groupCode is compiled from the expressions about a group.
type groupCode struct{ items, having, orders []code }

func (r *run) compileGroups() (*groupCode, error) {
	s := r.groupScope()
	out := &groupCode{}
	for i, it := range r.outputs {
		s2 := *s
		s2.known = func(n *node) int { // an output must not refer to itself or to later outputs
			if j := s.known(n); j < len(r.q.groups)+len(r.aggregates)+i {
				return j
			}
			return -1
		}
		c, err := s2.compile(it.expr)
		if err != nil {
			return nil, r.notGrouped(it.expr, err)
		}
		out.items = append(out.items, c)
	}
	for _, h := range r.q.having {
		c, err := s.compile(h)
		if err != nil {
			return nil, r.notGrouped(h, err)
		}
		out.having = append(out.having, c)
	}
	for _, o := range r.q.orders {
		if o.column > 0 {
			at := len(r.q.groups) + len(r.aggregates) + o.column - 1
			out.orders = append(out.orders, code{eval: func(f *frame) Value { return f.row[at] }})
			continue
		}
		c, err := s.compile(o.expr)
		if err != nil {
			return nil, r.notGrouped(o.expr, err)
		}
		out.orders = append(out.orders, c)
	}
	return out, nil
}

// notGrouped explains the error for a name that rows have and groups do not.
func (r *run) notGrouped(n *node, err error) error {
	name := firstName(n)
	if name == nil {
		return err
	}
	c := checker{s: r.rowScope(nil)}
	if r.onHeap() {
		c.types = r.rowTypes()
	}
	if _, rowErr := c.check(n); rowErr != nil {
		return err
	}
	return r.e.errorf(n, "%s is another for each row of a group: group by it, or say any(%s), max(%s) …", name.name, name.name, name.name)
}

func firstName(n *node) *node {
	if n.op == opName {
		return n
	}
	if isGroupCall(n) {
		return nil
	}
	for _, a := range n.args {
		if f := firstName(a); f != nil {
			return f
		}
	}
	return nil
}

// groups makes a row of each group. Without group by, all rows are one group, even if there is no row.
func (s *sink) groups() error {
	prog, err := s.r.compileGroups()
	if err != nil {
		return err
	}
	if len(s.all.order) == 0 && len(s.r.q.groups) == 0 {
		s.all.put("", &group{accs: make([]accumulator, len(s.r.aggregates))})
	}
	f := s.r.e.newFrame()
	for _, g := range s.all.order {
		if err := s.r.e.ctx.Err(); err != nil {
			return err
		}
		s.groupRow(f, prog, g)
	}
	return nil
}

func (s *sink) groupRow(f *frame, prog *groupCode, g *group) {
	f.row = append(f.row[:0], g.keys...)
	for i := range g.accs {
		a := &g.accs[i]
		f.row = append(f.row, a.value(&s.r.aggregates[i]))
		if a.missing > 0 {
			gap := &s.all.gaps[gapAggregate]
			if gap.count += a.missing; gap.err == nil {
				gap.what, gap.err = "values are missing in "+s.r.aggregates[i].name, a.err
			}
		}
	}
	res := result{cells: make([]answer.Cell, len(prog.items))}
	for i, c := range prog.items {
		v := c.eval(f)
		f.row = append(f.row, v)
		res.cells[i] = f.cell(v)
	}
	for _, h := range prog.having {
		switch h.condition()(f) {
		case no:
			return
		case undecided:
			s.all.noteGap(gapCondition, "groups are left out, because the condition can't be decided", f.err)
			return
		}
	}
	for _, c := range prog.orders {
		res.orders = append(res.orders, f.sortable(c.eval(f)))
	}
	s.all.results = append(s.all.results, res)
}

// scanHeap scans the objects of the heap with several workers.
func (r *run) scanHeap(s *sink) error {
	h, err := r.e.heap()
	if err != nil {
		return err
	}
	if err := h.Unread(); err != nil {
		return &unreadError{err}
	}
	if r.source.Name == "live" || r.source.Name == "dead" {
		if err := r.e.needLive(); err != nil {
			return err
		}
	}
	return heap.Scan(r.e.ctx, h, r.o.Filter, r.scan, func() *collector {
		return &collector{partial: partial{r: r}, f: r.e.newFrame(), sieve: heap.NewSieve(r.o.Filter), live: r.liveness()}
	}, func(c *collector) error { return s.take(&c.partial) })
}

// liveness returns a test for objects that the source selects as live or dead, or nil for all.
func (r *run) liveness() func(*heap.Object) bool {
	live := r.e.live
	switch r.source.Name {
	case "live":
		return func(o *heap.Object) bool { return live(o.Addr) }
	case "dead":
		return func(o *heap.Object) bool { return !live(o.Addr) }
	}
	return nil
}

// A collector processes objects of the heap, for one goroutine at a time. It keeps its programs between runs.
type collector struct {
	partial
	f     *frame
	sieve *heap.Sieve
	live  func(*heap.Object) bool
	progs []*program // by TypeNumber
}

// neverProgram is the program for types without selected objects.
var neverProgram = &program{never: true}

func (c *collector) Objects(s *heap.Segment, batch []heap.Object) {
	if c.fatal != nil {
		return
	}
	c.f.seg = s
	for i := range batch {
		o := &batch[i]
		if o.Free {
			continue
		}
		n := o.TypeNumber()
		if int(n) >= len(c.progs) || c.progs[n] == nil {
			c.learn(n, o)
			if c.fatal != nil {
				return
			}
		}
		p := c.progs[n]
		if p.never {
			c.looked++
			if p.doubt != nil {
				c.noteDoubt(p.mt, p.doubt)
			}
			continue
		}
		if !c.sieve.Pass(o) || c.live != nil && !c.live(o) {
			continue
		}
		c.f.obj = o
		c.f.typ = p.typ
		c.add(c.f, p)
	}
}

func (c *collector) typeOf(o *heap.Object) *objects.Type {
	t, err := c.r.e.env.objects.Of(*o)
	if err != nil {
		return nil
	}
	return t.Type
}

// learn compiles the query for a type.
func (c *collector) learn(n uint32, o *heap.Object) {
	if grow := int(n) + 1 - len(c.progs); grow > 0 {
		c.progs = append(c.progs, make([]*program, grow)...)
	}
	t := c.typeOf(o)
	if c.r.types != nil {
		ok, err := c.r.types.has(t)
		if err != nil {
			c.progs[n] = &program{never: true, mt: t.MT.Addr, doubt: fmt.Errorf("whether objects of %016x are wanted: %w", uint64(t.MT.Addr), err)}
			return
		}
		if !ok {
			c.progs[n] = neverProgram
			return
		}
	}
	if c.progs[n], c.fatal = c.r.compile(t); c.fatal == nil {
		c.progs[n].typ = t
	}
}

// Corrupt records a place where the walk could not continue.
func (c *collector) Corrupt(e *heap.Corruption) { c.noteCorrupt(e) }

// Reset discards the rows.
func (c *collector) Reset() {
	c.partial.reset()
	for _, p := range c.progs {
		if p != nil && p != neverProgram {
			p.group = nil
		}
	}
}
