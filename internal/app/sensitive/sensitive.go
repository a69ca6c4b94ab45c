// Package sensitive finds the secrets of a process, so that they can be masked wherever they appear: settings, the
// command line and the environment by name, strings and arrays of the heap by form, and values of fields and
// dictionaries by the names of fields and keys. Package secrets defines what counts as a secret. Start with Mask
// (masking.go) and Reader.
package sensitive

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/web"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A Reader finds the secrets of one process. It is safe for concurrent use.
type Reader struct {
	r      *objects.Reader
	b      *objects.Binder
	items  *objects.Collections
	locals map[target.Addr]string // AsyncLocals in static fields with secret names, with these
	beside map[target.Addr]bool   // strings beside names that make each text a secret
}

// New returns a Reader.
func New(b *objects.Binder, c *objects.Collections) *Reader {
	return &Reader{r: b.Objects(), b: b, items: c, locals: map[target.Addr]string{}, beside: map[target.Addr]bool{}}
}

// Settings adds the secrets among settings to m. p must have unhidden values.
func Settings(m *secrets.Masker, p *answer.Process) {
	if m == nil || p == nil {
		return
	}
	m.Learn(p.Command)
	option := ""
	for i := range p.Arguments {
		v := p.Arguments[i].Value.S
		name, value, given := strings.Cut(v, "=")
		switch {
		case secrets.SecretFollows(option, v):
			m.LearnSetting(option, v)
		case given && strings.HasPrefix(name, "-"):
			m.LearnSetting(name, value)
		default:
			m.Learn(v)
		}
		option = ""
		if !given {
			option = v
		}
	}
	for _, list := range [][]answer.NamedValue{p.Environment, p.Properties, p.Switches} {
		for i := range list {
			m.LearnSetting(list[i].Name, list[i].Value.S)
		}
	}
	for i := range p.Configurations {
		keys := p.Configurations[i].Keys
		for k := range keys {
			m.LearnSetting(keys[k].Name, keys[k].Value.S)
		}
	}
}

// Objects adds to m the secrets among the objects of h and in the static fields of its runtime. It notes unreadable
// parts in g. The error is ctx's, or why there is no object.
func (r *Reader) Objects(ctx context.Context, m *secrets.Masker, h *heap.Heap, o heap.ScanOptions, g *answer.Gaps) error {
	if r == nil || r.r == nil || h == nil {
		return target.Unsupportedf("no heap is open")
	}
	r.statics(ctx, m, g)
	var maps, sessions []heap.Object
	err := heap.Scan(ctx, h, nil, o, func() *collector {
		return &collector{Reader: r, win: target.NewWindow(h.Memory()), text: h.Runtime().WellKnown().String, types: map[target.Addr]*plan{}}
	}, func(c *collector) error {
		for _, f := range c.found {
			if f.name != "" {
				r.add(m, f.name, f.value, f.at)
			} else {
				m.Add(f.value, f.kind)
			}
		}
		maps = append(maps, c.maps[:min(len(c.maps), limits.SecretMaps-len(maps))]...)
		sessions = append(sessions, c.sessions[:min(len(c.sessions), limits.SecretMaps-len(sessions))]...)
		g.NoteAll(c.gaps.Noted())
		return nil
	})
	for i := range maps {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			r.pairs(m, maps[i])
		}
	}
	for i := range sessions {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			r.session(m, sessions[i])
		}
	}
	return err
}

// session adds the values of a session of ASP.NET Core with secret names to m.
func (r *Reader) session(m *secrets.Masker, o heap.Object) {
	if object, err := r.r.Of(o); err == nil {
		for name, text := range web.SessionValues(r.b, r.items, object) {
			m.LearnSetting(name, text)
		}
	}
}

