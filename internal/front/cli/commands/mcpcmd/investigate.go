package mcpcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/mcpserver"
)

// mostInvestigation is the maximum size of the document of investigate, in bytes. With the frame around it, the answer
// has at most 4 KB.
const mostInvestigation = 3500

// An investigation is the answer of the tool investigate.
type investigation struct {
	Finding    *finding       `json:"finding,omitempty"`
	Says       string         `json:"says,omitempty"` // if there is no finding
	Exceptions []exception    `json:"exceptions,omitempty"`
	Crash      []string       `json:"crashStack,omitempty"`
	Threads    []stackOf      `json:"threads,omitempty"`
	Pool       *pool          `json:"threadPool,omitempty"`
	Waits      []waitGroup    `json:"waits,omitempty"`
	Requests   []requestGroup `json:"requests,omitempty"`
	Holders    []holder       `json:"holders,omitempty"`
	Samples    *samples       `json:"samples,omitempty"`
	Types      []typeCount    `json:"types,omitempty"`
	Faults     []string       `json:"faults,omitempty"`
	Others     []other        `json:"otherFindings,omitempty"`
	More       int            `json:"moreFindings,omitempty"`
	Unknown    string         `json:"unknown,omitempty"`
	Next       []call         `json:"next"`
}

type finding struct {
	Kind     string   `json:"kind"`
	Severity string   `json:"severity"`
	Strength string   `json:"strength"`
	Text     string   `json:"text"`
	Evidence []string `json:"evidence,omitempty"`
}

type other struct {
	Kind     string `json:"kind"`
	Strength string `json:"strength"`
	Text     string `json:"text"`
}

type exception struct {
	Type    string   `json:"type"`
	Message string   `json:"message,omitempty"`
	Address string   `json:"address,omitempty"`
	Stack   []string `json:"stack,omitempty"`
}

type stackOf struct {
	Thread string   `json:"thread"`
	Stack  []string `json:"stack"`
}

type pool struct {
	Workers int `json:"workers"`
	Queued  int `json:"queued"`
}

type waitGroup struct {
	Count  int    `json:"count"`
	Text   string `json:"text"`
	Method string `json:"method,omitempty"`
	State  string `json:"state,omitempty"`
	First  string `json:"first,omitempty"`
}

type holder struct {
	Text     string `json:"text"`
	Owner    string `json:"owner,omitempty"`
	Retained int    `json:"retained"`
	Path     string `json:"path,omitempty"`
	Remedy   string `json:"remedy,omitempty"`
}

// samples are some of the objects that a holder keeps.
type samples struct {
	Type    string   `json:"type"`
	Of      int      `json:"of"`
	Objects []string `json:"objects"`
}

// A room limits the lists and texts of an investigation.
type room struct{ lines, items, text int }

// rooms are tried from the first on, until an investigation is small enough.
var rooms = []room{{12, 6, 400}, {8, 4, 260}, {6, 3, 180}, {4, 2, 130}, {3, 1, 90}, {2, 1, 60}}

// An inquiry collects the documents of an investigation, each once.
type inquiry struct {
	ask    mcpserver.Ask
	triage *mcpserver.Composed
	noHeap bool                           // leave out what takes long on a large heap
	docs   map[string]*mcpserver.Composed // by command
}

// doc returns the result of a command, or an empty one.
func (q *inquiry) doc(ctx context.Context, words ...string) (document, error) {
	key := strings.Join(words, " ")
	if q.docs[key] == nil {
		c, err := q.ask(ctx, words...)
		if err != nil {
			return document{}, err
		}
		q.docs[key] = c
	}
	return result(q.docs[key]), nil
}

// unanswered returns the command lines of the questions behind a finding that have no result.
func (q *inquiry) unanswered() (out []string) {
	for key, c := range q.docs {
		if c.Document["result"] == nil {
			out = append(out, strings.Replace(key, " -fold", "", 1)) // findings recommend it without
		}
	}
	slices.Sort(out)
	return out
}

// investigateWords returns the command line of the tool investigate.
func investigateWords(given map[string]any) ([]string, error) {
	noheap, err := flagOf(given, "noheap")
	if noheap {
		return []string{"triage", "-noheap"}, err
	}
	return []string{"triage"}, err
}

