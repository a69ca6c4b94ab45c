package mcpcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/front/mcpserver"
)

// The tools that group what commands list.
const (
	toolInvestigate = "investigate"
	toolThreads     = "threads"
	toolStacks      = "stacks"
	toolRequests    = "requests"
	toolTypes       = "types"
)

const (
	mostExamples = 8  // examples of a group
	stackLines   = 12 // lines of a stack, unless frames are asked for
	topTypes     = 30 // types, unless more are asked for
)

// grouped returns the tools that are no commands.
func (a *asker) grouped() []mcpserver.Tool {
	investigate := composed(toolInvestigate, []string{"triage"}, a.investigate)
	investigate.Words = investigateWords
	investigate.Properties["noheap"] = map[string]any{"type": "boolean", "description": "leave out what takes long on a large heap: who holds memory"}
	investigate.Summary = "what is wrong, what the first finding rests on, and what to ask next"
	investigate.Help = "Start here. The first finding of triage with its threads and their stacks, who holds what, web requests by route, or what fills the heap, and the best next calls."

	threads := composed(toolThreads, []string{"clrthreads", "-live", "-stacks"}, threadGroups)
	threads.Summary, threads.Help = "what threads do, those that do the same together", "The numbers are those that clrstack takes."

	stacks := composed(toolStacks, []string{"clrstack", "-all", "-fold"}, stackGroups)
	stacks.Summary, stacks.Help = "the managed stacks of all threads, equal ones together", "Rounds of a recursion are folded."
	stacks.Properties["frames"] = map[string]any{"type": "boolean", "description": fmt.Sprintf("all frames, not only the %d innermost", stackLines)}
	stacks.Properties["method"] = map[string]any{"type": "string", "description": "only stacks with a method that has this in its name"}

	requests := composed(toolRequests, nil, requestGroups)
	requests.Summary, requests.Help = "the web requests in progress by route and wait", "With list or stacks, or a filter, each request by itself."
	for name, property := range map[string]map[string]any{
		"url":    {"type": "string", "description": "only requests with a URL that contains this"},
		"list":   {"type": "boolean", "description": "each request"},
		"stacks": {"type": "boolean", "description": "each request with all frames of its async code"},
	} {
		requests.Properties[name] = property
	}
	requests.Words = requestWords

	types := composed(toolTypes, nil, typeGroups)
	types.Summary, types.Help = "what fills the heap by type, the largest first", ""
	types.Properties["type"] = map[string]any{"type": "string", "description": "only types with a name that contains this"}
	types.Properties["live"] = map[string]any{"type": "boolean", "description": "only objects that something keeps alive"}
	types.Properties["top"] = map[string]any{"type": "integer", "minimum": 0, "default": topTypes, "description": "types at most, 0 for all"}
	types.Words = typeWords
	return []mcpserver.Tool{investigate, threads, stacks, requests, types}
}

// text returns an argument that is a text, and flag one that is true or false.
func textOf(given map[string]any, name string) (string, error) {
	v, ok := given[name]
	s, isText := v.(string)
	if ok && v != nil && !isText {
		return "", fmt.Errorf("%s: the value is not a text", name)
	}
	return s, nil
}

func flagOf(given map[string]any, name string) (bool, error) {
	v, ok := given[name]
	b, isBool := v.(bool)
	if ok && v != nil && !isBool {
		return false, fmt.Errorf("%s: the value is not true or false", name)
	}
	return b, nil
}

// A threadGroup is a group of threads that do the same.
type threadGroup struct {
	Count   int      `json:"count"`
	Does    string   `json:"does,omitempty"`
	Method  string   `json:"method,omitempty"`
	Threads []string `json:"threads"`
}

