package mcp

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"sort"
	"strings"
)

// The versions of the protocol. From stateless on there are no sessions: a request says in its _meta what initialize said before.
const (
	stateless = "2026-07-28"
	newest    = "2025-11-25" // of those with initialize
	noBatches = "2025-06-18" // the first without batches
)

// Versions are the versions of the protocol that a Server speaks, the newest first.
func Versions() []string {
	return []string{stateless, newest, noBatches, "2025-03-26", "2024-11-05"}
}

// initializable are the versions that initialize may settle.
func initializable() []string { return Versions()[1:] }

// Options are what a Server offers. All names and URIs of a list differ.
type Options struct {
	Name, Title, Version string
	Instructions         string // what a client learns first; it may be empty
	Tools                []Tool
	Resources            []Resource
	Prompts              []Prompt
	// Complete returns the values that an argument of a prompt may have and that begin with what is there. It is nil if there are none.
	Complete func(prompt, argument, begin string) []string
}

// A Tool is a function that clients may call.
type Tool struct {
	Name         string       `json:"name"`
	Title        string       `json:"title,omitempty"`
	Description  string       `json:"description,omitempty"`
	InputSchema  any          `json:"inputSchema"` // a JSON Schema of an object
	OutputSchema any          `json:"outputSchema,omitempty"`
	Annotations  *Annotations `json:"annotations,omitempty"`
	// Call answers a call. It checks the arguments itself, since what is wrong with them is an answer, too, which an agent can mend.
	// The end of ctx stops it.
	Call func(ctx context.Context, c *Call) *Result `json:"-"`
}

// Annotations are hints about a Tool. A hint that is nil has the protocol's default.
type Annotations struct {
	Title           string `json:"title,omitempty"`
	ReadOnlyHint    bool   `json:"readOnlyHint,omitempty"`
	DestructiveHint *bool  `json:"destructiveHint,omitempty"`
	IdempotentHint  bool   `json:"idempotentHint,omitempty"`
	OpenWorldHint   *bool  `json:"openWorldHint,omitempty"`
}

// A Call is a call of a Tool.
type Call struct {
	Arguments json.RawMessage // as the client sent them; nil if there are none
	// Progress reports how far the call is, to values that grow. A client that doesn't read misses reports. It is nil if the client
	// wants none, and must not be called once the call is answered.
	Progress func(done float64, message string)
}

// A Result is the answer to a Call.
type Result struct {
	Text       string          // for the model
	Structured json.RawMessage // the same as a value of the tool's output schema; it may be nil
	Failed     bool            // the tool could not do it, and Text has the reason
}

// A Resource is a text that clients may read.
type Resource struct {
	URI      string `json:"uri"`
	Name     string `json:"name"`
	Title    string `json:"title,omitempty"`
	MIMEType string `json:"mimeType,omitempty"`
	Text     string `json:"-"`
}

// A Prompt is a text for a model that people may choose.
type Prompt struct {
	Name        string     `json:"name"`
	Title       string     `json:"title,omitempty"`
	Description string     `json:"description,omitempty"`
	Arguments   []Argument `json:"arguments,omitempty"`
	// Text returns the prompt for arguments, which may lack some.
	Text func(arguments map[string]string) string `json:"-"`
}

// An Argument is one of a Prompt.
type Argument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// A Server answers the requests of clients. It is safe for concurrent use.
type Server struct {
	options  Options
	pageSize int
}

// New returns a Server.
func New(o Options) *Server {
	o.Tools, o.Resources, o.Prompts = slices.Clone(o.Tools), slices.Clone(o.Resources), slices.Clone(o.Prompts)
	sort.Slice(o.Tools, func(i, j int) bool { return o.Tools[i].Name < o.Tools[j].Name })
	sort.Slice(o.Resources, func(i, j int) bool { return o.Resources[i].URI < o.Resources[j].URI })
	sort.Slice(o.Prompts, func(i, j int) bool { return o.Prompts[i].Name < o.Prompts[j].Name })
	const pageSize = 1000
	return &Server{options: o, pageSize: pageSize}
}

// A result is the object that answers a request.
type result map[string]any

// A request is one that is answered.
type request struct {
	*message

	session   *session
	meta      object
	stateless bool // it has its version with it
	to        sink // where messages before the answer go
}

