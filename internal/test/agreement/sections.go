package agreement

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A section compares the facts of one kind: ask runs p and counts the answers in s. rows has a line
// of JSON for each fact.
type section struct {
	name  string
	facts string // the file of facts
	ask   func(p *Program, rows [][]byte, s *Score) error
}

// sections are in the order of the report.
var sections = []section{
	{"objects", "objects", objects},
	{"heapstat", "heapstat", heapstat},
	{"segments", "segments", segments},
	{"threads", "threads", threads},
	{"values", "values", values},
	{"types", "types", types},
	{"methods", "methods", methods},
	{"modules", "modules", modules},
	{"exceptions", "exceptions", exceptions},
	{"syncblocks", "syncblocks", syncblocks},
	{"stacks", "stacks", stacks},
	{"strings", "objects", stringsOf},
}

// decode decodes the rows. A row of another form, such as a total, has zero fields.
func decode[T any](rows [][]byte) ([]T, error) {
	out := make([]T, len(rows))
	for i, raw := range rows {
		if err := json.Unmarshal(raw, &out[i]); err != nil {
			return nil, fmt.Errorf("fact %d: %w", i+1, err)
		}
	}
	return out, nil
}

// matches returns the groups of a pattern for each matching line of text.
func matches(pattern *regexp.Regexp, text string) (out [][]string) {
	for _, line := range lines(text) {
		if m := pattern.FindStringSubmatch(line); m != nil {
			out = append(out, m)
		}
	}
	return out
}

// group returns the first group of a pattern in text, and whether it matches.
func group(pattern *regexp.Regexp, text string) (string, bool) {
	m := pattern.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	return m[1], true
}

type objectFact struct {
	Address, MT *hex
	Size        int
	Type        string
	Free        bool
	String      any
	Total       *int
}

var objectLine = regexp.MustCompile(`(?i)^\s*([0-9a-f]{8,16})\s+([0-9a-f]{4,16})\s+([\d,]+)\s*(Free)?\s*$`)

func objects(p *Program, rows [][]byte, s *Score) error {
	facts, err := decode[objectFact](rows)
	if err != nil {
		return err
	}
	type object struct {
		mt   hex
		size int
		free bool
	}
	got := map[hex]object{}
	for _, m := range matches(objectLine, p.Run("dumpheap").Stdout) {
		got[num(m[1])] = object{num(m[2]), count(m[3]), m[4] != ""}
	}
	for i, r := range facts {
		if r.Address != nil && r.MT != nil {
			g, ok := got[*r.Address]
			s.want(i, ok && g == object{*r.MT, r.Size, r.Free}, "object %v %s of %d bytes: got %v", *r.Address, r.Type, r.Size, g)
		}
		if r.Total != nil {
			s.want(i, len(got) == *r.Total, "%d objects: got %d", *r.Total, len(got))
		}
	}
	return nil
}

var statLine = regexp.MustCompile(`(?i)^\s*([0-9a-f]{4,16})\s+([\d,]+)\s+([\d,]+)\s+(\S.*?)\s*$`)

func heapstat(p *Program, rows [][]byte, s *Score) error {
	facts, err := decode[struct {
		MT          hex
		Count, Size int
		Type        string
	}](rows)
	if err != nil {
		return err
	}
	got := map[hex][]string{}
	for _, m := range matches(statLine, p.Run("dumpheap -stat").Stdout) {
		got[num(m[1])] = m[2:]
	}
	for i, r := range facts {
		if r.MT == 0 {
			continue
		}
		g, ok := got[r.MT]
		s.want(i, ok && count(g[0]) == r.Count && count(g[1]) == r.Size, "%v: got %v", r, g)
		s.want(i, ok && (r.Type == "" || g[2] == r.Type), "type %s: got %v", r.Type, g)
	}
	return nil
}

var segmentLine = regexp.MustCompile(`(?i)^\s*([0-9a-f]{8,16})\s+([0-9a-f]{8,16})\s+([0-9a-f]{8,16})\s+([0-9a-f]{8,16})\s`)

func segments(p *Program, rows [][]byte, s *Score) error {
	facts, err := decode[struct {
		Address hex
		Kind    string
		Objects [2]hex
	}](rows)
	if err != nil {
		return err
	}
	got := map[[2]hex]bool{}
	for _, m := range matches(segmentLine, p.Run("eeheap -gc").Stdout) {
		got[[2]hex{num(m[2]), num(m[3])}] = true
	}
	for i, r := range facts {
		if r.Kind != "" {
			s.want(i, got[r.Objects], "segment %s %v with objects %v", r.Kind, r.Address, r.Objects)
		}
	}
	return nil
}