// add adds a text with the name of its holder to m. at is the address of a string, 0 for other texts.
func (r *Reader) add(m *secrets.Masker, name, text string, at target.Addr) {
	m.LearnSetting(name, text)
	if at != 0 && (secrets.HoldsKey(name) || secrets.IsSetting(name, text)) {
		r.beside[at] = true
	}
}

// statics adds the values of static fields with secret names to m.
func (r *Reader) statics(ctx context.Context, m *secrets.Masker, g *answer.Gaps) {
	for mt, err := range r.r.Runtime().LoadedTypes() {
		if ctx.Err() != nil {
			return
		}
		if err != nil || mt.IsArray() || mt.IsOpen() || mt.IsShared() {
			g.Note(err)
			continue
		}
		t, err := r.r.TrustedType(mt.Addr)
		if err != nil {
			continue // the scan notes the types of objects
		}
		if name, err := t.ManagedName(); err == nil && answer.LibraryMethod(name) {
			continue // static fields of the class library hold the names of settings and headers
		}
		fields, _ := t.OwnFields()
		for _, f := range fields {
			if !f.Static || !means(f.Name) {
				continue
			}
			for s := range r.values(f, g) {
				if s.Err == nil && s.Slot != 0 {
					r.local(f.Name, s.Value)
					r.learn(m, f.Name, s.Value)
				}
			}
		}
	}
}

// local keeps the AsyncLocal in a static field, which is the key of its values.
func (r *Reader) local(name string, v objects.Value) {
	if v.Kind() != objects.KindReference || v.IsNull() || !secrets.Holds(name) {
		return
	}
	o, err := v.Object()
	if err != nil {
		return
	}
	if typ, err := o.Type.ManagedName(); err == nil && strings.HasPrefix(typ, "System.Threading.AsyncLocal<") {
		r.locals[o.Addr] = name
	}
}

// values yields the value of a static field, or its values in all threads.
func (r *Reader) values(f *objects.Field, g *answer.Gaps) iter.Seq[objects.Static] {
	return func(yield func(objects.Static) bool) {
		if !f.Thread {
			yield(f.StaticValue())
			return
		}
		threads, err := r.r.Runtime().Threads()
		g.Note(err)
		for i := range threads {
			if threads[i].OSID != 0 && !yield(f.ThreadStatic(&threads[i])) {
				return
			}
		}
	}
}

// learn adds the texts of a value to m, by the name of its holder.
func (r *Reader) learn(m *secrets.Masker, name string, v objects.Value) {
	r.read(name, v, func(text string, at target.Addr) { r.add(m, name, text, at) })
}

// read calls found with the texts of a value, and for strings with their addresses.
func (r *Reader) read(name string, v objects.Value, found func(text string, at target.Addr)) {
	reader := textReader{b: r.b, items: r.items, mem: r.r.Runtime().Memory(), found: found, weak: secrets.MayHold(name)}
	reader.value(name, v, 0)
}

// pairs adds to m the values of dictionary entries with secret names as keys, and the arguments behind options for secrets in other collections.
func (r *Reader) pairs(m *secrets.Masker, o heap.Object) {
	object, err := r.r.Of(o)
	if err != nil {
		return
	}
	c, err := r.items.Of(object)
	if err != nil {
		return
	}
	n, announced, before := 0, c.Announced(), objects.Value{}
	for i, err := range c.Items() {
		if n++; err != nil || n > limits.SecretItems {
			return
		}
		if !c.HasKeys {
			if announced(&i) {
				option, _ := before.Text(limits.SecretNameChars) // it was read
				r.learn(m, option, i.Value)
			}
			before = i.Value
			continue
		}
		if key, err := i.Key.Text(limits.SecretChars); err == nil && secrets.Named(key) {
			r.learn(m, key, i.Value)
		}
	}
}

// A plan describes how to examine objects of a type.
type plan struct {
	chars  int // bytes of a character, or 0 if the object is not text
	leaves []leaf
	pairs  bool // a collection with keys that does not keep each with its value

	session bool // a session of ASP.NET Core
	words   bool // an array of strings or of objects
	line    bool // a collection of texts or objects that has them in another order than an array
}

