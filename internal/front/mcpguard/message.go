package mcpguard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// The limits of what clients send.
const (
	MaxMessage = 1 << 20 // bytes of a line, or of the body of a request over HTTP
	maxDepth   = 100     // lists and objects within each other
	maxBatch   = 100     // messages of a batch
	maxRunning = 512     // requests that a transport runs at a time
	maxCursor  = 1 << 10 // bytes of a cursor, which the SDK decodes with encoding/gob
)

const (
	methodInitialize = "initialize"
	methodCancelled  = "notifications/cancelled"
	methodProgress   = "notifications/progress"
)

// A message is a message of a client.
type message struct {
	id      jsonrpc.ID       // not valid for notifications
	request *jsonrpc.Request // nil for a response, which means nothing: the server asks the client nothing
	bad     *jsonrpc.Error   // what is wrong with the message; request may be nil then
}

// call reports whether m waits for an answer.
func (m *message) call() bool { return m.request != nil && m.request.IsCall() }

// is reports whether m is a request or a notification of a method.
func (m *message) is(method string) bool { return m.request != nil && m.request.Method == method }

// A params has the parameters that matter before the SDK reads a message.
type params struct {
	Version   string          `json:"protocolVersion"` // of initialize
	RequestID json.RawMessage `json:"requestId"`       // of notifications/cancelled
	Cursor    string          `json:"cursor"`          // of lists
	Meta      struct {
		Version string `json:"io.modelcontextprotocol/protocolVersion"`
	} `json:"_meta"`
}

// params reads the parameters. A parameter of a wrong type stays empty: the SDK refuses it.
func (m *message) params() (p params) {
	if m.request != nil {
		_ = json.Unmarshal(m.request.Params, &p)
	}
	return p
}

// parse reads one message or a batch. It fails if the bytes are neither. What is wrong with a single message is in its
// field bad.
func parse(raw []byte) (list []message, batch bool, err *jsonrpc.Error) {
	raw = bytes.TrimSpace(raw)
	var all []json.RawMessage
	switch batch = len(raw) > 0 && raw[0] == '['; {
	case len(raw) > MaxMessage:
		return nil, false, tooLong()
	case !utf8.Valid(raw):
		return nil, false, errorf(jsonrpc.CodeParseError, "the message is not in UTF-8")
	case tooDeep(raw):
		return nil, false, errorf(jsonrpc.CodeInvalidRequest, "the message nests more than %d lists and objects", maxDepth)
	case batch:
		err = syntax(json.Unmarshal(raw, &all))
	default:
		all = make([]json.RawMessage, 1)
		err = syntax(json.Unmarshal(raw, &all[0]))
	}
	switch {
	case err != nil:
		return nil, batch, err
	case len(all) == 0 || len(all) > maxBatch:
		return nil, batch, errorf(jsonrpc.CodeInvalidRequest, "a batch has 1 to %d messages, not %d", maxBatch, len(all))
	}
	for _, one := range all {
		m := message{}
		m.bad = m.parse(one)
		if m.bad == nil && batch && m.is(methodInitialize) {
			m.bad = errorf(jsonrpc.CodeInvalidRequest, "initialize is not part of a batch")
		}
		list = append(list, m)
	}
	return list, batch, nil
}

// parse reads one message, which is JSON.
func (m *message) parse(raw json.RawMessage) *jsonrpc.Error {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil {
		return errorf(jsonrpc.CodeInvalidRequest, "a message is an object")
	}
	if given, ok := members["id"]; ok {
		if m.id, ok = parseID(given); !ok {
			return errorf(jsonrpc.CodeInvalidRequest, "an id is a text or an integer of at most 53 bits")
		}
	}
	decoded, err := jsonrpc.DecodeMessage(raw)
	if err != nil {
		return errorf(jsonrpc.CodeInvalidRequest, "%v", err)
	}
	m.request, _ = decoded.(*jsonrpc.Request)
	switch {
	case m.request == nil && members["result"] == nil && members["error"] == nil:
		return errorf(jsonrpc.CodeInvalidRequest, "a message has a method, or an id with a result or an error")
	case len(m.params().Cursor) > maxCursor:
		return errorf(jsonrpc.CodeInvalidParams, "the cursor has more than %d bytes", maxCursor)
	}
	return nil
}

// parseID reads a text, or an integer that a float64 holds: the SDK reads it as one.
func parseID(raw json.RawMessage) (id jsonrpc.ID, ok bool) {
	var v any
	if json.Unmarshal(raw, &v) != nil || v == nil {
		return id, false
	}
	if f, isNumber := v.(float64); isNumber && (f != math.Trunc(f) || math.Abs(f) > 1<<53) {
		return id, false
	}
	id, err := jsonrpc.MakeID(v)
	return id, err == nil
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

func errorf(code int64, format string, values ...any) *jsonrpc.Error {
	return &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, values...)}
}

func tooLong() *jsonrpc.Error {
	return errorf(jsonrpc.CodeInvalidRequest, "the message has more than %d bytes", MaxMessage)
}

func syntax(err error) *jsonrpc.Error {
	if err == nil {
		return nil
	}
	return errorf(jsonrpc.CodeParseError, "the message is not JSON: %v", err)
}

// refusal returns the answer to a message that the SDK never sees. An id that is not valid becomes null.
func refusal(id jsonrpc.ID, e *jsonrpc.Error) []byte {
	raw, _ := json.Marshal(struct { // all parts have a form in JSON
		JSONRPC string         `json:"jsonrpc"`
		ID      any            `json:"id"`
		Error   *jsonrpc.Error `json:"error"`
	}{"2.0", id.Raw(), e})
	return raw
}

// encode returns an answer of the SDK as JSON. The SDK has no code for some errors: they answer requests that come at a
// wrong time.
func encode(r *jsonrpc.Response) ([]byte, error) {
	var coded *jsonrpc.Error
	if r.Error != nil && (!errors.As(r.Error, &coded) || coded.Code == 0) {
		r.Error = errorf(jsonrpc.CodeInvalidRequest, "%v", r.Error)
	}
	return jsonrpc.EncodeMessage(r)
}
