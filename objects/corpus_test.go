package objects_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// corpus calls f for each row of a section of the oracle, in every case that has a runtime. f counts what it compares.
func corpus[T any](t *testing.T, section string, f func(r *objects.Reader, s *score, row T)) {
	testdump.CorpusRuntimes(t, func(t *testing.T, d *testdump.Dump) int {
		r, err := d.Objects()
		require.NoError(t, err)
		s := score{t: t}
		for _, row := range testcase.Oracle[T](t, d.Case, section) {
			f(r, &s, row)
		}
		t.Logf("%d right, %d wrong", s.good, s.bad)
		if s.good+s.bad == 0 {
			t.Skipf("the oracle makes no statement about %s that the dump can be held to", section)
		}
		return s.good + s.bad
	})
}

func number(s string) target.Addr {
	n, _ := strconv.ParseUint(s, 0, 64)
	return target.Addr(n)
}

// A score counts agreements with the oracle.
type score struct {
	t         *testing.T
	good, bad int
}

func (s *score) want(ok bool, format string, args ...any) {
	if ok {
		s.good++
		return
	}
	if s.bad++; s.bad < 8 {
		s.t.Errorf(format, args...)
	}
}

type fieldRow struct {
	MT, Type, Kind, Name, Token, ElementType, FieldType, Containing string
	Offset                                                          int
	Attributes                                                      string
	Initialized                                                     *bool
	Domain, Address                                                 string
	OSID                                                            uint32
	Value                                                           json.RawMessage
}

// TestFields compares each field's place, name and type with the oracle's.
func TestFields(t *testing.T) {
	corpus(t, "fields", func(r *objects.Reader, s *score, row fieldRow) {
		typ, err := r.Type(number(row.MT))
		if err != nil {
			s.want(false, "%s %s: %v", row.MT, row.Type, err)
			return
		}
		fields, err := typ.Fields()
		if err != nil && !errors.Is(err, target.ErrNotInDump) {
			s.want(false, "%s %s: %v", row.MT, row.Type, err)
			return
		}
		f := find(fields, row)
		if f == nil {
			s.want(false, "%s.%s is missing", row.Type, row.Name)
			return
		}
		s.want(int(f.Offset) == row.Offset && strconv.FormatUint(uint64(f.Attributes), 16) == strings.TrimPrefix(row.Attributes, "0x"),
			"%s.%s: offset %#x attributes %#x, want %#x %s", row.Type, row.Name, f.Offset, f.Attributes, row.Offset, row.Attributes)
		if row.FieldType == "" || strings.Contains(row.FieldType, "Unknown") || strings.HasPrefix(row.FieldType, "error") {
			return
		}
		name, err := f.TypeName(dac.NameManaged)
		s.want(sameType(name, row.FieldType, f), "%s.%s: type %q %v, want %q", row.Type, row.Name, name, err, row.FieldType)
	})
}

// find returns the field with a row's token and kind.
func find(fields []*objects.Field, row fieldRow) *objects.Field {
	for _, f := range fields {
		if target.Addr(f.Token) == number(row.Token) && f.Name == row.Name && f.Static == (row.Kind != "instance") {
			return f
		}
	}
	return nil
}

// sameType reports whether a name is the oracle's. The oracle names types by the instance that shared code uses, gives
// the arguments of an outer type to an inner one, and replaces a type that is not loaded by another type or a word.
func sameType(name, want string, f *objects.Field) bool {
	switch {
	case name == want, strings.Contains(want, ",,,,"), strings.Contains(want, "__Canon"), strings.Contains(want, "`"), strings.Contains(name, "?"),
		strings.Contains(name, "<") && strings.Contains(want, "<T"), want == "System.Void", !strings.Contains(want, "."):
		return true
	}
	declaring, err := f.Declaring.ManagedName()
	if err == nil && strings.Contains(declaring, ">+") && f.Signature() != nil && f.Signature().Kind == metadata.ElementVar {
		return true
	}
	th, err := f.TypeHandle()
	return err == nil && (th == 0 || th&2 != 0)
}

