package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// The limits of what clients send.
const (
	MaxMessage = 1 << 20 // bytes of a line, or of the body of a request over HTTP
	maxDepth   = 100     // lists and objects within each other
	maxBatch   = 100     // messages of a batch
	maxRunning = 512     // requests that a transport runs at a time; it reads no further ones meanwhile
)

// Codes of errors. Those without a document of their own are JSON-RPC's.
const (
	codeParse    = -32700
	codeRequest  = -32600
	codeMethod   = -32601
	codeParams   = -32602
	codeInternal = -32603
	codeResource = -32002 // a resource is not found; codeParams since 2026-07-28
	codeHeader   = -32020 // a header over HTTP differs from the message
	codeVersion  = -32022 // the version of a request is not supported
)

const (
	jsonrpcVersion = "2.0"
	maxQuoted      = 80 // bytes of a client's text that an error repeats
	missingParam   = "%s: %s is missing"
)

// An Error is an answer to a request that could not be done.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

func errorf(code int, format string, values ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, values...)}
}

// quoted is a client's text in an error.
func quoted(text string) string {
	if len(text) > maxQuoted {
		text = text[:maxQuoted] + "…"
	}
	return fmt.Sprintf("%q", text)
}

// An id is the id of a request: its JSON, which has one form for each value. It is empty if there is none.
type id string

// null is the id of an answer to what has no id.
const null id = "null"

// MarshalJSON implements json.Marshaler.
func (i id) MarshalJSON() ([]byte, error) { return []byte(i), nil }

// parseID reads a text or an integer.
func parseID(raw json.RawMessage) (id, bool) {
	var text string
	switch {
	case len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil:
		return id(encode(text)), true
	case integer(raw):
		return id(raw), true
	}
	return "", false
}

// integer reports whether a number of JSON is an integer of a length that ids have.
func integer(raw []byte) bool {
	const most = 20 // digits
	digits := bytes.TrimPrefix(raw, []byte("-"))
	return len(digits) > 0 && len(digits) <= most && len(bytes.Trim(digits, "0123456789")) == 0
}

// An object is an object of JSON whose values are not read yet. Names are compared as they are, in contrast to encoding/json's structs.
type object map[string]json.RawMessage

// A message is one that a client sent.
type message struct {
	id       id // empty for notifications
	method   string
	params   object // nil if there are none
	response bool   // it answers a request; the server sends none, so that it means nothing
	bad      *Error // what is wrong with it, which is the answer to it
}

// call reports whether m needs an answer.
func (m *message) call() bool { return m.id != "" && !m.response }

// parse reads the messages of a client: one, or a batch. A message carries what is wrong with it. Bytes that are not JSON, or beyond the limits, fail.
func parse(raw []byte) (list []message, batch bool, err *Error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) > MaxMessage:
		return nil, false, errorf(codeRequest, "the message has more than %d bytes", MaxMessage)
	case !utf8.Valid(raw):
		return nil, false, errorf(codeParse, "the message is not in UTF-8")
	case tooDeep(raw):
		return nil, false, errorf(codeRequest, "the message nests more than %d lists and objects", maxDepth)
	case len(raw) == 0 || raw[0] != '[':
		var all json.RawMessage
		if err := json.Unmarshal(raw, &all); err != nil {
			return nil, false, errorf(codeParse, "the message is not JSON: %v", err)
		}
		return []message{parseOne(raw)}, false, nil
	}
	var all []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, true, errorf(codeParse, "the message is not JSON: %v", err)
	}
	if len(all) == 0 || len(all) > maxBatch {
		return nil, true, errorf(codeRequest, "a batch has 1 to %d messages, not %d", maxBatch, len(all))
	}
	for _, one := range all {
		list = append(list, parseOne(one))
	}
	return list, true, nil
}

// parseOne reads one message, which is JSON.
func parseOne(raw json.RawMessage) (m message) {
	wrong := func(format string, values ...any) message {
		m.bad = errorf(codeRequest, format, values...)
		if m.id == "" {
			m.id = null
		}
		return m
	}
	var all object
	if json.Unmarshal(raw, &all) != nil || all == nil {
		return wrong("a message is an object")
	}
	if given, ok := all["id"]; ok {
		if m.id, ok = parseID(given); !ok {
			return wrong("an id is a text or an integer")
		}
	}
	if text, _ := textOf(all["jsonrpc"]); text != jsonrpcVersion {
		return wrong("jsonrpc is not %q", jsonrpcVersion)
	}
	method, called := all["method"]
	if !called {
		m.response = m.id != "" && (all["result"] != nil || all["error"] != nil)
		if !m.response {
			return wrong("a message has a method, or an id with a result or an error")
		}
		return m
	}
	var ok bool
	if m.method, ok = textOf(method); !ok {
		return wrong("method is not a text")
	}
	if given := all["params"]; given != nil && json.Unmarshal(given, &m.params) != nil && m.id != "" {
		m.bad = errorf(codeParams, "%s: params is not an object", m.method)
	}
	return m
}

// tooDeep reports whether JSON nests beyond the limit.
func tooDeep(raw []byte) bool {
	depth, text := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// textOf reads a text.
func textOf(raw json.RawMessage) (text string, ok bool) {
	ok = len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil
	return text, ok
}

// object reads an object within another. It is nil if there is none.
func (o object) object(name string) (within object, ok bool) {
	raw := o[name]
	return within, raw == nil || json.Unmarshal(raw, &within) == nil
}

// answer is the message that answers a request.
func answer(i id, result any, e *Error) []byte {
	type response struct {
		JSONRPC string `json:"jsonrpc"`
		ID      id     `json:"id"`
		Result  any    `json:"result,omitempty"`
		Error   *Error `json:"error,omitempty"`
	}
	r := response{JSONRPC: jsonrpcVersion, ID: i, Result: result, Error: e}
	if e != nil {
		r.Result = nil
	}
	raw, err := marshal(r)
	if err != nil {
		return encode(response{JSONRPC: jsonrpcVersion, ID: i, Error: errorf(codeInternal, "the answer has no form in JSON: %v", err)})
	}
	return raw
}

// notification is a message without an answer.
func notification(method string, params any) []byte {
	return encode(struct {
		JSONRPC string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{jsonrpcVersion, method, params})
}

// encode returns JSON on one line, of values that have a form in it.
func encode(v any) []byte {
	raw, _ := marshal(v)
	return raw
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
