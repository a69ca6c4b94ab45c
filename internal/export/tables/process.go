package tables

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/signature"
	"github.com/sosgo/sosgo/query"
)

type dumpRow struct {
	Schema      uint64            `row:"schema" doc:"version of the tables and their columns"`
	Tool        query.Opt[string] `row:"tool" doc:"version of sosgo that wrote them"`
	ID          string            `row:"id" doc:"hash of the dump's content"`
	Dump        string            `row:"dump" doc:"name of the file"`
	Process     query.Opt[string] `row:"process" doc:"executable or command line"`
	PID         query.Opt[uint64] `row:"pid" doc:"process id"`
	Time        query.Opt[string] `row:"time" doc:"when the dump was written (RFC 3339, UTC)"`
	TimeFrom    query.Opt[string] `row:"time_from" doc:"where time is from: dump (recorded in it), file (its last modification, which a copy may change) or option"`
	Labels      query.Opt[string] `row:"labels" doc:"labels that were given, as an object of JSON"`
	System      query.Opt[string] `row:"system" doc:"operating system and processor"`
	Runtime     query.Opt[string] `row:"runtime" doc:"version of the runtime"`
	Crashed     query.Opt[bool]   `row:"crashed" doc:"whether the dump records a crash; null if what would record it can't be read"`
	Reason      query.Opt[string] `row:"reason" doc:"what ended the process, or that the dump has no record of an end"`
	Exception   query.Opt[string] `row:"exception" doc:"type of the exception that ended it"`
	Message     query.Opt[string] `row:"message" doc:"message of the exception"`
	TopFrame    query.Opt[string] `row:"top_frame" doc:"the innermost frame of the program itself"`
	Signature   query.Opt[string] `row:"signature" doc:"signature of the crash, across dumps"`
	Strength    query.Opt[string] `row:"signature_strength" doc:"strong, or weak: the same crash may have another signature elsewhere"`
	Version     query.Opt[uint64] `row:"signature_version" doc:"version of the algorithm of the signature; those of different versions are not comparable"`
	Parts       query.Opt[string] `row:"signature_parts" doc:"what the signature is made of: the exception or signal, then frames, separated by semicolons"`
	Rules       query.Opt[string] `row:"signature_rules" doc:"hash of the rules that the signature is made by; null for the default; those of different rules are not comparable"`
	LiveObjects query.Opt[uint64] `row:"live_objects" doc:"live objects"`
	LiveSize    query.Opt[uint64] `row:"live_size" doc:"their bytes"`
	GarbageSize query.Opt[uint64] `row:"garbage_size" doc:"bytes of the objects that nothing keeps alive"`
	Threads     query.Opt[uint64] `row:"threads" doc:"number of threads that the OS runs"`
}

// dumpTable returns the table that describes the dump in one row.
func (p *Input) dumpTable() *Table {
	return rowTable("dump", "the dump, in one row: the answer of the command summarize", func(_ context.Context, _ *writer, add func(dumpRow) error) error {
		return add(p.dumpRow())
	})
}

// schema is the version of the tables. In 1, CSV and NDJSON had generations and addresses as numbers, and there
// was no column schema. 2 had no column dump_id in the tables of fleets, and no table crash.
const schema = 3

func (p *Input) dumpRow() dumpRow {
	s := p.Summary
	row := dumpRow{
		Schema: schema, Tool: textOrNull(p.Tool), ID: s.ID, Dump: s.Dump, Process: textOrNull(s.Process), PID: query.SomeIf(uint64(s.PID), s.PID != 0), System: textOrNull(s.System),
		Runtime: textOrNull(s.Runtime), Crashed: query.SomeIf(s.Crashed, s.Crashed || s.Reason != "" && !s.Undecided), Reason: textOrNull(s.Reason), Exception: textOrNull(s.Exception),
		Message: textOrNull(s.Message), TopFrame: textOrNull(s.Top), Signature: textOrNull(s.Signature),
		Strength: textOrNull(s.SignatureStrength), Version: query.SomeIf(uint64(s.SignatureVersion), s.SignatureVersion != 0),
		Parts:       textOrNull(strings.Join(s.SignatureParts, "; ")),
		Rules:       textOrNull(s.SignatureRules),
		LiveObjects: numberOrNull(s.Objects), LiveSize: numberOrNull(s.Size), GarbageSize: numberOrNull(s.Garbage),
	}
	if s.Time != nil {
		row.Time = query.Some(s.Time.UTC().Format(time.RFC3339))
	}
	row.TimeFrom = textOrNull(p.TimeFrom)
	if len(p.Labels) > 0 {
		if labels, err := json.Marshal(p.Labels); err == nil { // sorted by name
			row.Labels = query.Some(string(labels))
		}
	}
	if s.Threads != nil {
		row.Threads = query.Some(uint64(*s.Threads))
	}
	return row
}

// numberOrNull returns a column with *n, or null if n is nil.
func numberOrNull(n *uint64) query.Opt[uint64] {
	if n == nil {
		return query.Opt[uint64]{}
	}
	return query.Some(*n)
}

// textOrNull returns a column with s, or null if s is empty.
func textOrNull[S ~string](s S) query.Opt[string] { return query.SomeIf(string(s), s != "") }

