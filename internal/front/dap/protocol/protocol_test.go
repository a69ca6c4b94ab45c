package protocol_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-dap"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/dap/protocol"
)

// TestSchema holds each type to the one that is generated from the protocol's schema: it has every member, and the same type in JSON.
func TestSchema(t *testing.T) {
	members := 0
	for own, schema := range map[any]any{
		protocol.CancelArguments{}:             dap.CancelArguments{},
		protocol.CompletionsArguments{}:        dap.CompletionsArguments{},
		protocol.DisassembleArguments{}:        dap.DisassembleArguments{},
		protocol.EvaluateArguments{}:           dap.EvaluateArguments{},
		protocol.ExceptionInfoArguments{}:      dap.ExceptionInfoArguments{},
		protocol.InitializeArguments{}:         dap.InitializeRequestArguments{},
		protocol.ModulesArguments{}:            dap.ModulesArguments{},
		protocol.ReadMemoryArguments{}:         dap.ReadMemoryArguments{},
		protocol.ScopesArguments{}:             dap.ScopesArguments{},
		&protocol.SetBreakpointsArguments{}:    dap.SetBreakpointsArguments{},
		protocol.SourceArguments{}:             &dap.SourceArguments{},
		protocol.StackTraceArguments{}:         dap.StackTraceArguments{},
		protocol.VariablesArguments{}:          dap.VariablesArguments{},
		protocol.Response{}:                    &dap.EvaluateResponse{},
		protocol.Event{}:                       &dap.StoppedEvent{},
		&protocol.Capabilities{}:               &dap.Capabilities{},
		&protocol.CompletionsResponseBody{}:    &dap.CompletionsResponseBody{},
		&protocol.DisassembleResponseBody{}:    &dap.DisassembleResponseBody{},
		&protocol.ErrorResponseBody{}:          &dap.ErrorResponseBody{},
		protocol.EvaluateResponseBody{}:        &dap.EvaluateResponseBody{},
		&protocol.ExceptionInfoResponseBody{}:  &dap.ExceptionInfoResponseBody{},
		&protocol.LoadedSourcesResponseBody{}:  &dap.LoadedSourcesResponseBody{},
		&protocol.ModulesResponseBody{}:        &dap.ModulesResponseBody{},
		protocol.ReadMemoryResponseBody{}:      &dap.ReadMemoryResponseBody{},
		&protocol.ScopesResponseBody{}:         &dap.ScopesResponseBody{},
		&protocol.SetBreakpointsResponseBody{}: &dap.SetBreakpointsResponseBody{},
		protocol.SourceResponseBody{}:          &dap.SourceResponseBody{},
		&protocol.StackTraceResponseBody{}:     &dap.StackTraceResponseBody{},
		&protocol.ThreadsResponseBody{}:        &dap.ThreadsResponseBody{},
		&protocol.VariablesResponseBody{}:      &dap.VariablesResponseBody{},
		protocol.OutputEventBody{}:             &dap.OutputEventBody{},
		protocol.ProcessEventBody{}:            &dap.ProcessEventBody{},
		protocol.ProgressStartEventBody{}:      &dap.ProgressStartEventBody{},
		protocol.ProgressUpdateEventBody{}:     &dap.ProgressUpdateEventBody{},
		protocol.ProgressEndEventBody{}:        &dap.ProgressEndEventBody{},
		protocol.StoppedEventBody{}:            &dap.StoppedEventBody{},
	} {
		compare(t, elem(reflect.TypeOf(own)), elem(reflect.TypeOf(schema)), &members)
	}
	require.Greater(t, members, 150)
}

