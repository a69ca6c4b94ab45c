package ondumps_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// faultDumps has one dump for each kind of layout.
var faultDumps = []string{"net10-zoo", "net9-zoo", "net8-zoo", "net31-zoo", "win-net10-zoo", "win-net8-zoo"}

// text returns the JSON form of an answer, without addresses of the test process.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// TestFaults calls all functions of a runtime while parts of the dump are missing or garbage.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the same thousands of times")
	}
	for _, name := range faultDumps {
		t.Run(name, func(t *testing.T) {
			d := testdump.Open(t, name)
			t.Run("types", func(t *testing.T) {
				testdump.Faults(t, name, 24, func(rt *dac.Runtime, a *testdump.Answers) { askTypes(d, rt, a) })
			})
			t.Run("statics", func(t *testing.T) {
				testdump.Faults(t, name, 24, func(rt *dac.Runtime, a *testdump.Answers) { askStatics(d, rt, a) })
			})
			t.Run("threads", func(t *testing.T) { testdump.Faults(t, name, 24, askThreads) })
			t.Run("modules", func(t *testing.T) { testdump.Faults(t, name, 24, askModules) })
			t.Run("loader", func(t *testing.T) { testdump.Faults(t, name, 16, askLoader) })
		})
	}
}

func askTypes(d *testdump.Dump, rt *dac.Runtime, a *testdump.Answers) {
	for _, fact := range d.Manifest.Types() {
		mt, err := rt.MethodTable(fact.Addr)
		a.Add(fact.Name, fact.Addr, err)
		if err != nil {
			continue
		}
		for _, style := range []dac.NameStyle{dac.NameNative, dac.NameManaged} {
			s, err := rt.TypeName(mt.Addr, style)
			a.Add(fmt.Sprint(fact.Name, " name ", style), s, err)
		}
		fields, err := rt.Fields(mt)
		a.Add(fact.Name+" fields", fields, err)
		interfaces, err := rt.Interfaces(mt)
		a.Add(fact.Name+" interfaces", interfaces, err)
		args, err := rt.TypeArguments(mt)
		a.Add(fact.Name+" arguments", args, err)
		if mt.IsArray() {
			rank, err := rt.ArrayRank(mt)
			a.Add(fact.Name+" rank", rank, err)
		}
		loader, err := rt.LoaderModule(mt)
		a.Add(fact.Name+" loader", loader, err)
		allocator, err := rt.LoaderAllocatorObject(mt)
		a.Add(fact.Name+" allocator", allocator, err)
	}
}

func askStatics(d *testdump.Dump, rt *dac.Runtime, a *testdump.Answers) {
	threads, err := rt.Threads()
	a.Add("threads", len(threads), err)
	for _, fact := range d.Manifest.Types() {
		mt, err := rt.MethodTable(fact.Addr)
		if err != nil || mt.IsOpen() {
			a.Add(fact.Name, "open", err)
			continue
		}
		fields, err := rt.Fields(mt)
		a.Add(fact.Name, len(fields), err)
		for i := range fields {
			f := &fields[i]
			name := fmt.Sprint(fact.Name, " ", f.Token)
			switch {
			case !f.Static:
			case f.Thread:
				for j := range threads {
					at, err := rt.ThreadStaticField(mt, f, &threads[j])
					a.Add(fmt.Sprint(name, " of thread ", threads[j].Addr), at, err)
				}
			default:
				at, err := rt.StaticField(mt, f)
				if err == nil && at.State == dac.StaticUnknown {
					err = target.ErrNotInDump
				}
				a.Add(name, at, err)
			}
		}
	}
}

func askThreads(rt *dac.Runtime, a *testdump.Answers) {
	counts, err := rt.ThreadCounts()
	a.Add("counts", counts, err)
	threads, err := rt.Threads()
	a.Add("threads", len(threads), err)
	for i := range threads {
		th := &threads[i]
		of := fmt.Sprint(" of ", th.Addr)
		name, err := rt.ThreadName(th)
		a.Add("name"+of, name, err)
		current, err := rt.CurrentException(th)
		a.Add("exception"+of, current, err)
		nested, err := rt.NestedExceptions(th)
		a.Add("nested"+of, nested, err)
		for _, x := range append(nested, current) {
			if x == 0 {
				continue
			}
			e, err := rt.Exception(x)
			if err != nil {
				a.Add(fmt.Sprint("exception ", x), nil, err)
				continue
			}
			frames, err := rt.StackTrace(&e)
			a.Add(fmt.Sprint("trace ", x), frames, err)
		}
		n := 0
		for f, err := range rt.Frames(th) {
			a.Add(fmt.Sprint("frame ", n, of), f, err)
			n++
			if err != nil {
				break
			}
			md, err := rt.FrameMethod(&f)
			a.Add(fmt.Sprint("method of frame ", f.Addr), md, err)
			slots, interior, err := rt.Protected(&f)
			a.Add(fmt.Sprint("protected by ", f.Addr), fmt.Sprint(slots, interior), err)
		}
	}
	for b, err := range rt.SyncBlocks() {
		a.Add(fmt.Sprint("sync block ", b.Index), b, err)
	}
}

func askModules(rt *dac.Runtime, a *testdump.Answers) {
	modules, err := rt.Modules()
	a.Add("modules", len(modules), err)
	for i, m := range modules {
		s, err := rt.DescribeAssembly(m.Assembly)
		if err == nil {
			err = errors.Join(s.Noted()...)
		}
		a.Add(fmt.Sprint("assembly ", m.Addr), text(s), err)
		name, err := m.SimpleName()
		a.Add(fmt.Sprint("name ", m.Addr), name, err)
		path, err := m.Path()
		a.Add(fmt.Sprint("path ", m.Addr), path, err)
		context, err := m.LoadContext()
		a.Add(fmt.Sprint("context ", m.Addr), context, err)
		if i < 3 {
			details, err := rt.DescribeModule(m.Addr, dac.ModuleOptions{Types: true})
			if err == nil {
				err = errors.Join(append(details.Noted(), unreadRow(details.Types), unreadRow(details.References))...)
			}
			a.Add(fmt.Sprint("module ", m.Addr), text(details), err)
		}
	}
}

// unreadRow returns the first error of a list.
func unreadRow(list iter.Seq2[answer.ModuleType, error]) error {
	if list == nil {
		return nil
	}
	for row, err := range list {
		if err = cmp.Or(err, row.Name.Err); err != nil {
			return err
		}
	}
	return nil
}

func askLoader(rt *dac.Runtime, a *testdump.Answers) {
	domain, err := rt.AppDomain()
	a.Add("domain", domain, err)
	heaps, err := rt.LoaderHeaps()
	if err == nil {
		err = errors.Join(heaps.Noted()...)
	}
	a.Add("heaps", text(heaps), err)
	domains, err := rt.DescribeDomains()
	if err != nil {
		a.Add("domains", nil, err)
		return
	}
	for d, err := range domains {
		if err != nil {
			a.Add("domains", nil, err)
			continue
		}
		a.Add(fmt.Sprint("domain ", d.Kind), text(d), errors.Join(d.Noted()...))
	}
}