// A found value is a secret by its kind, or a setting by its name.
type found struct {
	name, value string
	kind        secrets.Kind
	at          target.Addr // of a string beside the name; or 0
}

// A collector examines the objects of a run.
type collector struct {
	*Reader
	win   *target.Window
	text  target.Addr
	types map[target.Addr]*plan
	found []found
	maps  []heap.Object
	gaps  answer.Gaps
	ascii []byte

	sessions []heap.Object
}

// Objects implements heap.Collector.
func (c *collector) Objects(_ *heap.Segment, batch []heap.Object) {
	for i := range batch {
		o := &batch[i]
		if o.Free {
			continue
		}
		p := c.types[o.Type.Addr]
		if p == nil {
			p = c.plan(o.Type)
			c.types[o.Type.Addr] = p
		}
		switch {
		case p.chars > 0:
			c.characters(o, p.chars)
		case p.pairs, p.line:
			if len(c.maps) < limits.SecretMaps {
				c.maps = append(c.maps, *o)
			}
			if p.line {
				c.fields(o, p.leaves)
			}
		case p.words:
			c.words(o)
		case p.session:
			if len(c.sessions) < limits.SecretMaps {
				c.sessions = append(c.sessions, *o)
			}
		case len(p.leaves) > 0:
			c.fields(o, p.leaves)
		}
	}
}

// lines are the beginnings of names of collections that may hold a command line without an array that has it in order.
var lines = []string{"System.Collections.Generic.Stack<", "System.Collections.Stack", "System.Collections.Generic.Queue<", "System.Collections.Queue", "System.Collections.Generic.LinkedList<",
	"System.Collections.Concurrent.Concurrent", "System.Collections.Immutable.Immutable"}

// isLine reports whether a type is such a collection of texts or objects, by its name.
func isLine(name string) bool {
	of, args, generic := strings.Cut(name, "<")
	return slices.ContainsFunc(lines, func(s string) bool { return strings.HasPrefix(name, s) }) && !strings.Contains(of, "Dictionary") && !strings.Contains(of, "+") &&
		(!generic || args == "System.String>" || args == "System.Object>")
}

// isObject reports whether a type is System.Object.
func isObject(t *objects.Type) bool {
	name, err := t.ManagedName()
	return err == nil && name == "System.Object"
}

// plan decides how to examine objects of a type.
func (c *collector) plan(mt *dac.MethodTable) *plan {
	p := &plan{}
	if mt.Addr == c.text {
		p.chars = 2
		return p
	}
	if mt.IsArray() && !mt.ContainsPointers() && mt.ComponentSize <= 2 {
		p.chars = int(mt.ComponentSize)
		return p
	}
	if mt.IsArray() && !mt.ContainsPointers() {
		return p // numbers are not learnt
	}
	t, err := c.r.TrustedType(mt.Addr)
	if err != nil {
		return p
	}
	if mt.IsArray() {
		if t, err = t.Element(); err != nil || t == nil || !t.MT.IsValueType() {
			p.words = err == nil && t != nil && (t.IsString() || isObject(t))
			return p
		}
	} else if name, err := t.ManagedName(); err == nil {
		p.pairs = strings.Contains(name, "Frozen") && strings.Contains(name, "Dictionary") || strings.Contains(name, "SortedList")
		p.line = c.items != nil && isLine(name) && c.items.Is(t)
	}
	p.session = web.IsSession(c.b, t)
	p.leaves = leavesOf(nil, t, 0, 0)
	return p
}