type findingRow struct {
	Kind      string             `row:"kind" doc:"crash, the kind of a suspect of the command leaks, or the kind of one of the first findings of the command triage"`
	Verdict   query.Opt[string]  `row:"verdict" doc:"suspect or notable"`
	Signature string             `row:"signature" doc:"the same across dumps; empty for findings that have none"`
	Strength  query.Opt[string]  `row:"signature_strength" doc:"strong, or weak: the same finding may have another signature elsewhere"`
	Version   query.Opt[uint64]  `row:"signature_version" doc:"version of the algorithm of the signature; those of different versions are not comparable"`
	Parts     query.Opt[string]  `row:"signature_parts" doc:"what the signature is made of, separated by semicolons"`
	What      query.Opt[string]  `row:"what" doc:"the exception, the type of what holds the memory, or the finding in words"`
	Members   query.Opt[string]  `row:"members" doc:"type of the objects of which there are many"`
	Root      query.Opt[string]  `row:"root" doc:"what keeps it alive, or the frame of a crash"`
	Retained  query.Opt[uint64]  `row:"retained" doc:"bytes that would be freed with it"`
	Share     query.Opt[float64] `row:"share" doc:"that in percent of the live bytes"`
}

// signed returns the row with a signature.
func (r findingRow) signed(id *answer.Identity) findingRow {
	r.Signature, r.Strength = id.Signature, textOrNull(id.SignatureStrength)
	r.Version, r.Parts = query.SomeIf(uint64(id.SignatureVersion), id.SignatureVersion != 0), textOrNull(strings.Join(id.SignatureParts, "; "))
	return r
}

// suspectTable returns the table of findings: the crash, and the largest holders of the heap.
func (p *Input) suspectTable() *Table {
	return rowTable("findings", "what was found: the crash, the largest holders of the heap, and the first findings of triage", p.findingRows)
}

func (p *Input) findingRows(_ context.Context, _ *writer, add func(findingRow) error) error {
	if s := p.Summary; s.Crashed {
		crash := findingRow{Kind: "crash", What: textOrNull(s.Exception), Root: textOrNull(s.Top)}
		if err := add(crash.signed(&s.Identity)); err != nil {
			return err
		}
	}
	for _, x := range p.Summary.Suspects {
		row := findingRow{
			Kind: string(x.Kind), Verdict: textOrNull(x.Verdict), What: textOrNull(x.Type), Members: textOrNull(x.Members),
			Root: textOrNull(x.Root), Retained: query.Some(x.Retained), Share: query.Some(x.Share),
		}
		if err := add(row.signed(&x.Identity)); err != nil {
			return err
		}
	}
	for _, f := range p.Summary.Findings {
		if f.Kind == answer.FindingCrash || f.Kind == answer.FindingHolder {
			continue // in the rows above
		}
		row := findingRow{Kind: string(f.Kind), What: textOrNull(f.Text)}
		if err := add(row.signed(&f.Identity)); err != nil {
			return err
		}
	}
	return nil
}

// sourceTables names the sources with a table of the same name. The table has all columns of the source; any
// value may be null.
var sourceTables = []string{"threads", "frames", "roots", "handles", "statics", "tasks", "requests"}

// source returns the source with a name, or nil.
func (p *Input) source(name string) *query.Source {
	i := slices.IndexFunc(p.Sources, func(s query.Source) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &p.Sources[i]
}

func sourceTable(s *query.Source) *Table {
	t := &Table{Name: s.Name, Summary: s.Summary}
	for i := range s.Columns {
		t.Columns = append(t.Columns, Column{Name: s.Columns[i].Name, Kind: sourceKind(&s.Columns[i]), Null: true, Summary: s.Columns[i].Summary})
	}
	t.rows = func(ctx context.Context, w *writer) error {
		for row, err := range s.Rows(ctx) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				w.noteMissing(err)
				continue
			}
			for i := range row {
				w.batch.cell(i, &row[i])
			}
			if err := w.next(); err != nil {
				return err
			}
		}
		return nil
	}
	return t
}

// sourceKind returns the kind of a source's column in a table. Several kinds become text.
func sourceKind(c *query.Column) Kind {
	switch c.Kind {
	case query.KindBool:
		return Bool
	case query.KindInt:
		return Int
	case query.KindUint, query.KindObject:
		if c.Hex {
			return Address
		}
		return Uint
	case query.KindFloat:
		return Float
	}
	return Text
}

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

type stackRow struct {
	Signature string            `row:"signature" doc:"hash of the managed methods, the same across dumps"`
	Threads   uint64            `row:"threads" doc:"number of threads with this stack"`
	Top       query.Opt[string] `row:"top" doc:"the innermost method"`
	Frames    string            `row:"frames" doc:"the managed methods, the innermost first, separated by semicolons"`
}

// stackTable returns the table of distinct stacks of threads, by a hash of their methods.
func (p *Input) stackTable() *Table {
	return rowTable("stacks", "the different stacks of managed threads", p.stackRows)
}

func (p *Input) stackRows(ctx context.Context, w *writer, add func(stackRow) error) error {
	q := p.source("frames")
	if q == nil {
		return errNothing
	}
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
			w.noteMissing(err)
			continue
		}
		if id, _ := row[thread].Plain(); id != last {
			end()
			last = id
		}
		if k, _ := row[kind].Plain(); k != string(answer.FrameManaged) {
			continue // the runtime's own frames differ between its versions
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
		err := add(stackRow{Signature: signature.Of("stack", key), Threads: stacks[key], Top: textOrNull(top), Frames: key})
		if err != nil {
			return err
		}
	}
	return nil
}