// investigate answers with the first finding of triage, the facts behind it and the next calls.
func (a *asker) investigate(ctx context.Context, ask mcpserver.Ask, given map[string]any) (*mcpserver.Composed, error) {
	words, err := investigateWords(given)
	if err != nil {
		return nil, err
	}
	triage, err := ask(ctx, words...)
	if err != nil {
		return nil, err
	}
	if triage.Document["result"] == nil { // there is nothing to rank: the error says why
		return triage, nil
	}
	q := &inquiry{ask, triage, len(words) > 1, map[string]*mcpserver.Composed{}}
	var out *mcpserver.Composed
	var last *investigation
	for _, r := range rooms {
		i, err := a.inquire(ctx, q, r)
		if err != nil {
			return nil, err
		}
		if out = made(toolInvestigate, i, triage); isSmall(out) {
			return out, nil
		}
		last = i
	}
	for _, part := range parts {
		part.drop(last)
		last.Unknown = strings.TrimPrefix(last.Unknown+"; left out for their size: "+part.name, "; ")
		if out = made(toolInvestigate, last, triage); isSmall(out) {
			break
		}
	}
	return out, nil
}

// parts are left out of an investigation, the least important first, if it fits into no room.
var parts = []struct {
	name string
	drop func(*investigation)
}{
	{"other findings", func(i *investigation) { i.More, i.Others = i.More+len(i.Others), nil }},
	{"types", func(i *investigation) { i.Types = nil }},
	{"samples", func(i *investigation) { i.Samples = nil }},
	{"waits", func(i *investigation) { i.Waits = nil }},
	{"requests", func(i *investigation) { i.Requests = nil }},
	{"holders", func(i *investigation) { i.Holders = nil }},
}

func isSmall(c *mcpserver.Composed) bool {
	raw, err := json.Marshal(c.Document)
	return err == nil && len(raw) <= mostInvestigation
}

// inquire makes an investigation that fits into a room.
func (a *asker) inquire(ctx context.Context, q *inquiry, r room) (*investigation, error) {
	triage := result(q.triage)
	out := &investigation{Unknown: unknownOf(triage, r)}
	list := triage.list("findings")
	if len(list) == 0 {
		out.Says = "triage has found nothing in what it looked at"
		var err error
		if !q.noHeap {
			out.Types, err = largestTypes(ctx, q, r)
		}
		out.Next = []call{{"memory", map[string]any{}, "which memory there is"}, {toolThreads, map[string]any{}, "what threads do"},
			{"doctor", map[string]any{}, "what the dump lacks"}}
		return out, err
	}
	first := list[0]
	out.Finding = &finding{first.text("kind"), first.text("severity"), first.text("strength"), cut(first.text("text"), 2*r.text), evidenceOf(first, r)}
	for _, f := range list[1:] {
		if len(out.Others) == 2*r.items {
			out.More = len(list) - 1 - len(out.Others)
			break
		}
		out.Others = append(out.Others, other{f.text("kind"), f.text("strength"), cut(strings.Join(append([]string{f.text("text")}, additions(f)...), "; "), r.text)})
	}
	commands := commandsOf(first)
	for _, command := range commands {
		if q.noHeap && a.looksAtHeap(command) {
			continue
		}
		words := strings.Fields(command)
		for _, d := range details {
			if slices.Contains(d.of, words[0]) {
				if err := d.add(ctx, q, r, words, out); err != nil {
					return nil, err
				}
			}
		}
	}
	failed := q.unanswered()
	if len(failed) > 0 {
		text := "not answered: " + strings.Join(failed[:min(len(failed), 2*r.items)], ", ")
		if rest := len(failed) - 2*r.items; rest > 0 {
			text += fmt.Sprintf(" and %d more", rest)
		}
		out.Unknown = strings.TrimPrefix(out.Unknown+"; "+text, "; ")
	}
	out.Next = a.nextCalls(list, failed, q.noHeap)
	return out, nil
}

