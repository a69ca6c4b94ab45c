package mcpserver

import (
	"encoding/json"
	"slices"
	"strconv"
)

// This file makes documents shorter, and commands in them calls.

// repeated are the members of a statement that say its text once more, for programs.
var repeated = []string{"args", "facts", "rests", "says"}

// slim removes what repeats the texts of statements.
func slim(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			slim(e)
		}
	case map[string]any:
		if _, statement := v["text"].(string); statement {
			for _, name := range repeated {
				delete(v, name)
			}
		}
		for _, e := range v {
			slim(e)
		}
	}
}

// recommends are the members of documents that list commands.
var recommends = []string{"next", "show"}

// withCalls puts calls about a dump in place of the commands that answers recommend.
func (s *Server) withCalls(v any, dump string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			s.withCalls(e, dump)
		}
	case map[string]any:
		for name, e := range v {
			if list, ok := e.([]any); ok && slices.Contains(recommends, name) {
				for i := range list {
					if line, ok := list[i].(string); ok {
						list[i] = s.callOf(line)
					}
					s.name(list[i], dump)
				}
				continue
			}
			s.withCalls(e, dump)
		}
	}
}

// callOf returns the call of a command, for JSON.
func (s *Server) callOf(line string) map[string]any {
	c, ok := s.asker.Next(line)
	if !ok {
		return map[string]any{"command": line}
	}
	return map[string]any{"tool": c.Tool, "arguments": c.Arguments, "command": line}
}

// name adds the dump to the arguments of a call, if there are several.
func (s *Server) name(call any, dump string) {
	m, ok := call.(map[string]any)
	if !ok || len(s.options.Dumps) < 2 {
		return
	}
	if arguments, ok := m["arguments"].(map[string]any); ok {
		arguments[argumentDump] = dump
	}
}

// callSchema returns the schema of a Call.
func callSchema() map[string]any {
	text := map[string]any{"type": "string"}
	return map[string]any{"type": "object", "properties": map[string]any{"tool": text, "arguments": map[string]any{"type": "object"}, "command": text}}
}

// slimSchema returns the schema of a document as slim and withCalls leave it.
func slimSchema(schema map[string]any) map[string]any {
	var plain map[string]any
	_ = json.Unmarshal(encode(schema), &plain) // a schema has a form in JSON
	slimNode(plain)
	return plain
}

func slimNode(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			slimNode(e)
		}
	case map[string]any:
		if properties, ok := v["properties"].(map[string]any); ok {
			slimProperties(v, properties)
		}
		for _, e := range v {
			slimNode(e)
		}
	}
}

// slimProperties changes the properties of the schema of an object.
func slimProperties(object, properties map[string]any) {
	if _, statement := properties["text"]; statement {
		required, _ := object["required"].([]any)
		for _, name := range repeated {
			delete(properties, name)
			required = slices.DeleteFunc(required, func(r any) bool { return r == name })
		}
		object["required"] = append([]any{}, required...)
	}
	for _, name := range recommends {
		if p, ok := properties[name].(map[string]any); ok && p["items"] != nil {
			p["items"] = callSchema()
		}
	}
}

// window leaves the lists of a document that was made whole from their items from on, as commands do it themselves.
func window(doc map[string]any, from int) {
	parts := map[string]any{}
	put := func(name string, l []any, set func([]any)) {
		first := min(from, len(l))
		last := min(first+pageItems, len(l))
		set(l[first:last])
		parts[name] = map[string]any{"from": json.Number(strconv.Itoa(first)), "of": json.Number(strconv.Itoa(len(l)))}
	}
	switch result := doc["result"].(type) {
	case []any:
		put("", result, func(l []any) { doc["result"] = l })
	case map[string]any:
		for name, v := range result {
			if l, ok := v.([]any); ok && len(l) > 0 {
				put(name, l, func(l []any) { result[name] = l })
			}
		}
	}
	if len(parts) > 0 {
		doc["lists"] = parts
	}
}