// A sink takes messages for a client.
type sink interface {
	// put sends a message, unless ctx ends before.
	put(ctx context.Context, message []byte)
	// try sends a message, unless the client is behind with reading.
	try(message []byte)
}

// answer does what a request asks for.
func (s *Server) answer(ctx context.Context, r *request) (result, *Error) {
	switch r.method {
	case "initialize":
		return s.initialize(r)
	case "ping":
		return result{}, nil
	case "server/discover":
		return s.describe(result{"supportedVersions": Versions()}), nil
	case "subscriptions/listen":
		return r.listen(ctx)
	case "tools/list":
		return page(r, "tools", s.options.Tools, func(t *Tool) string { return t.Name }, s.pageSize)
	case "tools/call":
		return s.call(ctx, r)
	case "resources/list":
		return page(r, "resources", s.options.Resources, func(p *Resource) string { return p.URI }, s.pageSize)
	case "resources/templates/list":
		return page(r, "resourceTemplates", []Resource{}, func(*Resource) string { return "" }, s.pageSize)
	case "resources/read":
		return s.read(r)
	case "prompts/list":
		return page(r, "prompts", s.options.Prompts, func(p *Prompt) string { return p.Name }, s.pageSize)
	case "prompts/get":
		return s.prompt(r)
	case "completion/complete":
		if s.options.Complete != nil {
			return s.complete(r)
		}
	}
	return nil, errorf(codeMethod, "method not found: %s", quoted(r.method))
}

// describe adds what a client learns about the server first.
func (s *Server) describe(to result) result {
	offers := map[string]any{}
	for name, offered := range map[string]bool{"tools": len(s.options.Tools) > 0, "resources": len(s.options.Resources) > 0,
		"prompts": len(s.options.Prompts) > 0, "completions": s.options.Complete != nil} {
		if offered {
			offers[name] = struct{}{}
		}
	}
	to["capabilities"] = offers
	if s.options.Instructions != "" {
		to["instructions"] = s.options.Instructions
	}
	return to
}

// info names the server.
func (s *Server) info() any {
	return struct {
		Name    string `json:"name"`
		Title   string `json:"title,omitempty"`
		Version string `json:"version"`
	}{s.options.Name, s.options.Title, s.options.Version}
}

// initialize begins a session: in the client's version, or in the newest if the server doesn't speak that.
func (s *Server) initialize(r *request) (result, *Error) {
	version, err := r.text("protocolVersion")
	if err != nil {
		return nil, err
	}
	if !slices.Contains(initializable(), version) {
		version = newest
	}
	if !r.session.begin(version) {
		return nil, errorf(codeRequest, "the session is initialized already")
	}
	return s.describe(result{"protocolVersion": version, "serverInfo": s.info()}), nil
}

// listen answers a client that wants to learn of changes. There are none.
func (r *request) listen(ctx context.Context) (result, *Error) {
	if wanted, ok := r.params.object("notifications"); !ok || wanted == nil {
		return nil, errorf(codeParams, missingParam, r.method, "notifications")
	}
	meta := map[string]any{"io.modelcontextprotocol/subscriptionId": r.id}
	r.to.put(ctx, notification("notifications/subscriptions/acknowledged", result{"_meta": meta, "notifications": struct{}{}}))
	return result{"_meta": meta}, nil
}

// page answers with a part of a list, which is sorted by its names. A cursor has the name that the part before ended with.
func page[T any](r *request, field string, list []T, name func(*T) string, size int) (result, *Error) {
	cursor, err := r.optional("cursor")
	if err != nil {
		return nil, err
	}
	if cursor != "" {
		last, wrong := base64.RawURLEncoding.DecodeString(cursor)
		if wrong != nil {
			return nil, errorf(codeParams, "%s: cursor is not nextCursor of an answer", r.method)
		}
		first, found := slices.BinarySearchFunc(list, string(last), func(v T, last string) int { return cmp.Compare(name(&v), last) })
		if found {
			first++
		}
		list = list[first:]
	}
	out := result{}
	if len(list) > size {
		list = list[:size]
		out["nextCursor"] = base64.RawURLEncoding.EncodeToString([]byte(name(&list[size-1])))
	}
	out[field] = slices.Clip(append([]T{}, list...))
	return out, nil
}