var threadLine = regexp.MustCompile(`(?i)^\s*(\d+|XXXX)\s+(\d+)\s+([0-9a-f]+)\s+([0-9a-f]{8,16})\s+([0-9a-f]+)\s+(Preemptive|Cooperative)\s+` +
	`([0-9a-f]+):([0-9a-f]+)\s+([0-9a-f]+)\s+(\S+)\s*(.*)$`)

func threads(p *Program, rows [][]byte, s *Score) error {
	facts, err := decode[struct {
		Address           hex
		OSID              uint64 `json:"osId"`
		ManagedID         int
		State             hex
		GCMode            string
		AppDomain         hex
		AllocationContext []hex
		Exception         json.RawMessage
	}](rows)
	if err != nil {
		return err
	}
	got := map[hex][]string{}
	for _, m := range matches(threadLine, p.Run("clrthreads").Stdout) {
		got[num(m[4])] = m
	}
	for i, r := range facts {
		name := fmt.Sprintf("thread %d (OS %x)", r.ManagedID, r.OSID)
		m, ok := got[r.Address]
		s.want(i, ok, "%s is missing", name)
		if !ok {
			continue
		}
		s.want(i, count(m[2]) == r.ManagedID && num(m[3]) == hex(r.OSID), "%s: got ids %s and %s", name, m[2], m[3])
		s.want(i, num(m[5]) == r.State, "%s: state %v, got %s", name, r.State, m[5])
		s.want(i, m[6] == r.GCMode, "%s: %s, got %s", name, r.GCMode, m[6])
		s.want(i, len(r.AllocationContext) == 2 && num(m[7]) == r.AllocationContext[0] && num(m[8]) == r.AllocationContext[1],
			"%s: allocation context %v, got %s:%s", name, r.AllocationContext, m[7], m[8])
		s.want(i, num(m[9]) == r.AppDomain, "%s: domain %v, got %s", name, r.AppDomain, m[9])
		var e *struct {
			Type    string
			Address hex
		}
		if json.Unmarshal(r.Exception, &e) == nil && e != nil {
			s.want(i, strings.Contains(m[11], e.Type) && strings.Contains(strings.ToLower(m[11]), fmt.Sprintf("%x", uint64(e.Address))),
				"%s: exception %v, got %s", name, *e, m[11])
		}
	}
	return nil
}

type typeFact struct {
	MT                  hex
	Name                string
	Token, Base, Module hex
	Attributes          *string
	StaticSize          int64
}

var typeLabels = map[string]*regexp.Regexp{}

func init() {
	for _, label := range []string{"mdToken", "Parent", "Module", "BaseSize"} {
		typeLabels[label] = regexp.MustCompile(`(?im)^` + label + `:\s*(?:0x)?([0-9a-f]+)`)
	}
}

func types(p *Program, rows [][]byte, s *Score) error {
	facts, err := decode[typeFact](rows)
	if err != nil {
		return err
	}
	var chosen []int
	for i, r := range facts {
		if r.Name != "" && !strings.HasPrefix(r.Name, "error") && r.Name != "Free" {
			chosen = append(chosen, i)
		}
	}
	step := max(1, len(chosen)/400)
	var ask []string
	var rowsOf []int
	for k := 0; k < len(chosen); k += step {
		rowsOf = append(rowsOf, chosen[k])
		ask = append(ask, "dumpmt "+facts[chosen[k]].MT.String())
	}
	for k, text := range p.each(ask) {
		i := rowsOf[k]
		r := facts[i]
		for _, want := range []struct {
			label string
			value hex
		}{{"mdToken", r.Token}, {"Parent", r.Base}, {"Module", r.Module}, {"BaseSize", hex(r.StaticSize)}} {
			// In the facts 0 means unknown. Only for an interface and for System.Object is a parent
			// of 0 a fact.
			if want.value == 0 && (want.label == "mdToken" || want.label == "Module" || want.label == "Parent" && !r.isInterface() && r.Name != "System.Object") {
				continue
			}
			m, ok := group(typeLabels[want.label], text)
			s.want(i, ok && num(m) == want.value, "%v %s: %s %v, got %s", r.MT, r.Name, want.label, want.value, m)
		}
	}
	return nil
}