// fields keeps the texts of fields with secret names, and of the values beside such names.
func (c *collector) fields(o *heap.Object, leaves []leaf) {
	at, step, n := o.Addr+dac.ObjectHeaderBytes, target.Addr(0), uint32(1)
	if o.Type.IsArray() {
		at, step, n = o.Addr+target.Addr(o.Type.BaseSize)-8, target.Addr(o.Type.ComponentSize), o.Length
	}
	for range n {
		for i := range leaves {
			if name, v := leaves[i].at(at, c.locals); name != "" {
				c.read(name, v, func(text string, at target.Addr) { c.found = append(c.found, found{name: name, value: text, at: at}) })
			}
		}
		at += step
	}
}

// mostWords is the number of strings of a command line that are looked at.
const mostWords = 1 << 10

// words keeps the secrets among the arguments of a command line that the argument before announces.
func (c *collector) words(o *heap.Object) {
	array, err := c.r.Of(*o)
	if err != nil {
		return
	}
	a, err := array.Array()
	if err != nil {
		return
	}
	for i := uint32(1); i < min(a.Len, mostWords); i++ {
		v := a.At(i)
		if !a.Announces(i-1, v) {
			continue
		}
		name, _ := a.At(i - 1).Text(limits.SecretNameChars) // Announces has read it
		c.read(name, v, func(text string, at target.Addr) { c.found = append(c.found, found{name: name, value: text, at: at}) })
	}
}

// pieceChars is how many characters are examined at once. sharedChars is how many of them the next piece repeats.
const (
	pieceChars  = 64 << 10
	sharedChars = 4 << 10
)

// characters keeps the secrets in a string or an array.
func (c *collector) characters(o *heap.Object, size int) {
	const least = 5
	if uint64(o.Length) < least {
		return
	}
	at := o.Addr + target.Addr(o.Type.BaseSize) - 8 // an array's base size includes its header and the word before it
	if o.Type.Addr == c.text {
		chars, _, err := c.r.Runtime().StringChars(o.Addr)
		if err != nil {
			c.gaps.Note(err)
			return
		}
		at = chars
	} else if size == 1 {
		c.stored(at, o.Length)
	}
	for from := uint32(0); from < o.Length; from += pieceChars - sharedChars {
		n := min(o.Length-from, pieceChars)
		b, err := c.win.Bytes(at+target.Addr(from)*target.Addr(size), int(n)*size)
		if err != nil {
			c.gaps.Note(err)
			return
		}
		c.piece(b, size)
		if from+n == o.Length {
			return
		}
	}
}

// stored keeps the values of a stored session, if the bytes at a are one.
func (c *collector) stored(a target.Addr, n uint32) {
	first, err := c.win.Bytes(a, 1)
	if err != nil || !web.MayBeSession(first[0], n) {
		return
	}
	b, err := target.Bytes(c.r.Runtime().Memory(), a, int(n))
	if err != nil {
		return // characters notes it
	}
	for name, text := range web.StoredValues(b) {
		c.found = append(c.found, found{name: name, value: text})
	}
}

func (c *collector) piece(b []byte, size int) {
	text := b
	if size == 2 {
		c.ascii = c.ascii[:0]
		for i := 0; i+1 < len(b); i += 2 {
			char := b[i]
			if b[i+1] != 0 || char >= 0x80 {
				char = 0xff
			}
			c.ascii = append(c.ascii, char)
		}
		text = c.ascii
	}
	if secrets.Cued(text) == 0 {
		return
	}
	s := string(b)
	if size == 2 {
		s = utf16text.String(b)
	}
	for _, f := range secrets.Find(s) {
		c.found = append(c.found, found{value: s[f.Start:f.End], kind: f.Kind})
	}
}

// Corrupt implements heap.Collector.
func (c *collector) Corrupt(e *heap.Corruption) {
	var err error = e
	if !errors.Is(err, target.ErrNotInDump) || len(c.gaps.Noted()) == 0 {
		c.gaps.Note(err)
	}
}

// Reset implements heap.Collector.
func (c *collector) Reset() {
	c.found, c.maps, c.sessions, c.gaps = c.found[:0], c.maps[:0], c.sessions[:0], answer.Gaps{}
}