// commandsOf returns the commands that a finding and its clauses recommend, the best first.
func commandsOf(f document) (out []string) {
	add := func(list []string) {
		for _, c := range list {
			if c != "" && !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	for _, c := range f.list("clauses") {
		add(c.texts(mostExamples, "show"))
	}
	add(f.texts(mostExamples, "next"))
	return out
}

// evidenceOf returns the evidence of a finding's clauses, those that its text does not say.
func evidenceOf(f document, r room) (out []string) {
	for _, text := range additions(f) {
		out = append(out, cut(text, r.text))
	}
	out = out[:min(len(out), r.items)]
	for _, c := range f.list("clauses") {
		for _, e := range c.texts(r.items, "evidence") {
			if len(out) < r.items {
				out = append(out, cut(e, r.text))
			}
		}
	}
	return out
}

// additions returns what a finding's clauses say beyond its text, with their strength.
func additions(f document) (out []string) {
	for _, c := range f.list("clauses") {
		if text := c.text("text"); !strings.Contains(text, f.text("text")) && !strings.Contains(f.text("text"), text) {
			out = append(out, fmt.Sprintf("%s [%s]", text, c.text("strength")))
		}
	}
	return out
}

// unknownOf says what triage could not look at.
func unknownOf(triage document, r room) string {
	var names []string
	list := triage.list("unknown")
	for _, u := range list {
		if len(names) < 2*r.items {
			names = append(names, u.text("subject"))
		}
	}
	if len(list) == 0 {
		return ""
	}
	more := ""
	if n := len(list) - len(names); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("not looked at, or only in part: %s%s; triage has the reasons", strings.Join(names, ", "), more)
}

// mostNext is the number of calls that investigate recommends.
const mostNext = 3

// nextCalls returns the calls that findings recommend, in their order, without those that have failed. With noHeap, it
// leaves out those that look at the heap.
func (a *asker) nextCalls(findings []document, failed []string, noHeap bool) []call {
	out := []call{}
	for i, f := range findings {
		for _, line := range commandsOf(f) {
			if slices.Contains(failed, line) || noHeap && a.looksAtHeap(line) {
				continue
			}
			c, ok := a.Next(line)
			n := call{Tool: c.Tool, Arguments: c.Arguments}
			same := func(x call) bool { return x.Tool == n.Tool && reflect.DeepEqual(x.Arguments, n.Arguments) }
			if !ok || slices.ContainsFunc(out, same) {
				continue
			}
			if i > 0 {
				n.Why = f.text("kind")
			}
			if out = append(out, n); len(out) == mostNext {
				return out
			}
		}
	}
	arguments := map[string]any{}
	if noHeap {
		arguments["noheap"] = true
	}
	return append(out, call{"triage", arguments, "all findings with their evidence"})
}

// looksAtHeap reports whether a command line asks about objects of the heap or about what holds memory.
func (a *asker) looksAtHeap(line string) bool {
	name, _, _ := strings.Cut(line, " ")
	return slices.ContainsFunc(a.c.Commands(), func(c *cli.Command) bool {
		return (c.Group == cli.GroupObjects || c.Group == cli.GroupMemory) && (c.Name == name || slices.Contains(c.Aliases, name))
	})
}

// details add to an investigation what the commands show that the finding recommends.
var details = []struct {
	of  []string // commands
	add func(ctx context.Context, q *inquiry, r room, words []string, out *investigation) error
}{
	{[]string{"crashinfo"}, addCrash},
	{[]string{"clrstack"}, addThread},
	{[]string{"threadpool"}, addPool},
	{[]string{"waits", "threadpool"}, addWaits},
	{[]string{"waits", "threadpool", "httpclients", "sqlpools", "requests"}, addRequests},
	{[]string{"leaks"}, addHolders},
	{[]string{"leaks"}, addSamples},
	{[]string{"leaks", "analyzeoom"}, addTypes},
	{[]string{"verifyheap"}, addFaults},
}

func addCrash(ctx context.Context, q *inquiry, r room, _ []string, out *investigation) error {
	crash, err := q.doc(ctx, "crashinfo")
	if err != nil {
		return err
	}
	for _, e := range crash.list("exceptions") {
		if len(out.Exceptions) == r.items {
			break
		}
		var frames []string
		for _, f := range e.list("frames") {
			if _, name, ok := strings.Cut(frameText(f), "!"); ok && len(frames) < r.lines/2 {
				frames = append(frames, cutFrame(compilernames.CSharpMethod(name), r.text))
			}
		}
		out.Exceptions = append(out.Exceptions, exception{cut(compilernames.CSharp(e.text("type")), r.text), cut(e.text("message"), r.text), e.text("address"), frames})
	}
	out.Crash = cutAll(foldedStack(crash.list("stack"), r.lines), r)
	return nil
}

func addThread(ctx context.Context, q *inquiry, r room, words []string, out *investigation) error {
	if len(words) != 2 || strings.HasPrefix(words[1], "-") || len(out.Threads) == r.items {
		return nil
	}
	stack, err := q.doc(ctx, "clrstack", "-fold", words[1])
	if err != nil {
		return err
	}
	threads, err := q.doc(ctx, "threads")
	if err != nil {
		return err
	}
	name := words[1]
	for _, t := range threads.list("threads") {
		if t.text("index") == words[1] {
			name = cut(strings.TrimSpace(name+" "+t.text("name")), r.text)
		}
	}
	if lines := cutAll(foldedStack(stack.list("frames"), r.lines), r); len(lines) > 0 && !slices.ContainsFunc(out.Threads, func(s stackOf) bool { return s.Thread == name }) {
		out.Threads = append(out.Threads, stackOf{name, lines})
	}
	return nil
}

func addPool(ctx context.Context, q *inquiry, _ room, _ []string, out *investigation) error {
	p, err := q.doc(ctx, "threadpool")
	if err == nil && p.has("workers") && p.has("queued") {
		out.Pool = &pool{p.number("workers"), p.number("queued")}
	}
	return err
}

func addWaits(ctx context.Context, q *inquiry, r room, _ []string, out *investigation) error {
	if out.Waits != nil {
		return nil
	}
	waits, err := q.doc(ctx, "waits")
	if err != nil {
		return err
	}
	var all []waitGroup
	for _, g := range groups(waits.list("threads"), func(t document) string { return t.text("text") + "\x00" + t.text("name") + "\x00" + t.text("method") }) {
		t := g.list[0]
		text := t.text("text")
		if name := t.text("name"); name != "" {
			text += " " + name
		}
		all = append(all, waitGroup{Count: len(g.list), Text: text, Method: frameText(t), First: "thread " + t.text("thread", "index")})
	}
	for _, o := range waits.list("operations") {
		w := waitGroup{Count: o.number("count"), Text: o.text("text"), Method: frameText(o), State: o.text("state")}
		if first := o.texts(1, "first"); len(first) > 0 {
			w.First = first[0]
		}
		all = append(all, w)
	}
	slices.SortStableFunc(all, func(a, b waitGroup) int { return cmp.Compare(b.Count, a.Count) })
	out.Waits = all[:min(len(all), r.items)]
	for i := range out.Waits {
		w := &out.Waits[i]
		w.Text, w.Method, w.State, w.First = cut(w.Text, r.text), cutFrame(w.Method, r.text), cut(w.State, r.text), cut(w.First, r.text)
	}
	return nil
}

func addRequests(ctx context.Context, q *inquiry, r room, _ []string, out *investigation) error {
	if out.Requests != nil {
		return nil
	}
	requests, err := q.doc(ctx, "requests")
	if err != nil {
		return err
	}
	list := requestsBy(requests)
	out.Requests = list[:min(len(list), r.items)]
	for i := range out.Requests {
		g := &out.Requests[i]
		g.Route, g.State, g.Waits, g.In = cut(g.Route, r.text), cut(g.State, r.text), cut(g.Waits, r.text), cutFrame(g.In, r.text)
		g.Contexts = g.Contexts[:min(len(g.Contexts), 1)]
	}
	return nil
}

func addHolders(ctx context.Context, q *inquiry, r room, _ []string, out *investigation) error {
	leaks, err := q.doc(ctx, "leaks")
	if err != nil {
		return err
	}
	for _, s := range leaks.list("suspects") {
		if len(out.Holders) == r.items {
			break
		}
		h := holder{Text: cut(s.text("text"), r.text), Retained: s.number("retained"), Remedy: cut(s.text("remedy", "text"), r.text)}
		if o := s.at("owner"); o.has("address") {
			h.Owner = cut(compilernames.CSharpShort(o.text("type")), r.text) + " " + o.text("address")
		}
		h.Path = pathOf(s.at("path"), r)
		out.Holders = append(out.Holders, h)
	}
	return nil
}

const (
	// sampled is the number of objects that samples are taken from, evenly.
	sampled = 300
	// mostSamples is the number of objects of a sample.
	mostSamples = 3
)

// addSamples adds some of the objects that the largest holder keeps, with what their fields contain.
func addSamples(ctx context.Context, q *inquiry, r room, _ []string, out *investigation) error {
	leaks, err := q.doc(ctx, "leaks")
	if err != nil {
		return err
	}
	suspects := leaks.list("suspects")
	if len(suspects) == 0 {
		return nil
	}
	members := suspects[0].at("members")
	name := members.text("type")
	if name == "" || strings.ContainsAny(name, `"'|`) {
		return nil
	}
	rows, err := q.doc(ctx, "query", "-rows", fmt.Sprint(sampled), fmt.Sprintf(`from objects of exactly "%s" | select address | top %d`, name, sampled))
	if err != nil {
		return err
	}
	list := rows.list("rows")
	s := &samples{Type: cut(compilernames.CSharp(name), r.text), Of: members.number("count")}
	for i := range min(mostSamples, r.items, len(list)) {
		address := list[i*len(list)/min(mostSamples, r.items, len(list))].text("address")
		object, err := q.doc(ctx, "dumpobj", address)
		if err != nil {
			return err
		}
		var fields []string
		for _, f := range object.list("fields") {
			if value := cmp.Or(f.text("text"), f.text("value")); f.text("kind") == "instance" && value != "" && len(fields) < 2*r.items {
				fields = append(fields, cut(compilernames.CSharpShort(f.text("name")), r.text/4)+"="+cut(value, r.text/4))
			}
		}
		s.Objects = append(s.Objects, cut(strings.TrimSpace(address+" "+strings.Join(fields, ", ")), r.text))
	}
	if len(s.Objects) > 0 {
		out.Samples = s
	}
	return nil
}

// pathOf returns the root and the objects of a path on one line.
func pathOf(p document, r room) string {
	steps := []string{cut(cmp.Or(p.text("root", "name"), p.text("root", "kind")), r.text)}
	objects := p.list("objects")
	for i, o := range objects {
		if i == r.items && len(objects) > r.items+1 {
			steps = append(steps, fmt.Sprintf("… %d objects …", len(objects)-1-i))
		}
		if i < r.items || i == len(objects)-1 {
			steps = append(steps, cut(compilernames.CSharpShort(o.text("type")), r.text))
		}
	}
	if steps[0] == "" {
		return ""
	}
	return strings.Join(steps, " → ")
}

func addTypes(ctx context.Context, q *inquiry, r room, _ []string, out *investigation) error {
	types, err := largestTypes(ctx, q, r)
	out.Types = types
	return err
}

// largestTypes returns the types that take most of the heap.
func largestTypes(ctx context.Context, q *inquiry, r room) ([]typeCount, error) {
	ask := func(ctx context.Context, words ...string) (*mcpserver.Composed, error) {
		_, err := q.doc(ctx, words...)
		return q.docs[strings.Join(words, " ")], err
	}
	c, err := typeGroups(ctx, ask, nil)
	if err != nil {
		return nil, err
	}
	var out []typeCount
	for _, t := range result(c).list("types") {
		if len(out) < r.items {
			out = append(out, typeCount{Type: cut(compilernames.CSharp(t.text("type")), r.text), Count: t.number("count"), Size: t.number("size")})
		}
	}
	return out, nil
}

func addFaults(ctx context.Context, q *inquiry, r room, _ []string, out *investigation) error {
	verified, err := q.doc(ctx, "verifyheap")
	if err != nil {
		return err
	}
	for _, f := range verified.list("faults") {
		if len(out.Faults) < 2*r.items {
			out.Faults = append(out.Faults, cut(f.text("reason"), r.text))
		}
	}
	return nil
}
