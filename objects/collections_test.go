package objects_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// open returns the Reader of a dump's collections.
func open(t testing.TB, d *testdump.Dump) (*objects.Collections, *objects.Binder) {
	t.Helper()
	v, err := d.View("")
	require.NoError(t, err)
	b, err := v.Shapes()
	require.NoError(t, err)
	return objects.NewCollections(b), b
}

// zooContents has the content of the collections of the program that makes one object of each kind, as describe formats
// it.
var zooContents = map[string]string{
	"List":       "1 2 3",
	"ByName":     "key0:0 key1:1 key2:4 key4:16 key5:25 key6:36 key7:49 key8:64 key9:81",
	"ById":       "0:dog0 7:dog1 21:dog3 28:dog4 35:dog5 42:dog6 49:dog7 56:dog8 63:dog9",
	"ByPoint":    "(0,0):p0 (1,-1):p1 (2,-2):p2 (3,-3):p3 (4,-4):p4 (5,-5):p5 (6,-6):p6 (7,-7):p7 (8,-8):p8 (9,-9):p9",
	"HashSet":    "x y",
	"Sorted":     "1:a 2:b",
	"Queue":      "1 2 3 4 5 6 7 8 9",
	"Bag":        "b9 b8 b7 b6 b5 b4 b3 b2 b1 b0",
	"Linked":     "l0 l1 l2 l3 l4 l5 l6 l7 l8 l9",
	"Plain":      "0 1 2 3 4 5 6 7 8 9",
	"Stack":      "s9 s8 s7 s6 s5 s4 s3 s2 s1 s0",
	"ArrayList":  "1 b null",
	"Lazy":       "lazy",
	"Structs":    "in list",
	"Hashtable":  "sorted h0:0 h1:1 h2:2 h3:3 h4:4 h6:6 h7:7 h8:8 h9:9",
	"Concurrent": "sorted c0:0 c1:odd1 c2:2 c3:odd3 c4:4 c5:odd5 c6:6 c7:odd7 c8:8 c9:odd9",
}

// describe formats an element of the zoo's collections.
func describe(t *testing.T, v objects.Value) string {
	t.Helper()
	require.NoError(t, v.Err())
	if v.Kind() == objects.KindReference {
		if v.IsNull() {
			return "null"
		}
		o, err := v.Object()
		require.NoError(t, err)
		switch {
		case o.IsString():
			s, err := o.Text(-1)
			require.NoError(t, err)
			return s
		case o.IsBoxed():
			return describe(t, o.Boxed())
		}
		if name := o.Field("Name"); name.Err() == nil {
			return describe(t, name)
		}
		for f, v := range o.Fields() {
			if f.Name == "name" { // of the base class, hidden by the derived one
				return describe(t, v)
			}
		}
		return o.Inline(-1)
	}
	if v.Kind() != objects.KindStruct {
		return v.Plain(-1)
	}
	s, err := v.Struct()
	require.NoError(t, err)
	if label := s.Field("Label"); label.Err() == nil {
		return describe(t, label)
	}
	return "(" + s.Field("X").Plain(-1) + "," + s.Field("Y").Plain(-1) + ")"
}

// TestZoo: the collections of one program, on all runtimes.
func TestZoo(t *testing.T) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		facts := map[string]target.Addr{}
		for _, have := range d.Manifest.Objects() {
			facts[have.Name] = have.Addr
		}
		if !d.HasHeap() || facts["root.Collections.List"] == 0 {
			t.Skip("no heap, or another program")
		}
		r, b := open(t, d)
		for name, want := range zooContents {
			o, err := b.Objects().Object(facts["root.Collections."+name])
			require.NoError(t, err, name)
			c, err := r.Of(o)
			require.NoError(t, err, name)
			var have []string
			for i, err := range c.Items() {
				require.NoError(t, err, name)
				text := describe(t, i.Value)
				if c.HasKeys {
					text = describe(t, i.Key) + ":" + text
				}
				have = append(have, text)
			}
			assert.Equal(t, have, iterated(t, c), name)
			if rest, sorted := strings.CutPrefix(want, "sorted "); sorted {
				want = rest
				slices.Sort(have)
			}
			assert.Equal(t, want, strings.Join(have, " "), name)
			if n, err := c.Count(); err == nil {
				assert.EqualValues(t, len(have), n, name)
			} else {
				assert.ErrorIs(t, err, target.ErrUnsupported, name)
			}
		}
		o, err := b.Objects().Object(facts["root.Collections.Builder"])
		require.NoError(t, err)
		c, err := r.Of(o)
		require.NoError(t, err)
		text, ok, err := c.Text()
		require.NoError(t, err)
		assert.True(t, ok)
		assert.Equal(t, "built "+strings.Repeat("z", 100), text)

		o, err = b.Objects().Object(facts["root.Collections.Table"])
		require.NoError(t, err)
		c, err = r.Of(o)
		require.NoError(t, err)
		n := 0
		for i, err := range c.Items() {
			if errors.Is(err, target.ErrNotInDump) && d.Canned {
				n++ // a slice without handles
				continue
			}
			require.NoError(t, err)
			key, err := i.Key.Object()
			require.NoError(t, err)
			assert.Equal(t, facts["root.Collections.List"], key.Addr)
			assert.Equal(t, "attached to list", describe(t, i.Value))
			n++
		}
		assert.Equal(t, 1, n)
	})
}