// isInterface reports whether the type's attributes (ECMA-335, II.23.1.15) mark an interface.
func (r *typeFact) isInterface() bool {
	return r.Attributes != nil && num(*r.Attributes)&0x20 != 0 && *r.Attributes != ""
}

var methodLine = regexp.MustCompile(`(?i)^\s*([0-9a-f]{8,16})\s+([0-9a-f]{8,16})\s+(\w+)\s+([0-9a-f]+)\s+(\S.*?)\s*$`)

// mostTables is the maximum number of MethodTables with compared methods.
const mostTables = 150

func methods(p *Program, rows [][]byte, s *Score) error {
	facts, err := decode[struct {
		Method     *hex
		MT         hex
		Type, Name string
		Signature  string
		Code       hex
	}](rows)
	if err != nil {
		return err
	}
	byTable := map[hex][]int{}
	var tables []hex
	for i, r := range facts {
		if r.Method == nil {
			continue
		}
		if byTable[r.MT] == nil {
			tables = append(tables, r.MT)
		}
		byTable[r.MT] = append(byTable[r.MT], i)
	}
	tables = tables[:min(len(tables), mostTables)]
	ask := make([]string, len(tables))
	for k, mt := range tables {
		ask[k] = "dumpmt -md " + mt.String()
	}
	for k, text := range p.each(ask) {
		got := map[hex][]string{}
		for _, m := range matches(methodLine, text) {
			got[num(m[2])] = m
		}
		for _, i := range byTable[tables[k]] {
			r := facts[i]
			m, ok := got[*r.Method]
			s.want(i, ok, "%s.%s %v is missing in dumpmt -md %v", r.Type, r.Name, *r.Method, r.MT)
			if ok {
				compiled := r.Code != 0 && r.Code != ^hex(0) || m[3] == "FCALL"
				s.want(i, (m[3] != "NONE") == compiled, "%s: code %v, got %s", r.Signature, r.Code, m[3])
			}
		}
	}
	return nil
}

