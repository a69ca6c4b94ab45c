package ondumps_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// faultyMethods bounds the methods of a sweep.
const faultyMethods = 20

// TestCodeFaults describes methods and their code while parts of the dump are missing or garbage.
func TestCodeFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the same thousands of times")
	}
	for _, name := range []string{"net10-zoo", "net9-zoo", "net8-zoo", "net31-zoo", "win-net10-zoo", "win-net8-zoo"} {
		d := testdump.Open(t, name)
		t.Run(name, func(t *testing.T) {
			testdump.Faults(t, name, 60, func(rt *dac.Runtime, a *testdump.Answers) { askMethods(d, rt, a) }, dac.ErrNoCode, dac.ErrNoIL)
		})
	}
}

// add adds an answer in its JSON form, which has no addresses of the test process. Noted gaps become an error.
func add(a *testdump.Answers, name string, v interface{ Noted() []error }, err error) {
	if err == nil {
		err = errors.Join(v.Noted()...)
	}
	b, jerr := json.Marshal(v)
	a.Add(name, string(b), errors.Join(err, jerr))
}

func askMethods(d *testdump.Dump, rt *dac.Runtime, a *testdump.Answers) {
	r := dac.CodeOf(rt)
	sections, err := r.RangeSections()
	a.Add("sections", len(sections), err)
	n := 0
	for _, fact := range d.Manifest.Types() {
		mt, err := rt.MethodTable(fact.Addr)
		if err != nil {
			a.Add(fact.Name, nil, err)
			continue
		}
		for m, err := range r.Methods(mt) {
			if n++; n > faultyMethods {
				return
			}
			if err != nil {
				a.Add(fmt.Sprint("methods of ", fact.Name), nil, err)
				continue
			}
			askMethod(r, m, a)
		}
	}
}

func askMethod(r *dac.CodeReader, m *dac.MethodDesc, a *testdump.Answers) {
	of := fmt.Sprint(" of ", m.Addr)
	name, err := r.MethodName(m, dac.MethodFull)
	a.Add("name"+of, name, err)
	entry, err := r.MethodEntry(m)
	a.Add("entry"+of, entry, err)
	body, err := r.IL(m)
	a.Add("IL"+of, fmt.Sprint(len(body.Code), body.MaxStack, len(body.Clauses)), err)
	start, err := r.NativeCode(m)
	a.Add("code"+of, start, err)
	if err != nil || start == 0 {
		return
	}
	info, err := r.MethodAt(start)
	a.Add("extent"+of, fmt.Sprint(info.Start, info.Size, info.Kind), err)
	if err != nil {
		return
	}
	functions, err := r.Functions(info)
	a.Add("functions"+of, functions, err)
	il, err := r.ILMap(info)
	a.Add("IL map"+of, il, err)
	variables, err := r.Variables(info)
	a.Add("variables"+of, variables, err)
	handlers, err := r.DescribeHandlers(start)
	if err == nil {
		handlers.Details = nil // its tier is a guess without the attributes
	}
	add(a, "handlers"+of, handlers, err)
	gc, err := r.DescribeGCInfo(start)
	add(a, "GC info"+of, gc, err)
}