// TestExpect: every collection of the web program holds what the manifest lists.
func TestExpect(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		r, b := open(t, d)
		fields := map[string]objects.Value{}
		for typ, err := range b.Objects().TypeByName("WebDebuggee.Collections", "") {
			require.NoError(t, err)
			list, err := typ.Statics()
			require.NoError(t, err)
			for _, f := range list {
				fields[f.Name] = f.StaticValue().Value
			}
		}
		e := expecter{t: t, r: r, b: b}
		n := 0
		for name, raw := range d.Manifest.Expect {
			var want any
			require.NoError(t, json.Unmarshal(raw, &want))
			if slices.Contains(scalars, name) {
				continue
			}
			v, ok := fields[name]
			if !assert.True(t, ok, name) {
				continue
			}
			n++
			have := e.value(v)
			switch {
			case name == "PriorityQueueStringInt": // the manifest has the element first
				for _, p := range have.([]any) {
					slices.Reverse(p.([]any))
				}
			case strings.HasPrefix(name, "Lazy"):
				made := map[string]any{"made": len(have.([]any)) == 1}
				if made["made"] == true {
					made["value"] = have.([]any)[0]
				}
				have = made
			}
			assert.Equal(t, normal(want), normal(have), name)
		}
		large := e.value(fields["DictionaryLarge"]).([]any)
		assert.Len(t, large, 1000)
		assert.Equal(t, []any{"0", "value 0"}, large[0])
		assert.Equal(t, []any{"6993", "value 999"}, large[999])
		assert.Equal(t, []any{"1", "2", "3", "4", "5", "6"}, e.value(fields["ArrayRectangular"]))
		return n + 2
	})
}

// scalars are the manifest's entries that are not collections. Their fields are compared, unless they have a short
// form.
var scalars = strings.Fields("ArrayRectangular Ambient TupleIntString ValueTuple3 Utc LocalTime Offset Noon Big BigSmall ComplexNumber FromEnd Slice Smile Address Number Ip4 Ip6 " +
	"EndPoint German Pattern Document Element Node Table Failure TypeObject Closure Multicast Chain Biscuit Pair Zone DictionaryLarge")

type expecter struct {
	t *testing.T
	r *objects.Collections
	b *objects.Binder
}

// value returns a value in the manifest's form.
func (e *expecter) value(v objects.Value) any {
	if v.Err() != nil {
		return "error: " + v.Err().Error()
	}
	switch v.Kind() {
	case objects.KindReference:
		if v.IsNull() {
			return nil
		}
		o, err := v.Object()
		if err != nil {
			return "error: " + err.Error()
		}
		return e.object(o, v)
	case objects.KindStruct:
		s, err := v.Struct()
		if err != nil {
			return "error: " + err.Error()
		}
		return e.structure(s, v)
	case objects.KindBool:
		b, _ := v.Bool()
		return map[bool]string{true: "True", false: "False"}[b]
	case objects.KindChar:
		c, _ := v.Char()
		return string(rune(c))
	}
	return v.Plain(-1)
}

func (e *expecter) object(o objects.Object, v objects.Value) any {
	switch {
	case o.IsString():
		s, _ := o.Text(-1)
		return s
	case o.IsBoxed() && !e.r.Is(o.Type):
		return e.value(o.Boxed())
	}
	if name, _ := e.b.Definition(o.Type); name == "WebDebuggee.Customer" {
		return fmt.Sprint("Customer ", e.value(o.Field("Id")), " ", e.value(o.Field("Name")))
	}
	c, err := e.r.Of(o)
	if err != nil {
		return "error: " + err.Error()
	}
	return e.collection(c)
}