func elem(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// compare requires that each member of a type is one of the schema's type, down to numbers and texts. What a message carries as any is compared
// by its own type.
func compare(t *testing.T, own, schema reflect.Type, members *int) {
	require.Equal(t, schema.Kind(), own.Kind(), "%s and %s", own, schema)
	switch own.Kind() {
	case reflect.Slice, reflect.Pointer, reflect.Map:
		if own.Elem() != own && own.Elem().Size() > 0 {
			compare(t, own.Elem(), schema.Elem(), members)
		}
	case reflect.Struct:
		for f := range own.Fields() {
			name := f.Tag.Get("json")
			require.NotEmpty(t, name, "%s.%s", own, f.Name)
			other, ok := member(schema, name)
			require.True(t, ok, "%s.%s: %s has no member %s", own, f.Name, schema, name)
			if *members++; f.Type.Kind() == reflect.Interface || elem(f.Type) == own || f.Type.Kind() == reflect.Slice && f.Type.Elem() == own {
				continue
			}
			compare(t, f.Type, other.Type, members)
		}
	}
}

// member returns the field for a member of an object. Whether an empty one is left out belongs to the schema for what is written alone.
func member(schema reflect.Type, tag string) (reflect.StructField, bool) {
	name, _, _ := strings.Cut(tag, ",")
	for f := range schema.Fields() {
		if other, _, _ := strings.Cut(f.Tag.Get("json"), ","); other == name {
			return f, true
		}
		if !f.Anonymous {
			continue
		}
		if inner, ok := member(f.Type, tag); ok {
			return inner, true
		}
	}
	return reflect.StructField{}, false
}

// TestReadRequest reads requests of each kind, and messages that are no requests.
func TestReadRequest(t *testing.T) {
	for command, arguments := range map[string]any{
		"launch": new(protocol.OpenArguments), "stackTrace": &protocol.StackTraceArguments{ThreadID: 7, Levels: 3}, "threads": nil, "stepIn": nil,
		"setFunctionBreakpoints": &protocol.SetBreakpointsArguments{Breakpoints: make([]struct{}, 2)},
	} {
		raw := map[string]string{"stackTrace": `{"threadId":7,"levels":3,"format":{"hex":true}}`, "setFunctionBreakpoints": `{"breakpoints":[{"name":"a"},{"name":"b"}]}`, "launch": `{"dump":"x"}`}[command]
		if raw == "" {
			raw = "{}"
		}
		r, err := protocol.ReadRequest([]byte(`{"seq":3,"type":"request","command":"` + command + `","arguments":` + raw + `}`))
		require.NoError(t, err, command)
		if command == "launch" {
			*arguments.(*protocol.OpenArguments) = []byte(raw)
		}
		require.Equal(t, &protocol.Request{Seq: 3, Command: command, Arguments: arguments}, r)
	}
	r, err := protocol.ReadRequest([]byte(`{"seq":4,"type":"request","command":"fly"}`))
	require.ErrorAs(t, err, new(*protocol.UnknownCommandError))
	require.Equal(t, 4, r.Seq)
	r, err = protocol.ReadRequest([]byte(`{"seq":5,"type":"request","command":"scopes","arguments":{"frameId":"one"}}`))
	require.ErrorContains(t, err, "frameId")
	require.Equal(t, 5, r.Seq)
	r, err = protocol.ReadRequest([]byte(`{"seq":6,"type":"event","event":"x"}`))
	require.NoError(t, err)
	require.Nil(t, r)
	for _, bad := range []string{``, `{`, `[]`, `{"seq":1}`, `{"seq":1,"type":"question","command":"threads"}`} {
		_, err := protocol.ReadRequest([]byte(bad))
		require.Error(t, err, bad)
	}
}

// TestCommands reads every request of the schema, but for the two that an adapter sends.
func TestCommands(t *testing.T) {
	for _, command := range commands {
		_, err := protocol.ReadRequest([]byte(`{"seq":1,"type":"request","command":"` + command + `"}`))
		require.NoError(t, err, command)
		_, err = dap.DecodeProtocolMessage([]byte(`{"seq":1,"type":"request","command":"` + command + `"}`))
		require.NoError(t, err, command)
	}
}

var commands = strings.Fields(`attach breakpointLocations cancel completions configurationDone continue dataBreakpointInfo disassemble disconnect
	evaluate exceptionInfo goto gotoTargets initialize launch loadedSources modules next pause readMemory restart restartFrame reverseContinue
	scopes setBreakpoints setDataBreakpoints setExceptionBreakpoints setExpression setFunctionBreakpoints setInstructionBreakpoints setVariable
	source stackTrace stepBack stepIn stepInTargets stepOut terminate terminateThreads threads variables writeMemory`)

func FuzzReadRequest(f *testing.F) {
	f.Add([]byte(`{"seq":3,"type":"request","command":"stackTrace","arguments":{"threadId":7}}`))
	f.Add([]byte(`{"seq":3,"type":"event"}`))
	f.Add([]byte(`{"type":"request","command":"launch","arguments":null}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := protocol.ReadRequest(b)
		if err == nil && r != nil && r.Command == "" {
			t.Fatalf("%q is a request without a command", b)
		}
	})
}
