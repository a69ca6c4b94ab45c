package objects

import (
	"context"
	"iter"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/secrets"
)

// StaticsOptions selects static fields. The zero value selects all.
type StaticsOptions struct {
	Type       string `opt:"type" kind:"type" help:"part of the declaring type's name"`
	References bool   `opt:"refs" help:"only fields that refer to an object"`
}

// Statics lists the static fields of the loaded types. A thread static has one row for each thread that has used it,
// which has only the ids of the thread. The list has the missing parts of a field as errors before the field.
func (r *Reader) Statics(ctx context.Context, o StaticsOptions) iter.Seq2[answer.StaticField, error] {
	return func(yield func(answer.StaticField, error) bool) {
		l := staticsLister{refs: o.References, pattern: strings.ToLower(o.Type), yield: yield}
		l.describer = describer{r: r, mask: secrets.MaskOf(ctx), note: func(err error) { l.emit(answer.StaticField{}, err) }}
		for mt, err := range r.Runtime().LoadedTypes() {
			switch {
			case ctx.Err() != nil:
				l.emit(answer.StaticField{}, ctx.Err())
				return
			case err != nil:
				l.note(err)
			case !mt.IsArray() && !mt.IsOpen() && !mt.IsShared():
				l.listType(mt)
			}
			if l.ended {
				return
			}
		}
	}
}

type staticsLister struct {
	describer
	refs    bool
	pattern string // lower case
	yield   func(answer.StaticField, error) bool
	ended   bool // the caller has stopped the list
}

func (l *staticsLister) emit(f answer.StaticField, err error) { l.ended = l.ended || !l.yield(f, err) }

// listType lists the statics of one type if the pattern selects it.
func (l *staticsLister) listType(mt *dac.MethodTable) {
	class, err := l.r.Runtime().EEClass(mt)
	if err != nil {
		l.note(err)
		return
	}
	if class.NumStaticFields == 0 {
		return
	}
	name := l.text(l.r.Runtime().TypeName(mt.Addr, dac.NameManaged))
	if !strings.Contains(strings.ToLower(name.String()), l.pattern) {
		return
	}
	t, err := l.r.TrustedType(mt.Addr)
	if err != nil {
		l.note(err)
		return
	}
	fields, err := t.ownFields()
	if err != nil {
		l.note(err)
	}
	for _, f := range fields {
		if f.Static {
			l.field(name, f)
		}
	}
}

func (l *staticsLister) field(declaring answer.Text, f *Field) {
	if !f.Thread {
		l.emitField(declaring, f, f.StaticValue(), nil)
		return
	}
	threads := l.managedThreads()
	for i := range threads {
		if threads[i].OSID == 0 {
			continue
		}
		s := f.ThreadStatic(&threads[i])
		if s.Err == nil && s.State == dac.StaticNotInitialized {
			continue // the thread never used it
		}
		l.emitField(declaring, f, s, &threads[i])
	}
}

func (l *staticsLister) emitField(declaring answer.Text, f *Field, s Static, thread *dac.Thread) {
	if l.refs && (s.Err != nil || s.Slot == 0 || s.Stored.Kind() != KindReference || s.Stored.IsNull()) {
		return
	}
	row := answer.StaticField{DeclaringType: declaring, MethodTable: f.Declaring.MT.Addr, Name: f.name(),
		Kind: answer.FieldStatic}
	if thread != nil {
		row.Thread = &answer.Thread{OSID: thread.OSID, ManagedID: thread.ManagedID, Thread: thread.Addr}
	}
	row.Type = l.text(f.TypeName(dac.NameManaged))
	switch {
	case f.Thread:
		row.Kind = answer.FieldThreadStatic
	case f.RVA:
		row.Kind = answer.FieldRVA
	}
	row.Place = l.static(s)
	if !l.ended {
		l.emit(row, nil)
	}
}