func threadGroups(ctx context.Context, ask mcpserver.Ask, _ map[string]any) (*mcpserver.Composed, error) {
	c, err := ask(ctx, "clrthreads", "-live", "-stacks")
	if err != nil {
		return nil, err
	}
	if u := unreadable(toolThreads, c); u != nil {
		return u, nil
	}
	does := func(t document) threadGroup {
		a := t.at("activity")
		g := threadGroup{Does: a.text("text"), Method: compilernames.CSharpMethod(cmp.Or(a.text("callerFrame"), a.text("topFrame")))}
		if special := t.texts(2, "special"); g.Does == "" && len(special) > 0 {
			g.Does = strings.Join(special, ", ")
		}
		return g
	}
	out := struct {
		Threads int           `json:"threads"`
		Groups  []threadGroup `json:"groups"`
	}{}
	list := result(c).list("threads")
	out.Threads = len(list)
	for _, g := range groups(list, func(t document) string { d := does(t); return d.Does + "\x00" + d.Method }) {
		one := does(g.list[0])
		one.Count = len(g.list)
		for _, t := range g.list[:min(len(g.list), mostExamples)] {
			one.Threads = append(one.Threads, strings.TrimSpace(t.text("index")+" "+t.text("name")))
		}
		out.Groups = append(out.Groups, one)
	}
	return made(toolThreads, out, c), nil
}

// A stackGroup is a group of threads with equal stacks.
type stackGroup struct {
	Count   int      `json:"count"`
	Threads []string `json:"threads"`
	Stack   []string `json:"stack"`
}

func stackGroups(ctx context.Context, ask mcpserver.Ask, given map[string]any) (*mcpserver.Composed, error) {
	frames, err := flagOf(given, "frames")
	if err != nil {
		return nil, err
	}
	method, err := textOf(given, "method")
	if err != nil {
		return nil, err
	}
	most := stackLines
	if frames {
		most = 1 << 20
	}
	c, err := ask(ctx, "clrstack", "-all", "-fold")
	if err != nil {
		return nil, err
	}
	if u := unreadable(toolStacks, c); u != nil {
		return u, nil
	}
	numbers, err := ask(ctx, "threads")
	if err != nil {
		return nil, err
	}
	out := struct {
		Threads int          `json:"threads"`
		Groups  []stackGroup `json:"groups"`
	}{}
	var stacks []group[document]
	for _, g := range groups(result(c).list("frames"), func(f document) string { return f.text("osId") }) {
		if slices.ContainsFunc(g.list, func(f document) bool { return strings.Contains(f.text("method"), method) }) {
			stacks = append(stacks, g)
		}
	}
	slices.SortFunc(stacks, func(a, b group[document]) int { return cmp.Compare(a.list[0].number("osId"), b.list[0].number("osId")) })
	names := threadNames(result(numbers))
	lines := func(g group[document]) string { return strings.Join(foldedStack(g.list, 1<<20), "\n") }
	for _, g := range groups(stacks, lines) {
		one := stackGroup{Count: len(g.list), Stack: foldedStack(g.list[0].list, most)}
		if len(one.Stack) == 0 {
			continue
		}
		for _, t := range g.list[:min(len(g.list), mostExamples)] {
			one.Threads = append(one.Threads, names[t.key])
		}
		out.Threads += one.Count
		out.Groups = append(out.Groups, one)
	}
	return made(toolStacks, out, c), nil
}

// threadNames returns the numbers and names of threads by their OS id.
func threadNames(threads document) map[string]string {
	out := map[string]string{}
	for _, t := range threads.list("threads") {
		out[t.text("osId")] = strings.TrimSpace(t.text("index") + " " + t.text("name"))
	}
	return out
}

// requestWords returns the command line of the tool requests.
func requestWords(given map[string]any) ([]string, error) {
	words := []string{"requests"}
	url, err := textOf(given, "url")
	if err != nil {
		return nil, err
	}
	if url != "" {
		words = append(words, "-url="+url)
	}
	stacks, err := flagOf(given, "stacks")
	if err != nil {
		return nil, err
	}
	if stacks {
		words = append(words, "-stacks")
	}
	_, err = flagOf(given, "list")
	return words, err
}

