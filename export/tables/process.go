package tables

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/export/summary"
	"github.com/sosgo/sosgo/query"
)

// dumpTable has one row: the dump.
func (p *Process) dumpTable() *Table {
	return &Table{Name: "dump", Summary: "the dump, in one row: what the command summarize tells", rows: p.dumpRow, Columns: []Column{
		{Name: "id", Kind: Text, Summary: "made of the dump's content"},
		{Name: "dump", Kind: Text, Summary: "name of the file"},
		{Name: "process", Kind: Text, Null: true, Summary: "executable or command line"},
		{Name: "pid", Kind: Uint, Null: true, Summary: "its id"},
		{Name: "time", Kind: Text, Null: true, Summary: "when the dump was written (RFC 3339, UTC)"},
		{Name: "system", Kind: Text, Null: true, Summary: "operating system and processor"},
		{Name: "runtime", Kind: Text, Null: true, Summary: "version of the runtime"},
		{Name: "crashed", Kind: Bool, Null: true, Summary: "true: the dump says that the process had crashed; null: nothing in it does"},
		{Name: "reason", Kind: Text, Null: true, Summary: "what ended it, or that the dump has no record of an end"},
		{Name: "exception", Kind: Text, Null: true, Summary: "type of the exception that ended it"},
		{Name: "message", Kind: Text, Null: true, Summary: "its message"},
		{Name: "top_frame", Kind: Text, Null: true, Summary: "the innermost frame of the program itself"},
		{Name: "signature", Kind: Text, Null: true, Summary: "of the crash, across dumps"},
		{Name: "live_objects", Kind: Uint, Null: true, Summary: "objects that live"},
		{Name: "live_size", Kind: Uint, Null: true, Summary: "their bytes"},
		{Name: "garbage_size", Kind: Uint, Null: true, Summary: "bytes of the objects that nothing keeps alive"},
		{Name: "threads", Kind: Uint, Null: true, Summary: "number of threads"},
	}}
}

func (p *Process) dumpRow(_ context.Context, w *writer) error {
	s, b := p.Summary, w.batch
	b.text(0, s.ID)
	b.text(1, s.Dump)
	b.textOrNull(2, s.Process)
	b.numOrNull(3, s.PID != 0, uint64(s.PID))
	stamp := ""
	if s.Time != nil {
		stamp = s.Time.UTC().Format(time.RFC3339)
	}
	b.textOrNull(4, stamp)
	b.textOrNull(5, s.System)
	b.textOrNull(6, s.Runtime)
	if s.Crashed {
		b.bool(7, true)
	} else {
		b.null(7)
	}
	for i, text := range []string{s.Reason, s.Exception, s.Message, s.Top, s.Signature} {
		b.textOrNull(8+i, text)
	}
	for i, n := range []*uint64{s.Objects, s.Size, s.Garbage} {
		if n != nil {
			b.num(13+i, *n)
		} else {
			b.null(13 + i)
		}
	}
	if s.Threads != nil {
		b.num(16, uint64(*s.Threads))
	} else {
		b.null(16)
	}
	return w.next()
}

func (b *Batch) numOrNull(i int, known bool, v uint64) {
	if known {
		b.num(i, v)
	} else {
		b.null(i)
	}
}

// suspectTable has what most of the heap hangs on, and the crash: what a person would look at first.
func (p *Process) suspectTable() *Table {
	return &Table{Name: "findings", Summary: "what was found: the crash, and what most of the heap hangs on", rows: p.findingRows, Columns: []Column{
		{Name: "kind", Kind: Text, Summary: "crash, or the kind of suspect that leaks tells"},
		{Name: "verdict", Kind: Text, Null: true, Summary: "suspect or notable"},
		{Name: "signature", Kind: Text, Summary: "the same across dumps"},
		{Name: "what", Kind: Text, Null: true, Summary: "the exception, or the type of what holds the memory"},
		{Name: "members", Kind: Text, Null: true, Summary: "type of the objects of which there are many"},
		{Name: "root", Kind: Text, Null: true, Summary: "what keeps it alive, or the frame of a crash"},
		{Name: "retained", Kind: Uint, Null: true, Summary: "bytes that would be free without it"},
		{Name: "share", Kind: Float, Null: true, Summary: "that in percent of all that lives"},
	}}
}

func (p *Process) findingRows(_ context.Context, w *writer) error {
	b := w.batch
	if s := p.Summary; s.Crashed {
		b.text(0, "crash")
		b.null(1)
		b.text(2, s.Signature)
		b.textOrNull(3, s.Exception)
		b.null(4)
		b.textOrNull(5, s.Top)
		b.null(6)
		b.null(7)
		if err := w.next(); err != nil {
			return err
		}
	}
	for _, x := range p.Summary.Suspects {
		b.text(0, x.Kind)
		b.textOrNull(1, x.Verdict)
		b.text(2, x.Signature)
		b.textOrNull(3, x.Type)
		b.textOrNull(4, x.Members)
		b.textOrNull(5, x.Root)
		b.num(6, x.Retained)
		b.num(7, math.Float64bits(x.Share))
		if err := w.next(); err != nil {
			return err
		}
	}
	return nil
}