func (e *expecter) structure(s objects.Struct, v objects.Value) any {
	if n, has, err := e.b.Nullable(s); err == nil {
		if !has {
			return nil
		}
		return e.value(n)
	}
	name, _ := e.b.Definition(s.Type)
	switch name {
	case "WebDebuggee.Price":
		return fmt.Sprint(e.value(s.Field("Amount")), " in ", e.value(s.Field("Currency")))
	case "WebDebuggee.Cell":
		return fmt.Sprint("R", e.value(s.Field("Row")), "C", e.value(s.Field("Column")))
	}
	if c, err := e.r.In(s.Type, objects.InstanceIn(s)); err == nil {
		return e.collection(c)
	}
	return v.Plain(-1)
}

func (e *expecter) collection(c *objects.Collection) any {
	if text, ok, err := c.Text(); ok {
		if err != nil {
			return "error: " + err.Error()
		}
		return text
	}
	out := []any{}
	for i, err := range c.Items() {
		switch {
		case err != nil:
			out = append(out, "error: "+err.Error())
		case c.HasKeys:
			out = append(out, []any{e.value(i.Key), e.value(i.Value)})
		default:
			out = append(out, e.value(i.Value))
		}
	}
	if n, err := c.Count(); err == nil && n != uint64(len(out)) {
		out = append(out, fmt.Sprint("count ", n))
	}
	return out
}

// normal replaces numbers by their texts.
func normal(v any) any {
	switch v := v.(type) {
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, normal(e))
		}
		return out
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	}
	return v
}

// TestLines: a value's line has the number of elements of the collection that it refers to, and dumpobj's summary has
// the first.
func TestLines(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	r, b := open(t, d)
	for _, have := range d.Manifest.Objects() {
		want := map[string]string{"root.Collections.List": "(3)", "root.Collections.ByName": "(9)", "root.Collections.Concurrent": "(10)", "root.Collections.Weak": ""}
		name, ok := want[have.Name]
		if !ok {
			continue
		}
		reader, err := d.Objects()
		require.NoError(t, err)
		o, err := reader.Object(have.Addr)
		require.NoError(t, err)
		managed, err := o.Type.ManagedName()
		require.NoError(t, err)
		assert.Equal(t, strings.TrimSpace(managed+" "+name), o.Inline(10))

		s, err := r.Summary(t.Context(), o, 2)
		require.NoError(t, err)
		if have.Name == "root.Collections.Weak" {
			assert.Nil(t, s)
			continue
		}
		assert.Len(t, s.First, 2)
		assert.True(t, s.More)
	}
	array, err := b.Objects().Object(d.Manifest.Objects()[0].Addr)
	require.NoError(t, err)
	_, ok, err := r.CountOf(array)
	assert.NoError(t, err)
	assert.False(t, ok)
}

// TestFreeBlock: the type of free blocks has neither class nor module, and that is not damage.
func TestFreeBlock(t *testing.T) {
	for _, name := range []string{"net31-zoo", "net8-zoo", "net10-zoo", "win-net10-zoo"} {
		d := testdump.Open(t, name)
		r, b := open(t, d)
		h, err := d.Heap()
		require.NoError(t, err)
		var free target.Addr
		for o, err := range h.Objects() {
			if err == nil && o.Free {
				free = o.Addr
				break
			}
		}
		require.NotZero(t, free, name)
		o, err := b.Objects().Object(free)
		require.NoError(t, err)
		_, err = r.Of(o)
		assert.ErrorIs(t, err, objects.ErrNotCollection, name)
		fields, err := o.Type.Fields()
		assert.NoError(t, err, name)
		assert.Empty(t, fields)
	}
}

// iterated returns what Pairs or Values yields.
func iterated(t *testing.T, c *objects.Collection) (out []string) {
	if c.HasKeys {
		for k, v := range c.Pairs() {
			out = append(out, describe(t, k)+":"+describe(t, v))
		}
		return out
	}
	for n, v := range c.Values() {
		assert.EqualValues(t, len(out), n)
		out = append(out, describe(t, v))
	}
	for k, v := range c.Pairs() {
		assert.ErrorIs(t, k.Err(), target.ErrArgument)
		assert.ErrorIs(t, v.Err(), target.ErrArgument)
	}
	return out
}