// A requestGroup is a group of requests of one route that wait for the same.
type requestGroup struct {
	Count    int      `json:"count"`
	Route    string   `json:"route"`
	State    string   `json:"state,omitempty"`
	Waits    string   `json:"waits,omitempty"`
	In       string   `json:"in,omitempty"`
	Longest  string   `json:"longest,omitempty"`
	Contexts []string `json:"contexts"`
}

func requestGroups(ctx context.Context, ask mcpserver.Ask, given map[string]any) (*mcpserver.Composed, error) {
	words, err := requestWords(given)
	if err != nil {
		return nil, err
	}
	c, err := ask(ctx, words...)
	if err != nil {
		return nil, err
	}
	if u := unreadable(toolRequests, c); u != nil {
		return u, nil
	}
	stacks, _ := flagOf(given, "stacks")
	list, _ := flagOf(given, "list")
	if url, _ := textOf(given, "url"); stacks || list || url != "" {
		if !stacks {
			withoutFrames(c.Document)
		}
		return c, nil
	}
	out := struct {
		Requests int            `json:"requests"`
		Groups   []requestGroup `json:"groups"`
	}{Requests: len(result(c).list("requests")), Groups: requestsBy(result(c))}
	return made(toolRequests, out, c), nil
}

// requestsBy groups requests by route, state and wait. Those of the application come before those that rest.
func requestsBy(requests document) (out []requestGroup) {
	of := func(r document) requestGroup {
		g := requestGroup{Route: strings.TrimSpace(r.text("method") + " " + cmp.Or(r.text("route"), r.text("path"))), State: r.text("state")}
		switch thread := r.list("threads"); {
		case len(thread) > 0:
			g.Waits, g.In = thread[0].text("does"), frameText(thread[0])
		case r.has("stack"):
			g.Waits, g.In = r.text("stack", "reason"), ownFrame(r.list("stack", "frames"))
		}
		return g
	}
	key := func(r document) string {
		g := of(r)
		return g.Route + "\x00" + g.State + "\x00" + g.Waits + "\x00" + g.In
	}
	for _, g := range groups(requests.list("requests"), key) {
		one := of(g.list[0])
		one.Count = len(g.list)
		var first document
		for _, r := range g.list {
			if started := r.text("started"); started != "" && (first.v == nil || started < first.text("started")) {
				first = r
			}
		}
		one.Longest = first.text("age")
		for _, r := range g.list[:min(len(g.list), mostExamples/2)] {
			one.Contexts = append(one.Contexts, r.text("context"))
		}
		out = append(out, one)
	}
	return out
}

// ownFrame returns the innermost async method that is not of the framework, or the innermost of all.
func ownFrame(frames []document) string {
	first := ""
	for _, f := range frames {
		method := f.text("method")
		if method == "" {
			continue
		}
		name := compilernames.CSharpMethod(method)
		if line := f.text("line"); line != "" {
			name = frameText(f)
		}
		if !strings.HasPrefix(method, "System.") && !strings.HasPrefix(method, "Microsoft.") {
			return name
		}
		first = cmp.Or(first, name)
	}
	return first
}

// withoutFrames removes the frames of async code. The reason of the wait stays.
func withoutFrames(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			withoutFrames(e)
		}
	case map[string]any:
		if stack, ok := v["stack"].(map[string]any); ok && stack["frames"] != nil {
			d := document{stack}
			if in := ownFrame(d.list("frames")); in != "" {
				stack["in"] = in
			}
			delete(stack, "frames")
		}
		for _, e := range v {
			withoutFrames(e)
		}
	}
}

// withoutPlaces removes from frames what programs need: the stack pointer, the MethodDesc, and the offset in the method.
func withoutPlaces(frames []document) {
	for _, f := range frames {
		m, ok := f.v.(map[string]any)
		if !ok {
			continue
		}
		for _, name := range []string{"sp", "methodDesc", "offset"} {
			delete(m, name)
		}
	}
}

