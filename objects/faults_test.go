package objects_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// faultyObjects bounds the facts that a sweep uses.
const faultyObjects = 40

// TestFaults describes objects, their types and statics while parts of the dump are missing or random.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the same thousands of times")
	}
	for _, name := range []string{"net10-zoo", "net9-zoo", "net8-zoo", "net31-zoo"} {
		d := testdump.Open(t, name)
		t.Run(name+"/objects", func(t *testing.T) {
			testdump.Faults(t, name, 24, func(rt *dac.Runtime, a *testdump.Answers) { askObjects(t, d, rt, a) })
		})
		t.Run(name+"/types", func(t *testing.T) {
			testdump.Faults(t, name, 24, func(rt *dac.Runtime, a *testdump.Answers) { askTypes(t, d, rt, a) })
		})
	}
}

// add adds an answer in its JSON form, which has no addresses of this process. A gap that the answer notes is an error.
func add(a *testdump.Answers, name string, v interface{ Noted() []error }, err error) {
	if err == nil {
		err = errors.Join(v.Noted()...)
	}
	said, lacks := facts(v)
	a.Add(name, said, errors.Join(err, lacks))
}

// facts returns the JSON form of v, and an error if it reports that a value or its text is missing.
func facts(v any) (string, error) {
	b, _ := json.Marshal(v)
	for _, missing := range []string{`"missing":`, `"text":null`, `"boxed":null`} {
		if strings.Contains(string(b), missing) {
			return string(b), fmt.Errorf("a value is missing: %w", target.ErrNotInDump)
		}
	}
	return string(b), nil
}

func askObjects(t *testing.T, d *testdump.Dump, rt *dac.Runtime, a *testdump.Answers) {
	r := objects.New(rt)
	known := d.Manifest.Objects()
	for i := 0; i < len(known); i += max(1, len(known)/faultyObjects) {
		fact := known[i]
		o, err := r.Describe(t.Context(), fact.Addr, objects.DescribeOptions{})
		add(a, fact.Name, o, err)
		refs, err := r.References(t.Context(), fact.Addr)
		if err != nil {
			a.Add(fact.Name+" references", nil, err)
			continue
		}
		for ref, err := range refs {
			said, lacks := facts(ref)
			a.Add(fmt.Sprint(fact.Name, " reference at ", ref.Offset), said, errors.Join(err, ref.Type.Err, ref.Field.Err, lacks))
		}
	}
}

func askTypes(t *testing.T, d *testdump.Dump, rt *dac.Runtime, a *testdump.Answers) {
	r := objects.New(rt)
	for _, fact := range d.Manifest.Types() {
		typ, err := r.DescribeType(fact.Addr, objects.TypeOptions{Methods: true, Fields: true})
		add(a, fact.Name, typ, err)
	}
	for s, err := range r.Statics(t.Context(), objects.StaticsOptions{Type: "debuggee"}) {
		said, lacks := facts(s)
		a.Add(fmt.Sprint("static ", s.MethodTable, s.Name, s.Thread), said, errors.Join(err, s.Name.Err, s.Type.Err, lacks))
	}
}