// TestStatics compares the state, place and value of each static field with the oracle's.
func TestStatics(t *testing.T) {
	corpus(t, "statics", func(r *objects.Reader, s *score, row fieldRow) {
		if row.Initialized == nil || row.ElementType == "FunctionPointer" {
			return // unknown, or known to be wrong
		}
		typ, err := r.Type(number(row.MT))
		if err != nil {
			s.want(false, "%s %s: %v", row.MT, row.Type, err)
			return
		}
		f, err := typ.StaticField(row.Name)
		if err != nil {
			s.want(false, "%s.%s: %v", row.Type, row.Name, err)
			return
		}
		got := f.StaticValue()
		if f.Thread {
			got = objects.Static{State: dac.StaticNotInitialized}
			threads, _ := r.Runtime().Threads()
			for i := range threads {
				if threads[i].OSID == row.OSID {
					got = f.ThreadStatic(&threads[i])
				}
			}
		}
		switch {
		case got.Err != nil:
			// Windows dumps do not have some flags that the oracle could read.
			s.want(errors.Is(got.Err, target.ErrNotInDump), "%s.%s: %v", row.Type, row.Name, got.Err)
			return
		case !*row.Initialized || typ.MT.IsOpen():
			return // the address of an uninitialised class means nothing
		case f.Thread && got.State == dac.StaticNotInitialized && isZero(row.Value):
			return // the oracle reads zeros for a thread that has not used its statics
		}
		s.want(got.State != dac.StaticNotInitialized && got.Slot == number(row.Address), "%s %s.%s thread %x: state %d at %v, want %s",
			row.MT, row.Type, row.Name, row.OSID, got.State, got.Slot, row.Address)
		if got.State == dac.StaticReady {
			s.want(sameValue(got.Value, row.Value), "%s.%s = %s, want %s", row.Type, row.Name, got.Value.Plain(100), row.Value)
		}
	})
}

func isZero(raw json.RawMessage) bool {
	switch string(raw) {
	case "null", "0", "false", "[]", `"0x0"`:
		return true
	}
	var fields []valueField
	if json.Unmarshal(raw, &fields) != nil {
		return false
	}
	for _, f := range fields {
		if !isZero(f.Value) {
			return false
		}
	}
	return true
}

// sameValue compares a value with the oracle's.
func sameValue(v objects.Value, raw json.RawMessage) bool {
	var want any
	if json.Unmarshal(raw, &want) != nil {
		return true
	}
	switch w := want.(type) {
	case nil:
		return v.IsNull() || v.Err() != nil
	case bool:
		b, err := v.Bool()
		return err == nil && b == w
	case string:
		if !strings.HasPrefix(w, "0x") {
			return true
		}
		bits, err := v.Bits()
		return err == nil && target.Addr(bits) == number(w)
	case map[string]any:
		o, _ := w["object"].(string)
		a, err := v.Addr()
		return err == nil && a == number(o)
	case float64:
		return sameNumber(v, w, string(raw))
	}
	return true // TestValues compares a struct's fields
}

func sameNumber(v objects.Value, f float64, text string) bool {
	switch v.Kind() {
	case objects.KindInt:
		n, err := v.Int()
		return err == nil && strconv.FormatInt(n, 10) == text
	case objects.KindFloat:
		g, err := v.Float()
		return err == nil && (g == f || float32(g) == float32(f) && v.Size() == 4)
	}
	bits, err := v.Bits()
	return err == nil && strconv.FormatUint(bits, 10) == text
}

type valueRow struct {
	Address, MT, Type string
	Fields            json.RawMessage
}

type valueField struct {
	Name, Type, ElementType string
	Offset                  int
	Value                   json.RawMessage
}

// TestValues compares the fields of objects, and of the structs in them, with the oracle's.
func TestValues(t *testing.T) {
	corpus(t, "values", func(r *objects.Reader, s *score, row valueRow) {
		var fields []valueField
		if row.Address == "" || json.Unmarshal(row.Fields, &fields) != nil {
			return
		}
		o, err := r.Object(number(row.Address))
		if err != nil {
			s.want(false, "%s %s: %v", row.Address, row.Type, err)
			return
		}
		compareFields(s, row.Type, o.Type, o.Addr+dac.ObjectHeaderBytes, fields)
	})
}

func compareFields(s *score, name string, typ *objects.Type, data target.Addr, want []valueField) {
	fields, err := typ.Fields()
	if err != nil {
		s.want(false, "%s: %v", name, err)
		return
	}
	for _, w := range want {
		if strings.Contains(w.Type, "<T") {
			continue // the oracle used the definition because it did not find the instance
		}
		var f *objects.Field
		for _, g := range fields {
			if !g.Static && g.Name == w.Name && int(g.Offset) == w.Offset {
				f = g
			}
		}
		if f == nil {
			s.want(false, "%s.%s at %#x is missing", name, w.Name, w.Offset)
			continue
		}
		v := f.At(data)
		var inner []valueField
		if json.Unmarshal(w.Value, &inner) == nil && v.Kind() == objects.KindStruct && w.ElementType == "Struct" {
			st, err := v.Struct()
			if err != nil {
				s.want(len(inner) == 0, "%s.%s: %v", name, w.Name, err)
				continue
			}
			compareFields(s, name+"."+w.Name, st.Type, st.Addr, inner)
			continue
		}
		if string(w.Value) == "[]" {
			continue // a type that the oracle does not know
		}
		s.want(sameValue(v, w.Value), "%s.%s = %s, want %s", name, w.Name, v.Plain(100), w.Value)
	}
}
