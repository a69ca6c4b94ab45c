package commands

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/report"
)

func staticsCommand() cli.Command {
	return cli.Command{
		Name: "statics", Group: cli.GroupTypes,
		Summary: "list static fields with their values",
		Help: "A type counts when its name contains the pattern, in any case. Thread statics are listed once a thread. A field of a\n" +
			"class whose constructor has not run is `<not initialised>`.",
		Options: []cli.Option{
			{Name: "all", Kind: cli.Bool, Summary: "of all types"},
			{Name: "type", Kind: cli.TypeName, Summary: "as the pattern"},
			{Name: "refs", Kind: cli.Bool, Summary: "only fields that refer to an object"},
		},
		Args: []cli.Arg{{Name: "pattern", Kind: cli.TypeName, Optional: true, Summary: "part of the declaring type's name"}},
		Examples: []cli.Example{
			{Line: "statics Cache", Text: "static fields of the types with Cache in their name"},
			{Line: "statics -all -refs", Text: "every object that a static field holds"},
		},
		Result:    []report.Part{report.ListOf[staticItem]("")},
		NeedsDump: true,
		Run:       runStatics,
	}
}

// A staticItem is one static field, of a thread static one for each thread.
type staticItem struct {
	DeclaringType string          `json:"declaringType" doc:"type that declares the field"`
	MethodTable   report.Address  `json:"methodTable" doc:"its MethodTable"`
	Name          string          `json:"name" doc:"name of the field"`
	Type          string          `json:"type" doc:"its declared type"`
	Kind          string          `json:"kind" doc:"\"static\", \"threadStatic\" or \"rva\": stored in the module's image"`
	Thread        uint32          `json:"osThread,omitempty" doc:"OS id of the thread of a thread static"`
	Address       *report.Address `json:"address,omitempty" doc:"where it is stored"`
	Value         any             `json:"value,omitempty" doc:"as the value of a field"`
	Text          string          `json:"text,omitempty" doc:"the value on one line, where that says more"`
	Missing       string          `json:"missing,omitempty" doc:"why there is no value"`
}

// A staticsLister prints the statics of many types.
type staticsLister struct {
	*objectPrinter
	refs bool
}

func runStatics(c *cli.Context) error {
	p, err := newObjectPrinter(c)
	if err != nil {
		return err
	}
	pattern := patternOf(c)
	if s, ok := c.Str("type"); ok {
		pattern = typePattern(s)
	}
	if pattern == "" && !c.Bool("all") {
		return c.Usagef("name a type, or give -all")
	}
	if c.JSON() != nil {
		if err := c.JSON().List(""); err != nil {
			return err
		}
	}
	l := staticsLister{p, c.Bool("refs")}
	for mt, err := range p.rt.LoadedTypes() {
		if c.Context().Err() != nil {
			return c.Context().Err()
		}
		if err != nil {
			c.Warn(err)
			continue
		}
		if mt.IsArray() || mt.IsOpen() || mt.IsShared() {
			continue
		}
		if err := l.typeStatics(mt, pattern); err != nil {
			return err
		}
	}
	return nil
}

// typeStatics lists the statics of one type, if the pattern chooses it.
func (l *staticsLister) typeStatics(mt *dac.MethodTable, pattern typePattern) error {
	if class, err := l.rt.EEClass(mt); err != nil || class.NumStaticFields == 0 {
		if err != nil {
			l.c.Warn(err)
		}
		return nil
	}
	name, err := l.rt.TypeName(mt.Addr, dac.NameManaged)
	name = textOr(l.c, name, err)
	if !pattern.match(name) {
		return nil
	}
	t, err := l.r.Type(mt.Addr)
	if err != nil {
		l.c.Warn(err)
		return nil
	}
	fields, err := t.OwnFields()
	if err != nil {
		l.c.Warn(err)
	}
	for _, f := range fields {
		if !f.Static {
			continue
		}
		if err := l.field(name, f); err != nil {
			return err
		}
	}
	return nil
}

func (l *staticsLister) field(declaring string, f *objects.Field) error {
	if !f.Thread {
		return l.one(declaring, f, f.StaticValue(), 0)
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
		if err := l.one(declaring, f, s, threads[i].OSID); err != nil {
			return err
		}
	}
	return nil
}

func (l *staticsLister) one(declaring string, f *objects.Field, s objects.Static, thread uint32) error {
	if l.refs && (s.Err != nil || s.Slot == 0 || s.Stored.Kind() != objects.KindReference || s.Stored.IsNull()) {
		return nil
	}
	if l.c.JSON() != nil {
		return l.c.JSON().Item("", l.item(declaring, f, s, thread))
	}
	ft := l.fieldTable(0, false)
	value, note := ft.staticText(s)
	if thread != 0 {
		note = strings.TrimSpace(fmt.Sprintf("(thread %x) %s", thread, note))
	}
	if note != "" {
		note = " = " + report.Escape(note)
	}
	l.out.printf("%16s %16s %s.%s%s\n", report.Hex16(s.Slot), value, report.Escape(declaring), report.Escape(f.Name), note)
	return nil
}

func (l *staticsLister) item(declaring string, f *objects.Field, s objects.Static, thread uint32) staticItem {
	typ, err := f.TypeName(dac.NameManaged)
	item := staticItem{DeclaringType: declaring, MethodTable: report.Address(f.Declaring.MT.Addr), Name: f.Name,
		Type: textOr(l.c, typ, err), Kind: "static", Thread: thread}
	switch {
	case f.Thread:
		item.Kind = "threadStatic"
	case f.RVA:
		item.Kind = "rva"
	}
	switch {
	case s.Err != nil:
		l.c.Warn(s.Err)
		item.Missing = s.Err.Error()
	case s.State != dac.StaticReady && s.State != dac.StaticUnknown:
		item.Missing = "not initialised"
	default:
		at := report.Address(s.Slot)
		item.Address = &at
		item.Value, item.Text, item.Missing = l.jsonValue(s.Stored)
	}
	return item
}
