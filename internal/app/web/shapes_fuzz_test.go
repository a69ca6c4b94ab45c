package web_test

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/flows"
	"github.com/sosgo/sosgo/internal/app/hosting"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/app/sqlpools"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/app/web"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// FuzzShapes overwrites a word of an object with a shape, using the table of fields that shapes read, and runs the
// readers of application objects. Each must end, and each failure must have one of the three kinds of errors.
func FuzzShapes(f *testing.F) { fuzzShapes(f, "web/web-net10/web-net10.dmp.zst", 200) }

// FuzzLookalikes is FuzzShapes for lookalikes of libraries that no dumped program used: gRPC, EF Core, HTTP.sys, IIS,
// and other versions' pools.
func FuzzLookalikes(f *testing.F) {
	fuzzShapes(f, "libraries/net10-libraries/net10-libraries.dmp.zst", 40)
}

func fuzzShapes(f *testing.F, path string, least int) {
	d, at := testdump.Thin(f, filepath.Join("../../../testdata/dumps", path), sosgo.Options{Offline: true}, shaped(f))
	require.Greater(f, len(at), least)
	v, err := d.View("")
	require.NoError(f, err)
	h, err := v.Heap()
	require.NoError(f, err)
	questions := askers(f, v, h)
	for i := range questions {
		f.Add(uint16(i), uint8(i), uint8(1), uint64(0))
		f.Add(uint16(len(at)/(i+1)), uint8(i), uint8(2), ^uint64(0))
		f.Add(uint16(len(at)/(i+2)), uint8(i), uint8(1), uint64(at[i].Addr))
	}
	f.Fuzz(func(t *testing.T, n uint16, question, word uint8, value uint64) {
		o := &at[int(n)%len(at)]
		if value&3 == 1 { // another object in place of the right one
			value = uint64(at[value>>2%uint64(len(at))].Addr)
		}
		d.Set(testdump.Words(o.Addr+8*target.Addr(word)%(target.Addr(o.Size)&^7+16), value))
		noted, err := questions[int(question)%len(questions)](t)
		if err != nil {
			noted = append(noted, err)
		}
		for _, err := range noted {
			if !testdump.Typed(err) {
				t.Fatalf("%v", err)
			}
		}
	})
}

// shaped selects objects of the types in the table of fields: a few of each type, and one of each of its instances.
func shaped(f *testing.F) func(v *sosgo.View, o *heap.Object) bool {
	table, err := os.Open("../../../testdata/shapefields.txt")
	require.NoError(f, err)
	defer table.Close()
	wanted, name := map[string]bool{}, regexp.MustCompile(`^([^\s#]\S*)  \{`)
	for s := bufio.NewScanner(table); s.Scan(); {
		if m := name.FindStringSubmatch(s.Text()); m != nil {
			wanted[m[1]] = true
		}
	}
	require.Greater(f, len(wanted), 100)
	count, met := map[string]int{}, map[*dac.MethodTable]bool{}
	return func(v *sosgo.View, o *heap.Object) bool {
		b, err := v.Shapes()
		require.NoError(f, err)
		object, err := b.Objects().Of(*o)
		require.NoError(f, err)
		n, err := b.Definition(object.Type)
		if err != nil || !wanted[n] || count[n] >= 8 && met[o.Type] {
			return false
		}
		count[n]++
		met[o.Type] = true
		return true
	}
}

// askers returns the queries. Each returns the gaps that it recorded.
func askers(f *testing.F, v *sosgo.View, h *heap.Heap) []func(*testing.T) ([]error, error) {
	r, err := web.Of(v.Process)
	require.NoError(f, err)
	reader, err := tasks.Of(v.Process)
	require.NoError(f, err)
	b, err := v.Shapes()
	require.NoError(f, err)
	items, err := v.Collections()
	require.NoError(f, err)
	pools, host := sqlpools.New(b, items), hosting.New(b, items)
	threads, err := v.Threads()
	require.NoError(f, err)
	o := heap.ScanOptions{Jobs: 1}
	return []func(*testing.T) ([]error, error){
		func(t *testing.T) ([]error, error) {
			return noted(r.Requests(t.Context(), v.Process, h, web.RequestOptions{Headers: true, Scopes: true, Scan: o}))
		},
		func(t *testing.T) ([]error, error) {
			return noted(r.Messages(t.Context(), h, web.MessageOptions{Scan: o}))
		},
		func(t *testing.T) ([]error, error) {
			return noted(r.Clients(t.Context(), h, web.ClientOptions{Scan: o}))
		},
		func(t *testing.T) ([]error, error) { return noted(r.SignalR(t.Context(), h, o)) },
		func(t *testing.T) ([]error, error) { return noted(r.Redis(t.Context(), h, o)) },
		func(t *testing.T) ([]error, error) {
			return noted(r.Sessions(t.Context(), v.Process, h, web.SessionOptions{Scan: o}))
		},
		func(t *testing.T) ([]error, error) { return noted(r.ObjectPools(t.Context(), h, o)) },
		func(t *testing.T) ([]error, error) { return noted(r.Queues(t.Context(), h, o)) },
		func(t *testing.T) ([]error, error) { return noted(r.GRPC(t.Context(), h, o)) },
		func(t *testing.T) ([]error, error) { return noted(r.WebSockets(t.Context(), h, o)) },
		func(t *testing.T) ([]error, error) {
			return noted(pools.Pools(t.Context(), v.Process, h, sqlpools.Options{Scan: o}))
		},
		func(t *testing.T) ([]error, error) { return noted(host.Scopes(t.Context(), h, o)) },
		func(t *testing.T) ([]error, error) { return noted(host.Caches(t.Context(), h, o)) },
		func(t *testing.T) ([]error, error) { return noted(host.DbContexts(t.Context(), h, o)) },
		func(t *testing.T) ([]error, error) {
			out := &answer.Flows{}
			set, err := reader.Collect(t.Context(), h, o)
			if err != nil {
				return nil, err
			}
			err = flows.New(shapes.Reading{Gaps: &out.Gaps, Binder: b}, items).List(t.Context(), v.Process, threads, set, out)
			return out.Noted(), err
		},
	}
}

// noted returns the gaps of an answer and the error that came with it.
func noted(a interface{ Noted() []error }, err error) ([]error, error) {
	if err != nil {
		return nil, err
	}
	return a.Noted(), nil
}