func modules(p *Program, rows [][]byte, s *Score) error {
	facts, err := decode[struct {
		Name      string
		ImageBase hex
		Dynamic   bool
	}](rows)
	if err != nil {
		return err
	}
	text := p.Run("clrmodules").Stdout + p.Run("assemblies").Stdout
	for i, r := range facts {
		if r.Name == "" || r.Dynamic {
			continue
		}
		base := r.Name[strings.LastIndexAny(r.Name, `/\`)+1:]
		line := regexp.MustCompile(fmt.Sprintf(`(?i)0*%x\s+\S+\s+.*%s`, uint64(r.ImageBase), regexp.QuoteMeta(base)))
		s.want(i, line.MatchString(text), "module %v %s", r.ImageBase, r.Name)
	}
	return nil
}

var (
	exceptionType    = regexp.MustCompile(`(?m)^Exception type:\s*(.*?)\s*$`)
	exceptionHResult = regexp.MustCompile(`(?im)^HResult:\s*([0-9a-f]+)`)
	exceptionFrame   = regexp.MustCompile(`(?im)^\s+[0-9a-f]{8,16} ([0-9a-f]{8,16}) `)
)

// mostExceptions is the maximum number of compared exceptions.
const mostExceptions = 100

func exceptions(p *Program, rows [][]byte, s *Score) error {
	facts, err := decode[struct {
		Address hex
		Type    string
		HResult hex
		Frames  json.RawMessage
	}](rows)
	if err != nil {
		return err
	}
	var rowsOf []int
	var ask []string
	for i, r := range facts {
		if r.Type != "" && len(ask) < mostExceptions {
			rowsOf, ask = append(rowsOf, i), append(ask, "pe "+r.Address.String())
		}
	}
	for k, text := range p.each(ask) {
		i := rowsOf[k]
		r := facts[i]
		m, ok := group(exceptionType, text)
		s.want(i, ok && m == r.Type, "%v %s: got %s", r.Address, r.Type, m)
		m, ok = group(exceptionHResult, text)
		s.want(i, ok && num(m) == r.HResult, "%v %s: HResult %v, got %s", r.Address, r.Type, r.HResult, m)
		ips := map[hex]bool{}
		for _, m := range exceptionFrame.FindAllStringSubmatch(text, -1) {
			ips[num(m[1])] = true
		}
		var frames []struct {
			IP        hex
			Signature string
		}
		_ = json.Unmarshal(r.Frames, &frames) // an error instead of a list means no frames
		for _, f := range frames {
			if f.Signature != "" {
				// A stack trace holds return addresses minus one, and SOS adds the one again.
				s.want(i, ips[f.IP] || ips[f.IP+1], "%v %s: frame %v %s", r.Address, r.Type, f.IP, f.Signature)
			}
		}
	}
	return nil
}

func syncblocks(p *Program, rows [][]byte, s *Score) error {
	facts, err := decode[struct {
		Index          *int
		Object, Thread hex
		Type           string
		Held           bool
	}](rows)
	if err != nil {
		return err
	}
	text := p.Run("syncblk -all").Stdout
	for i, r := range facts {
		if r.Index == nil || r.Type == "" {
			continue
		}
		line := regexp.MustCompile(fmt.Sprintf(`(?im)^\s*%d\s+([0-9a-f]+)\s+(\d+)\s+(\d+)\s+([0-9a-f]+)\s+.*?([0-9a-f]{8,16}) `, *r.Index))
		m := line.FindStringSubmatch(text)
		s.want(i, m != nil || r.Object == 0, "sync block %d of %v %s", *r.Index, r.Object, r.Type)
		if m != nil && r.Held {
			s.want(i, num(m[4]) == r.Thread, "sync block %d: held by %v, got %s", *r.Index, r.Thread, m[4])
		}
	}
	return nil
}

var (
	stackOf   = regexp.MustCompile(`(?i)^OS Thread Id: 0x([0-9a-f]+)`)
	frameLine = regexp.MustCompile(`(?i)^\s*([0-9a-f]{8,16})\s+([0-9a-f]{8,16})?\s*(\S.*)$`)
)

func stacks(p *Program, rows [][]byte, s *Score) error {
	facts, err := decode[struct {
		OSID            uint64 `json:"osId"`
		Index           int
		IP              *hex
		SP              hex
		Kind, Frame     string
		Name, Signature string
	}](rows)
	if err != nil {
		return err
	}
	type frame struct {
		sp, ip hex
		text   string
	}
	got := map[hex][]frame{}
	thread, known := hex(0), false
	for _, line := range lines(p.Run("clrstack -all").Stdout) {
		if id, ok := group(stackOf, line); ok {
			thread, known = num(id), true
			continue
		}
		if m := frameLine.FindStringSubmatch(line); m != nil && known {
			f := frame{sp: num(m[1]), text: m[3]}
			if m[2] != "" {
				f.ip = num(m[2])
			}
			got[thread] = append(got[thread], f)
		}
	}
	for i, r := range facts {
		managed := r.Kind == "ManagedMethod"
		if r.IP == nil || managed && r.Name == "" || !managed && r.Frame == "" {
			continue // the DAC could not name the method
		}
		found := false
		for _, f := range got[hex(r.OSID)] {
			if managed {
				found = found || f.sp == r.SP && f.ip == *r.IP && strings.Contains(f.text, strings.ReplaceAll(r.Name, "..", "."))
			} else {
				found = found || f.sp == r.SP && strings.Contains(f.text, r.Frame)
			}
		}
		s.want(i, found, "thread %x frame %d at SP %v and IP %v: %s%s", r.OSID, r.Index, r.SP, *r.IP, r.Signature, r.Frame)
	}
	return nil
}

var stringLine = regexp.MustCompile(`(?m)^String: {0,8}(.*)$`)

// mostStrings is the maximum number of compared strings. Strings of longString characters and more
// are skipped.
const mostStrings, longString = 400, 100

func stringsOf(p *Program, rows [][]byte, s *Score) error {
	facts, err := decode[objectFact](rows)
	if err != nil {
		return err
	}
	var rowsOf []int
	var ask, want []string
	for i, r := range facts {
		text, ok := r.String.(string)
		if ok && r.Address != nil && len(ask) < mostStrings && utf8.RuneCountInString(text) < longString && strings.IndexFunc(text, notPrintable) < 0 {
			rowsOf, ask, want = append(rowsOf, i), append(ask, "dumpobj "+r.Address.String()), append(want, text)
		}
	}
	for k, text := range p.each(ask) {
		m, ok := group(stringLine, text)
		ascii := strings.IndexFunc(want[k], func(r rune) bool { return r > unicode.MaxASCII }) < 0
		s.want(rowsOf[k], ok && (strings.TrimFunc(m, blank) == strings.TrimFunc(want[k], blank) || !ascii), "%s %q: got %q", ask[k], want[k], m)
	}
	return nil
}

func notPrintable(r rune) bool { return !unicode.IsPrint(r) }