// typeWords returns the command line of the tool types.
func typeWords(given map[string]any) ([]string, error) {
	words := []string{"dumpheap", "-stat"}
	name, err := textOf(given, "type")
	if err != nil {
		return nil, err
	}
	if name != "" {
		words = append(words, "-type="+name)
	}
	live, err := flagOf(given, "live")
	if err != nil {
		return nil, err
	}
	if live {
		words = append(words, "-live")
	}
	_, err = topOf(given)
	return words, err
}

// topOf returns the number of types that a call asks for, 0 for all.
func topOf(given map[string]any) (int, error) {
	v, ok := given["top"]
	if !ok || v == nil {
		return topTypes, nil
	}
	n, _ := v.(json.Number)
	top, err := n.Int64()
	if err != nil || top < 0 || top > 1<<30 {
		return 0, errors.New("top: the value is not a number, 0 or more")
	}
	return int(top), nil
}

// A typeCount is a type with the number and bytes of its objects.
type typeCount struct {
	Type        string `json:"type"`
	Count       int    `json:"count"`
	Size        int    `json:"size"`
	MethodTable string `json:"methodTable,omitempty"`
}

func typeGroups(ctx context.Context, ask mcpserver.Ask, given map[string]any) (*mcpserver.Composed, error) {
	words, err := typeWords(given)
	if err != nil {
		return nil, err
	}
	c, err := ask(ctx, words...)
	if err != nil {
		return nil, err
	}
	if u := unreadable(toolTypes, c); u != nil {
		return u, nil
	}
	out := struct {
		Objects int         `json:"objects"`
		Size    int         `json:"size"`
		Free    *typeCount  `json:"free,omitempty"`
		Types   []typeCount `json:"types"`
		More    int         `json:"moreTypes,omitempty"`
	}{Objects: result(c).number("count"), Size: result(c).number("size"), Types: []typeCount{}}
	for _, t := range result(c).list("statistics") {
		one := typeCount{Type: t.text("type"), Count: t.number("count"), Size: t.number("size"), MethodTable: t.text("methodTable")}
		if one.Type == freeType { // no objects, but the space between them
			out.Free = &one
			out.Objects -= one.Count
			out.Size -= one.Size
			continue
		}
		out.Types = append(out.Types, one)
	}
	slices.SortStableFunc(out.Types, func(a, b typeCount) int { return cmp.Compare(b.Size, a.Size) })
	if top, err := topOf(given); err == nil && top > 0 && len(out.Types) > top {
		out.Types, out.More = out.Types[:top], len(out.Types)-top
	}
	return made(toolTypes, out, c), nil
}

// freeType is the name of free blocks in the statistics of a heap.
const freeType = "Free"

// shaped returns the function that changes the document of a command for agents: statistics begin with the largest,
// frames are short, and async code has frames only if stacks are asked for. It returns nil for other commands.
func shaped(command string, words func(map[string]any) ([]string, error)) func(map[string]any) mcpserver.Composer {
	change := func(*mcpserver.Composed) {}
	applies := func(map[string]any) bool { return true }
	switch command {
	case "dumpheap":
		applies = func(given map[string]any) bool { return given["stat"] == true }
		change = func(c *mcpserver.Composed) {
			if m, ok := c.Document["result"].(map[string]any); ok {
				if l, ok := m["statistics"].([]any); ok {
					slices.Reverse(l)
				}
			}
		}
	case "clrstack":
		change = func(c *mcpserver.Composed) { withoutPlaces(result(c).list("frames")) }
	case "httpclients", "sqlpools":
		applies = func(given map[string]any) bool { return given["stacks"] != true }
		change = func(c *mcpserver.Composed) { withoutFrames(c.Document) }
	default:
		return nil
	}
	return func(given map[string]any) mcpserver.Composer {
		if !applies(given) {
			return nil
		}
		return func(ctx context.Context, ask mcpserver.Ask) (*mcpserver.Composed, error) {
			w, err := words(given)
			if err != nil {
				return nil, err
			}
			c, err := ask(ctx, w...)
			if err == nil {
				change(c)
			}
			return c, err
		}
	}
}