// A sourceColumns is a table that is made of a source, with the kinds of its columns; all may be null.
type sourceColumns struct {
	source  string
	summary string
	columns []Column
}

// sourceTables are the tables that are made of sources of the same name, with all columns of these.
var sourceTables = []sourceColumns{
	{"threads", "threads of the process", kinds("index:i osid:u managed:u name exception:u thread:u ip:u sp:u")},
	{"frames", "frames of the stacks of all threads", kinds("thread:u frame:u method file line:u kind module ip:u sp:u md:u name")},
	{"roots", "what keeps objects alive", kinds("kind object:u root:u handle thread:u pinned:b")},
	{"handles", "GC handles, also weak ones", kinds("handle:u kind object:u secondary:u")},
	{"statics", "static fields of all loaded types", kinds("type field value kind thread:u address:u")},
	{"tasks", "tasks, and the boxes of async methods that are none", kinds("task:u status method state:i awaits name flags:u file line:u")},
	{"requests", "web requests that the process works on", kinds("context:u method path query status:i state route user host protocol connection server exception:u")},
}

// kinds are columns in short: a name, and u, i or b for what is no text.
func kinds(list string) []Column {
	var out []Column
	for _, f := range strings.Fields(list) {
		name, kind, _ := strings.Cut(f, ":")
		out = append(out, Column{Name: name, Kind: map[string]Kind{"": Text, "u": Uint, "i": Int, "b": Bool}[kind], Null: true})
	}
	return out
}

// sourceTable is the table of a source, nil if the process has no such source.
func (p *Process) sourceTable(s *sourceColumns) *Table {
	i := slices.IndexFunc(p.Sources, func(q query.Source) bool { return q.Name == s.source })
	if i < 0 {
		return nil
	}
	q := &p.Sources[i]
	t := &Table{Name: s.source, Summary: s.summary}
	var at []int // in the source, of each column
	for _, c := range s.columns {
		k := slices.IndexFunc(q.Columns, func(q query.Column) bool { return q.Name == c.Name })
		if k < 0 {
			continue
		}
		c.Summary = q.Columns[k].Summary
		t.Columns, at = append(t.Columns, c), append(at, k)
	}
	t.rows = func(ctx context.Context, w *writer) error {
		for row, err := range q.Rows(ctx) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				w.missing(err)
				continue
			}
			for c, k := range at {
				w.batch.cell(c, &row[k])
			}
			if err := w.next(); err != nil {
				return err
			}
		}
		return nil
	}
	return t
}

// cell appends a value of a query.
func (b *Batch) cell(i int, v *query.Value) {
	text, plain := v.Plain()
	switch {
	case !plain:
		b.null(i)
	case b.t.Columns[i].Kind == Text:
		b.text(i, text)
	case v.Kind() == query.KindText || v.Kind() == query.KindFloat || v.Kind() == query.KindDecimal:
		b.null(i)
	default:
		b.num(i, uint64(v.Addr()))
	}
}

// stackTable has the different stacks of threads, by a hash of their methods.
func (p *Process) stackTable() *Table {
	return &Table{Name: "stacks", Summary: "the different stacks of managed threads", rows: p.stackRows, Columns: []Column{
		{Name: "signature", Kind: Text, Summary: "of the managed methods: the same across dumps"},
		{Name: "threads", Kind: Uint, Summary: "how many threads have it"},
		{Name: "top", Kind: Text, Null: true, Summary: "the innermost method"},
		{Name: "frames", Kind: Text, Summary: "the managed methods, the innermost first, with semicolons between"},
	}}
}

func (p *Process) stackRows(ctx context.Context, w *writer) error {
	i := slices.IndexFunc(p.Sources, func(q query.Source) bool { return q.Name == "frames" })
	if i < 0 {
		return errNothing
	}
	q := &p.Sources[i]
	thread := slices.IndexFunc(q.Columns, func(c query.Column) bool { return c.Name == "thread" })
	name := slices.IndexFunc(q.Columns, func(c query.Column) bool { return c.Name == "name" })
	kind := slices.IndexFunc(q.Columns, func(c query.Column) bool { return c.Name == "kind" })
	stacks, order := map[string]uint64{}, []string(nil)
	var frames []string
	last := ""
	end := func() {
		if len(frames) > 0 {
			key := strings.Join(frames, ";")
			if stacks[key]++; stacks[key] == 1 {
				order = append(order, key)
			}
		}
		frames = frames[:0]
	}
	for row, err := range q.Rows(ctx) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			w.missing(err)
			continue
		}
		if id, _ := row[thread].Plain(); id != last {
			end()
			last = id
		}
		if k, _ := row[kind].Plain(); k != answer.FrameManaged {
			continue // the runtime's own frames come and go with its versions
		}
		if text, known := row[name].Plain(); known {
			frames = append(frames, strings.ReplaceAll(text, ";", ","))
		} else {
			frames = append(frames, "?")
		}
	}
	end()
	slices.Sort(order)
	for _, key := range order {
		top, _, _ := strings.Cut(key, ";")
		w.batch.text(0, summary.Signature("stack", key))
		w.batch.num(1, stacks[key])
		w.batch.textOrNull(2, top)
		w.batch.text(3, key)
		if err := w.next(); err != nil {
			return err
		}
	}
	return nil
}