// call calls a tool.
func (s *Server) call(ctx context.Context, r *request) (result, *Error) {
	name, err := r.text("name")
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(s.options.Tools, func(t Tool) bool { return t.Name == name })
	if at < 0 {
		return nil, errorf(codeParams, "unknown tool %s", quoted(name))
	}
	c := &Call{Arguments: r.params["arguments"]}
	if token, ok := parseID(r.meta["progressToken"]); ok {
		c.Progress = func(done float64, message string) {
			r.to.try(notification("notifications/progress", result{"progressToken": token, "progress": done, "message": message}))
		}
	}
	a := s.options.Tools[at].Call(ctx, c)
	out := result{"content": []any{text(a.Text)}}
	if a.Structured != nil {
		out["structuredContent"] = a.Structured
	}
	if a.Failed {
		out["isError"] = true
	}
	return out, nil
}

// text is a piece of content.
func text(text string) any {
	return struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{"text", text}
}

// read reads a resource.
func (s *Server) read(r *request) (result, *Error) {
	uri, err := r.text("uri")
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(s.options.Resources, func(p Resource) bool { return p.URI == uri })
	if at < 0 {
		e := &Error{Code: codeResource, Message: "resource not found", Data: map[string]any{"uri": uri}}
		if r.stateless {
			e.Code = codeParams
		}
		return nil, e
	}
	p := &s.options.Resources[at]
	return result{"contents": []any{struct {
		URI      string `json:"uri"`
		MIMEType string `json:"mimeType,omitempty"`
		Text     string `json:"text"`
	}{p.URI, p.MIMEType, p.Text}}}, nil
}

// prompt makes a prompt.
func (s *Server) prompt(r *request) (result, *Error) {
	name, err := r.text("name")
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(s.options.Prompts, func(p Prompt) bool { return p.Name == name })
	if at < 0 {
		return nil, errorf(codeParams, "unknown prompt %s", quoted(name))
	}
	given, ok := r.params.object("arguments")
	if !ok {
		return nil, errorf(codeParams, "%s: arguments is not an object", r.method)
	}
	arguments := map[string]string{}
	for name, raw := range given {
		if arguments[name], ok = textOf(raw); !ok {
			return nil, errorf(codeParams, "%s: the argument %s is not a text", r.method, quoted(name))
		}
	}
	p := &s.options.Prompts[at]
	message := struct {
		Role    string `json:"role"`
		Content any    `json:"content"`
	}{"user", text(p.Text(arguments))}
	out := result{"messages": []any{message}}
	if p.Description != "" {
		out["description"] = p.Description
	}
	return out, nil
}

// complete completes an argument of a prompt.
func (s *Server) complete(r *request) (result, *Error) {
	of, ok := r.params.object("ref")
	if !ok || of == nil {
		return nil, errorf(codeParams, missingParam, r.method, "ref")
	}
	argument, _ := r.params.object("argument")
	name, _ := textOf(argument["name"])
	if name == "" {
		return nil, errorf(codeParams, missingParam, r.method, "argument.name")
	}
	prompt, _ := textOf(of["name"])
	begin, _ := textOf(argument["value"])
	const most = 100 // the protocol allows no more
	all := s.options.Complete(prompt, name, begin)
	values := append([]string{}, all[:min(len(all), most)]...)
	return result{"completion": map[string]any{"values": values}}, nil
}

// text reads a parameter that a request must have.
func (r *request) text(name string) (string, *Error) {
	if r.params[name] == nil {
		return "", errorf(codeParams, missingParam, r.method, name)
	}
	return r.optional(name)
}

// optional reads a parameter that a request may have.
func (r *request) optional(name string) (string, *Error) {
	text, ok := textOf(r.params[name])
	if !ok && r.params[name] != nil && string(r.params[name]) != "null" {
		return "", errorf(codeParams, "%s: %s is not a text", r.method, name)
	}
	return text, nil
}

// cacheable reports whether clients may keep the answers of a method, as stateless versions state.
func cacheable(method string) bool {
	return strings.HasSuffix(method, "/list") || method == "resources/read" || method == "server/discover"
}
