// Package layout describes the structures of a runtime: offsets of fields, sizes, addresses of global
// variables, constants. It merges the runtime's own contract descriptor with measured tables, member by member,
// and records the source of each member. It does not decide which part fits a process; package dac does, by
// probing the process.
//
// Start at Builder and Layout.Bind for use, at Part and catalogue.go for the sources.
package layout

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// A Part is one source of layout: a contract descriptor or a table. Parts are immutable.
type Part struct {
	Source string // description for people: "contract descriptor in the dump"
	Major  string // major version of the part: "10.0"; "" for the runtime's own
	// Like is the version of a table's offsets if it differs from the table's own. Adopt moves them by the
	// differences between the runtime's own descriptor and that version's.
	Like string
	// Verified lists the versions with which a table was compared. It is empty for a table derived for a
	// processor without a dump.
	Verified  []string
	growths   []int // tableFile.LockGrowth
	base      string
	types     map[string]partType
	globals   map[string]partGlobal
	vtables   map[string]int // class -> slot
	constants map[string]json.RawMessage
	contracts map[string]string            // nil for a table
	listed    map[string]bool              // contracts of all descriptors that belong together
	subs      map[string]int               // sub-descriptor -> index into the pointer data
	unknown   []string                     // keys that ParseDescriptor skipped
	doubts    map[string]error             // inconsistent types, and members with unknown places -> why
	assumed   map[string]bool              // members placed only by the members before them
	names     map[string]map[string]string // type -> member of a newer version -> its name in version Like
	version   int                          // version of the descriptor's form
	table     *DacTable
}

type partType struct {
	size   int // -1 if absent
	fields map[string]Field
}

// A Field is the place of one member in a structure.
type Field struct {
	Offset int    // bytes from the start of the structure
	Type   string // as the descriptor names it; often ""
}

type partGlobal struct {
	value  uint64
	text   string
	direct bool
	index  int // index in the descriptor's pointer data, else -1
	slot   int // slot in the DAC table, else -1
}

// A DacTable describes how to find and read a runtime's table of global variables.
type DacTable struct {
	Symbol   string // exported symbol of the table, or ""
	Resource string // PE resource with the table, or ""
	Slot     string // "abs64": addresses; "rva32": offsets from the module's base
	Slots    int    // number in the measured build, 0 if unknown
}

// A Slot is an entry of a runtime's DAC table named by a part, with its index in the measured build. Other
// builds of the same major version can have a few more or fewer entries before it.
type Slot struct {
	Name   string // name of the variable or class
	VTable bool   // the entry is the vtable of a class
	Index  int
}

// Slots lists the entries of the DAC table that p names, by index.
func (p *Part) Slots() []Slot {
	var out []Slot
	for name, g := range p.globals {
		if g.slot >= 0 {
			out = append(out, Slot{Name: name, Index: g.slot})
		}
	}
	for class, slot := range p.vtables {
		out = append(out, Slot{Name: class, VTable: true, Index: slot})
	}
	slices.SortStableFunc(out, func(a, b Slot) int { return cmp.Or(a.Index-b.Index, cmp.Compare(a.Name, b.Name)) })
	return out
}

// descriptorVersions is the newest form of a descriptor's JSON: 0 in .NET 9 and 10, 1 in previews of 11, 2
// since (dotnet/runtime docs/design/datacontracts/data_descriptor.md). Versions differ in what a descriptor may
// contain, and not in its syntax.
const descriptorVersions = 2

// ParseDescriptor decodes the JSON of a contract descriptor (data contract descriptor of .NET 9 and later,
// "compact" form). It skips unknown keys; Unknown lists them.
func ParseDescriptor(raw []byte, source string) (*Part, error) {
	var d struct {
		Version        int                                   `json:"version"`
		Baseline       string                                `json:"baseline"`
		Types          map[string]map[string]json.RawMessage `json:"types"`
		Globals        map[string]json.RawMessage            `json:"globals"`
		Contracts      map[string]contractVersion            `json:"contracts"`
		SubDescriptors map[string]json.RawMessage            `json:"subDescriptors"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, target.Corruptf("contract descriptor: %w", err)
	}
	keys, twice := topKeys(raw)
	if twice != "" {
		return nil, target.Corruptf("contract descriptor: %s is there twice", twice)
	}
	if d.Version < 0 || d.Version > descriptorVersions {
		return nil, target.Unsupportedf("contract descriptor of version %d: sosgo reads versions 0 to %d", d.Version, descriptorVersions)
	}
	if d.Baseline != "" && d.Baseline != "empty" {
		return nil, target.Unsupportedf("contract descriptor with baseline %q: sosgo reads only complete ones", d.Baseline)
	}
	p := &Part{Source: source, contracts: make(map[string]string, len(d.Contracts)), version: d.Version}
	for name, v := range d.Contracts {
		p.contracts[name] = string(v)
	}
	var err error
	if p.types, err = parseTypes(d.Types); err != nil {
		return nil, err
	}
	p.doubts = inconsistentTypes(p.types)
	if p.globals, err = parseGlobals(d.Globals); err != nil {
		return nil, err
	}
	if p.subs, err = parseSubDescriptors(d.SubDescriptors); err != nil {
		return nil, err
	}
	p.unknown = unknownKeys(keys)
	return p, nil
}

// A contractVersion is the version of a contract: an integer in .NET 9 and 10, a string ("c1") since.
type contractVersion string

// UnmarshalJSON decodes either form.
func (v *contractVersion) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		return json.Unmarshal(raw, (*string)(v))
	}
	var n int
	err := json.Unmarshal(raw, &n)
	*v = contractVersion(strconv.Itoa(n))
	return err
}

// parseSubDescriptors decodes the indexes of sub-descriptors, written like globals in the pointer data.
func parseSubDescriptors(in map[string]json.RawMessage) (map[string]int, error) {
	if len(in) > limits.SubDescriptors {
		return nil, target.Corruptf("contract descriptor with %d sub-descriptors", len(in))
	}
	out := make(map[string]int, len(in))
	for name, raw := range in {
		g, err := parseGlobal(raw)
		if err == nil && g.index < 0 {
			err = fmt.Errorf("it is not in the pointer data")
		}
		if err != nil {
			return nil, target.Corruptf("sub-descriptor %s: %w", name, err)
		}
		out[name] = g.index
	}
	return out, nil
}

// unknownKeys returns the top keys of a descriptor that ParseDescriptor does not read, sorted. keys are quoted
// as in JSON.
func unknownKeys(keys []string) []string {
	var out []string
	for _, quoted := range keys {
		var key string
		if err := json.Unmarshal([]byte(quoted), &key); err != nil {
			key = quoted // impossible in valid JSON
		}
		switch key {
		case "version", "baseline", "types", "globals", "contracts", "subDescriptors":
		default:
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

func parseTypes(in map[string]map[string]json.RawMessage) (map[string]partType, error) {
	out := make(map[string]partType, len(in))
	for name, members := range in {
		t := partType{size: -1, fields: make(map[string]Field, len(members))}
		for member, raw := range members {
			f, err := parseField(raw)
			if err != nil {
				return nil, target.Corruptf("layout of %s.%s: %w", name, member, err)
			}
			if member == "!" {
				t.size = f.Offset
				continue
			}
			t.fields[member] = f
		}
		out[name] = t
	}
	return out, nil
}

// inconsistentTypes returns the types with a member after their end. A member at the end is possible, as for
// the arguments of a TransitionBlock.
func inconsistentTypes(types map[string]partType) map[string]error {
	out := map[string]error{}
	for name, t := range types {
		for field, f := range t.fields {
			if t.size >= 0 && f.Offset > t.size {
				out[name] = target.Corruptf("the contract descriptor has %s at byte %d of a structure of %d bytes", field, f.Offset, t.size)
			}
		}
	}
	return out
}

// TypeErrors returns the inconsistencies of the descriptor's types, or nil. These types are not used; the
// others are.
func (p *Part) TypeErrors() error {
	var out []error
	for _, name := range slices.Sorted(maps.Keys(p.doubts)) {
		out = append(out, fmt.Errorf("type %s: %w", name, p.doubts[name]))
	}
	return errors.Join(out...)
}

// topKeys returns the keys of the object in valid JSON, and a key that occurs twice in it or in an object
// inside, or "". Keys are quoted as in the JSON.
func topKeys(raw []byte) (keys []string, twice string) {
	text := string(raw)
	var open []map[string]bool // keys of each open object, nil for an array
	key := false               // the next string is a key
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{':
			open, key = append(open, map[string]bool{}), true
		case '[':
			open, key = append(open, nil), false
		case '}', ']':
			open, key = open[:len(open)-1], false
		case ',':
			key = len(open) > 0 && open[len(open)-1] != nil
		case '"':
			start := i
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if !key {
				continue
			}
			name, seen := text[start:i+1], open[len(open)-1]
			if seen[name] {
				return keys, name
			}
			if seen[name], key = true, false; len(open) == 1 {
				keys = append(keys, name)
			}
		}
	}
	return keys, ""
}

// maxOffset bounds the size of a structure of the runtime.
const maxOffset = 1 << 20

// parseField decodes 16 or [16, "type"].
func parseField(raw json.RawMessage) (Field, error) {
	var f Field
	if n, ok := decimal(raw); ok {
		f.Offset = n
	} else if len(raw) > 0 && raw[0] == '[' {
		pair := []any{&f.Offset, &f.Type}
		if err := json.Unmarshal(raw, &pair); err != nil {
			return f, err
		}
	} else if err := json.Unmarshal(raw, &f.Offset); err != nil {
		return f, err
	}
	if f.Offset < 0 || f.Offset > maxOffset {
		return f, fmt.Errorf("offset %d", f.Offset)
	}
	return f, nil
}

// decimal decodes a number without sign, as nearly all offsets are, in a tenth of the time of json.Unmarshal.
func decimal(raw []byte) (int, bool) {
	n := 0
	for _, c := range raw {
		if c < '0' || c > '9' || n > maxOffset {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, len(raw) > 0
}

func parseGlobals(in map[string]json.RawMessage) (map[string]partGlobal, error) {
	out := make(map[string]partGlobal, len(in))
	for name, raw := range in {
		g, err := parseGlobal(raw)
		if err != nil {
			return nil, target.Corruptf("layout of global %s: %w", name, err)
		}
		out[name] = g
	}
	return out, nil
}

// parseGlobal decodes the descriptor's forms (value, [value, "type"], [index], [[index], "type"]) and the
// tables' {"dacSlot": n}.
func parseGlobal(raw json.RawMessage) (partGlobal, error) {
	g := partGlobal{index: -1, slot: -1}
	if len(raw) == 0 {
		return g, fmt.Errorf("empty")
	}
	switch raw[0] {
	case '{':
		var s struct{ DacSlot *int }
		if err := json.Unmarshal(raw, &s); err != nil {
			return g, err
		}
		if s.DacSlot == nil || *s.DacSlot < 0 {
			return g, fmt.Errorf("no dacSlot")
		}
		g.slot = *s.DacSlot
		return g, nil
	case '[':
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return g, err
		}
		if len(list) == 0 {
			return g, fmt.Errorf("empty")
		}
		if len(list[0]) > 0 && list[0][0] == '[' {
			return parseGlobalIndex(g, list[0])
		}
		if len(list) == 1 {
			return parseGlobalIndex(g, raw)
		}
		raw = list[0]
	}
	return parseGlobalValue(g, raw)
}

func parseGlobalIndex(g partGlobal, raw json.RawMessage) (partGlobal, error) {
	var idx []int
	if err := json.Unmarshal(raw, &idx); err != nil {
		return g, err
	}
	if len(idx) != 1 || idx[0] < 0 {
		return g, fmt.Errorf("pointer index %v", idx)
	}
	g.index = idx[0]
	return g, nil
}

func parseGlobalValue(g partGlobal, raw json.RawMessage) (partGlobal, error) {
	g.direct = true
	if raw[0] == '"' {
		if err := json.Unmarshal(raw, &g.text); err != nil {
			return g, err
		}
		g.value, _ = strconv.ParseUint(g.text, 0, 64) // other text stays text
		return g, nil
	}
	return g, json.Unmarshal(raw, &g.value)
}

// A tableFile is one of our own tables. A null member removes the member of the table's base.
type tableFile struct {
	Base     string                       `json:"base"` // a table's name, or ""
	Runtime  string                       `json:"runtime"`
	Like     string                       `json:"like"`     // version of its offsets, or ""
	Verified []string                     `json:"verified"` // versions with which it was compared
	Names    map[string]map[string]string `json:"names"`    // members with other names than in version Like
	// Locks counts the runtime's locks (CRITICAL_SECTION in its pal.h) before a member, and so before later
	// ones.
	Locks map[string]map[string]int `json:"locks"`
	// LockGrowth lists the possible numbers of bytes by which a lock is larger than in the base, the likeliest
	// first. The base's members have moved by that much for each lock before them.
	LockGrowth []int `json:"lockGrowth"`
	// Moves has the bytes by which a member of the base, and later ones, moved for other reasons than locks.
	Moves     map[string]map[string]int             `json:"moves"`
	Types     map[string]map[string]json.RawMessage `json:"types"`
	Globals   map[string]json.RawMessage            `json:"globals"`
	VTables   map[string]*struct{ DacSlot int }     `json:"vtables"`
	Constants map[string]json.RawMessage            `json:"constants"`
	DacTable  *DacTable                             `json:"dacTable"`
}

// move moves the members after larger locks, and the members after those in moves.
func (f *tableFile) move(bytes int, moves map[string]map[string]int) error {
	names := maps.Clone(f.Locks)
	if names == nil {
		names = map[string]map[string]int{}
	}
	for name := range moves {
		names[name] = f.Locks[name]
	}
	for name, locks := range names {
		members := f.Types[name]
		offsets := map[string]int{}
		for member, raw := range members {
			if isNull(raw) {
				continue
			}
			field, err := parseField(raw)
			if err != nil || member != "!" && (len(raw) == 0 || raw[0] < '0' || raw[0] > '9') {
				return fmt.Errorf("%s.%s behind locks is no offset", name, member)
			}
			offsets[member] = field.Offset
		}
		for member, at := range offsets {
			before, err := numberAt(at, locks, offsets)
			if err != nil {
				return fmt.Errorf("locks of %s: %w", name, err)
			}
			moved, err := numberAt(at, moves[name], offsets)
			if err != nil {
				return fmt.Errorf("moves of %s: %w", name, err)
			}
			members[member] = json.RawMessage(strconv.Itoa(at + before*bytes + moved))
		}
	}
	return nil
}

// numberAt returns the number of the last marked member up to an offset, or 0 before the first.
func numberAt(at int, marks, offsets map[string]int) (int, error) {
	last, n := -1, 0
	for marked, number := range marks {
		from, ok := offsets[marked]
		if !ok {
			return 0, fmt.Errorf("the table lacks %s", marked)
		}
		if from <= at && from > last {
			last, n = from, number
		}
	}
	return n, nil
}

// inherit adds the members of base that f lacks.
func (f *tableFile) inherit(base *tableFile) {
	inherit(&f.Types, base.Types)
	for name, members := range f.Types {
		if members != nil && base.Types[name] != nil {
			inherit(&members, base.Types[name])
		}
	}
	inherit(&f.Globals, base.Globals)
	inherit(&f.Names, base.Names)
	inherit(&f.VTables, base.VTables)
	inherit(&f.Constants, base.Constants)
	if f.DacTable == nil {
		f.DacTable = base.DacTable
	}
}

// inherit adds the entries of base that members lacks.
func inherit[T any](members *map[string]T, base map[string]T) {
	if *members == nil {
		*members = make(map[string]T, len(base))
	}
	for name, m := range base {
		if _, have := (*members)[name]; !have {
			(*members)[name] = m
		}
	}
}

// parseTable decodes one of our own tables. base returns the text of the table that it derives from.
func parseTable(raw []byte, source string, base func(name string) ([]byte, error)) (*Part, error) {
	return parseGrown(raw, source, 0, base)
}

// parseGrown is parseTable with the number of bytes by which locks are larger than in the table's base, 0 for
// the likeliest.
func parseGrown(raw []byte, source string, growth int, base func(name string) ([]byte, error)) (*Part, error) {
	d, err := decodeTable(raw, growth, base)
	if err != nil {
		return nil, target.Corruptf("layout table %s: %w", source, err)
	}
	p := &Part{Source: source, growths: d.LockGrowth, base: d.Base, Major: d.Runtime, Like: d.Like, Verified: d.Verified,
		names: d.Names, table: d.DacTable, constants: d.Constants, vtables: map[string]int{}}
	for class, v := range d.VTables {
		switch {
		case v == nil:
		case v.DacSlot < 0:
			return nil, target.Corruptf("layout table %s: vtable %s: slot %d", source, class, v.DacSlot)
		default:
			p.vtables[class] = v.DacSlot
		}
	}
	maps.DeleteFunc(d.Constants, func(_ string, raw json.RawMessage) bool { return isNull(raw) })
	maps.DeleteFunc(d.Globals, func(_ string, raw json.RawMessage) bool { return isNull(raw) })
	maps.DeleteFunc(d.Types, func(_ string, members map[string]json.RawMessage) bool { return members == nil })
	for _, members := range d.Types {
		maps.DeleteFunc(members, func(_ string, raw json.RawMessage) bool { return isNull(raw) })
	}
	if p.types, err = parseTypes(d.Types); err != nil {
		return nil, err
	}
	p.globals, err = parseGlobals(d.Globals)
	return p, err
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

// maxBases bounds a chain of bases.
const maxBases = 4

// decodeTable decodes a table and adds the members of its bases.
func decodeTable(raw []byte, growth int, base func(name string) ([]byte, error)) (*tableFile, error) {
	var d tableFile
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, err
	}
	if growth == 0 && len(d.LockGrowth) > 0 {
		growth = d.LockGrowth[0]
	}
	next := d.Base
	for range maxBases {
		if next == "" {
			return &d, nil
		}
		raw, err := base(next)
		if err != nil {
			return nil, fmt.Errorf("its base: %w", err)
		}
		var b tableFile
		if err := json.Unmarshal(raw, &b); err != nil {
			return nil, fmt.Errorf("its base %s: %w", next, err)
		}
		if growth != 0 {
			if err := b.move(growth, d.Moves); err != nil {
				return nil, fmt.Errorf("its base %s: %w", next, err)
			}
		}
		d.inherit(&b)
		next = b.Base
	}
	return nil, fmt.Errorf("more than %d bases", maxBases)
}

// DerivedFrom returns the system and processor ("linux-x64") of the table from which the part was computed by
// the sizes of locks, if no process has proved it yet. Otherwise it returns "".
func (p *Part) DerivedFrom() string {
	if len(p.growths) == 0 || len(p.Verified) > 0 {
		return ""
	}
	_, platform, _ := strings.Cut(p.base, "-") // e.g. clr8-linux-x64
	return platform
}

// DacTable returns the description of the runtime's table of globals, or nil.
func (p *Part) DacTable() *DacTable { return p.table }

// SubDescriptors maps names of sub-descriptors to indexes in the pointer data. The pointer there leads to a
// pointer to the sub-descriptor's header.
func (p *Part) SubDescriptors() map[string]int { return p.subs }

// Unknown lists the keys of the descriptor that are not read, sorted.
func (p *Part) Unknown() []string { return p.unknown }

// Conflict returns an error if p and other describe the same member differently. Parts of one descriptor must
// agree.
func (p *Part) Conflict(other *Part) error {
	for _, name := range slices.Sorted(maps.Keys(other.types)) {
		mine, both := p.types[name]
		if !both {
			continue
		}
		theirs := other.types[name]
		if mine.size >= 0 && theirs.size >= 0 && mine.size != theirs.size {
			return target.Corruptf("contract descriptors disagree on the size of %s: %d and %d", name, mine.size, theirs.size)
		}
		for field, f := range theirs.fields {
			if m, ok := mine.fields[field]; ok && m.Offset != f.Offset {
				return target.Corruptf("contract descriptors disagree on %s.%s: %d and %d", name, field, m.Offset, f.Offset)
			}
		}
	}
	for name, g := range other.globals {
		if mine, ok := p.globals[name]; ok && (mine.direct != g.direct || mine.value != g.value || g.value == 0 && mine.text != g.text) {
			return target.Corruptf("contract descriptors disagree on global %s", name)
		}
	}
	for name, v := range other.contracts {
		if mine, ok := p.contracts[name]; ok && mine != v {
			return target.Corruptf("contract descriptors disagree on contract %s: versions %s and %s", name, mine, v)
		}
	}
	return nil
}

// Contradicts returns an error if p and other, descriptors of the same build, are not equal.
func (p *Part) Contradicts(other *Part) error {
	if err := p.Conflict(other); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(other.types)) {
		if mine, both := p.types[name]; !both || !maps.Equal(mine.fields, other.types[name].fields) || mine.size != other.types[name].size {
			return target.Corruptf("contract descriptors of one build disagree on the members of %s", name)
		}
	}
	if len(p.types) != len(other.types) || !maps.Equal(p.globals, other.globals) || !maps.Equal(p.contracts, other.contracts) || !maps.Equal(p.subs, other.subs) {
		return target.Corruptf("contract descriptors of one build disagree on types, globals or contracts")
	}
	return nil
}
