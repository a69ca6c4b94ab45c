// Package protocol has the messages of the Debug Adapter Protocol that an adapter of dumps reads and writes, and of them the members that it
// uses (https://microsoft.github.io/debug-adapter-protocol/specification, version 1.71). Clients ignore members that are not there.
//
// The tests of package dap talk to it by github.com/google/go-dap, which is generated from the protocol's schema. A program that imports that
// package has a type, a constructor and a place in a table for each message there is, which takes longer to prepare at each start than
// most commands need to read their options.
package protocol

import (
	"encoding/json"
	"fmt"
	"io"
)

// A Request is a message of the client.
type Request struct {
	Seq     int
	Command string
	// Arguments points at the type that belongs to the command. It is nil for commands whose arguments say nothing here.
	Arguments any
}

// Types of messages.
const (
	TypeRequest  = "request"
	TypeResponse = "response"
	TypeEvent    = "event"
)

// An UnknownCommandError is a request for something that the protocol lacks.
type UnknownCommandError struct{ Command string }

func (e *UnknownCommandError) Error() string {
	return fmt.Sprintf("there is no request %.40q here", e.Command)
}

// ReadRequest reads one message. It returns nil for a response or an event. Next to an error the request has what could be read.
func ReadRequest(b []byte) (*Request, error) {
	var m struct {
		Seq       int             `json:"seq"`
		Type      string          `json:"type"`
		Command   string          `json:"command"`
		Arguments json.RawMessage `json:"arguments"`
	}
	err := json.Unmarshal(b, &m)
	r := &Request{Seq: m.Seq, Command: m.Command}
	switch {
	case err != nil:
		return r, err
	case m.Type == TypeResponse || m.Type == TypeEvent:
		return nil, nil
	case m.Type != TypeRequest:
		return r, fmt.Errorf("a message of the type %.40q is not one of the protocol", m.Type)
	}
	arguments, ok := argumentsOf(m.Command)
	if !ok {
		return r, &UnknownCommandError{m.Command}
	}
	if r.Arguments = arguments; arguments != nil && len(m.Arguments) > 0 {
		err = json.Unmarshal(m.Arguments, arguments)
	}
	return r, err
}

// argumentsOf returns what the arguments of a command are read into: nil where nothing of them is used.
func argumentsOf(command string) (arguments any, ok bool) {
	switch command {
	case "attach", "launch":
		return &OpenArguments{}, true
	case "cancel":
		return &CancelArguments{}, true
	case "completions":
		return &CompletionsArguments{}, true
	case "disassemble":
		return &DisassembleArguments{}, true
	case "evaluate":
		return &EvaluateArguments{}, true
	case "exceptionInfo":
		return &ExceptionInfoArguments{}, true
	case "initialize":
		return &InitializeArguments{}, true
	case "modules":
		return &ModulesArguments{}, true
	case "readMemory":
		return &ReadMemoryArguments{}, true
	case "scopes":
		return &ScopesArguments{}, true
	case "setBreakpoints", "setDataBreakpoints", "setFunctionBreakpoints", "setInstructionBreakpoints":
		return &SetBreakpointsArguments{}, true
	case "source":
		return &SourceArguments{}, true
	case "stackTrace":
		return &StackTraceArguments{}, true
	case "variables":
		return &VariablesArguments{}, true
	case "configurationDone", "disconnect", "loadedSources", "setExceptionBreakpoints", "terminate", "threads":
		return nil, true
	case "breakpointLocations", "continue", "dataBreakpointInfo", "goto", "gotoTargets", "next", "pause", "restart", "restartFrame",
		"reverseContinue", "setExpression", "setVariable", "stepBack", "stepIn", "stepInTargets", "stepOut", "terminateThreads", "writeMemory":
		return nil, true
	}
	return nil, false
}

// Arguments of requests.
type (
	// OpenArguments are those of launch and attach, which are the adapter's own.
	OpenArguments = json.RawMessage

	CancelArguments struct {
		RequestID  int    `json:"requestId"`
		ProgressID string `json:"progressId"`
	}

	CompletionsArguments struct {
		Text   string `json:"text"`
		Column int    `json:"column"` // from 1
		Line   int    `json:"line"`   // from 1; 0 for the only one
	}

	DisassembleArguments struct {
		MemoryReference   string `json:"memoryReference"`
		Offset            int    `json:"offset"`            // in bytes
		InstructionOffset int    `json:"instructionOffset"` // in instructions, behind Offset
		InstructionCount  int    `json:"instructionCount"`
	}

	EvaluateArguments struct {
		Expression string `json:"expression"`
		FrameID    int    `json:"frameId"`
		Context    string `json:"context"`
	}

	ExceptionInfoArguments struct {
		ThreadID int `json:"threadId"`
	}

	InitializeArguments struct {
		SupportsProgressReporting bool `json:"supportsProgressReporting"`
	}

	ModulesArguments struct {
		StartModule int `json:"startModule"`
		ModuleCount int `json:"moduleCount"` // 0 for all
	}

	ReadMemoryArguments struct {
		MemoryReference string `json:"memoryReference"`
		Offset          int    `json:"offset"`
		Count           int    `json:"count"`
	}

	ScopesArguments struct {
		FrameID int `json:"frameId"`
	}

	// SetBreakpointsArguments are those of the four requests that set breakpoints.
	SetBreakpointsArguments struct {
		Breakpoints []struct{} `json:"breakpoints"`
	}

	SourceArguments struct {
		Source          *Source `json:"source"`
		SourceReference int     `json:"sourceReference"`
	}

	StackTraceArguments struct {
		ThreadID   int `json:"threadId"`
		StartFrame int `json:"startFrame"`
		Levels     int `json:"levels"` // 0 for all
	}

	VariablesArguments struct {
		VariablesReference int    `json:"variablesReference"`
		Filter             string `json:"filter"` // indexed, named, or empty for both
		Start              int    `json:"start"`
		Count              int    `json:"count"` // 0 for all
	}
)

// A Response answers a request.
type Response struct {
	Seq        int    `json:"seq"`
	Type       string `json:"type"`
	RequestSeq int    `json:"request_seq"`
	Success    bool   `json:"success"`
	Command    string `json:"command"`
	Message    string `json:"message,omitempty"`
	Body       any    `json:"body,omitempty"`
}

// An Event is a message that answers nothing.
type Event struct {
	Seq   int    `json:"seq"`
	Type  string `json:"type"`
	Event string `json:"event"`
	Body  any    `json:"body,omitempty"`
}

// Bodies of responses.
type (
	Capabilities struct {
		SupportsConfigurationDoneRequest bool     `json:"supportsConfigurationDoneRequest,omitempty"`
		SupportsEvaluateForHovers        bool     `json:"supportsEvaluateForHovers,omitempty"`
		SupportsCompletionsRequest       bool     `json:"supportsCompletionsRequest,omitempty"`
		CompletionTriggerCharacters      []string `json:"completionTriggerCharacters,omitempty"`
		SupportsModulesRequest           bool     `json:"supportsModulesRequest,omitempty"`
		SupportsExceptionInfoRequest     bool     `json:"supportsExceptionInfoRequest,omitempty"`
		SupportsDelayedStackTraceLoading bool     `json:"supportsDelayedStackTraceLoading,omitempty"`
		SupportsLoadedSourcesRequest     bool     `json:"supportsLoadedSourcesRequest,omitempty"`
		SupportsTerminateRequest         bool     `json:"supportsTerminateRequest,omitempty"`
		SupportsReadMemoryRequest        bool     `json:"supportsReadMemoryRequest,omitempty"`
		SupportsDisassembleRequest       bool     `json:"supportsDisassembleRequest,omitempty"`
		SupportsCancelRequest            bool     `json:"supportsCancelRequest,omitempty"`
		SupportsClipboardContext         bool     `json:"supportsClipboardContext,omitempty"`
	}

	CompletionsResponseBody struct {
		Targets []CompletionItem `json:"targets"`
	}

	DisassembleResponseBody struct {
		Instructions []DisassembledInstruction `json:"instructions"`
	}

	ErrorResponseBody struct {
		Error *ErrorMessage `json:"error,omitempty"`
	}

	EvaluateResponseBody struct {
		Result             string `json:"result"`
		Type               string `json:"type,omitempty"`
		VariablesReference int    `json:"variablesReference"`
		NamedVariables     int    `json:"namedVariables,omitempty"`
		IndexedVariables   int    `json:"indexedVariables,omitempty"`
		MemoryReference    string `json:"memoryReference,omitempty"`
	}

	ExceptionInfoResponseBody struct {
		ExceptionID string             `json:"exceptionId"`
		Description string             `json:"description,omitempty"`
		BreakMode   ExceptionBreakMode `json:"breakMode"`
		Details     *ExceptionDetails  `json:"details,omitempty"`
	}

	LoadedSourcesResponseBody struct {
		Sources []Source `json:"sources"`
	}

	ModulesResponseBody struct {
		Modules      []Module `json:"modules"`
		TotalModules int      `json:"totalModules,omitempty"`
	}

	ReadMemoryResponseBody struct {
		Address         string `json:"address"`
		UnreadableBytes int    `json:"unreadableBytes,omitempty"`
		Data            string `json:"data,omitempty"` // base64
	}

	ScopesResponseBody struct {
		Scopes []Scope `json:"scopes"`
	}

	// A SetBreakpointsResponseBody answers each of the four requests that set breakpoints.
	SetBreakpointsResponseBody struct {
		Breakpoints []Breakpoint `json:"breakpoints"`
	}

	SourceResponseBody struct {
		Content string `json:"content"`
	}

	StackTraceResponseBody struct {
		StackFrames []StackFrame `json:"stackFrames"`
		TotalFrames int          `json:"totalFrames,omitempty"`
	}

	ThreadsResponseBody struct {
		Threads []Thread `json:"threads"`
	}

	VariablesResponseBody struct {
		Variables []Variable `json:"variables"`
	}
)

// Bodies of events.
type (
	OutputEventBody struct {
		Category string `json:"category,omitempty"`
		Output   string `json:"output"`
	}

	ProcessEventBody struct {
		Name            string `json:"name"`
		SystemProcessID int    `json:"systemProcessId,omitempty"`
		StartMethod     string `json:"startMethod,omitempty"`
	}

	ProgressStartEventBody struct {
		ProgressID  string `json:"progressId"`
		Title       string `json:"title"`
		RequestID   int    `json:"requestId,omitempty"`
		Cancellable bool   `json:"cancellable,omitempty"`
		Message     string `json:"message,omitempty"`
	}

	ProgressUpdateEventBody struct {
		ProgressID string `json:"progressId"`
		Message    string `json:"message,omitempty"`
		Percentage int    `json:"percentage,omitempty"`
	}

	ProgressEndEventBody struct {
		ProgressID string `json:"progressId"`
	}

	StoppedEventBody struct {
		Reason            string `json:"reason"`
		Description       string `json:"description,omitempty"`
		ThreadID          int    `json:"threadId,omitempty"`
		Text              string `json:"text,omitempty"`
		AllThreadsStopped bool   `json:"allThreadsStopped,omitempty"`
	}
)

// Parts of bodies.
type (
	Breakpoint struct {
		Verified bool   `json:"verified"`
		Message  string `json:"message,omitempty"`
	}

	CompletionItem struct {
		Label  string `json:"label"`
		Text   string `json:"text,omitempty"`
		Start  int    `json:"start,omitempty"`
		Length int    `json:"length,omitempty"`
	}

	DisassembledInstruction struct {
		Address          string  `json:"address"`
		InstructionBytes string  `json:"instructionBytes,omitempty"`
		Instruction      string  `json:"instruction"`
		Symbol           string  `json:"symbol,omitempty"`
		Location         *Source `json:"location,omitempty"`
		Line             int     `json:"line,omitempty"`
	}

	ErrorMessage struct {
		ID        int               `json:"id"`
		Format    string            `json:"format"`
		Variables map[string]string `json:"variables,omitempty"`
		ShowUser  bool              `json:"showUser"`
	}

	// An ExceptionBreakMode is never, always, unhandled or userUnhandled.
	ExceptionBreakMode string

	ExceptionDetails struct {
		Message        string             `json:"message,omitempty"`
		TypeName       string             `json:"typeName,omitempty"`
		FullTypeName   string             `json:"fullTypeName,omitempty"`
		EvaluateName   string             `json:"evaluateName,omitempty"`
		StackTrace     string             `json:"stackTrace,omitempty"`
		InnerException []ExceptionDetails `json:"innerException,omitempty"`
	}

	Module struct {
		ID             any    `json:"id"`
		Name           string `json:"name"`
		Path           string `json:"path,omitempty"`
		Version        string `json:"version,omitempty"`
		SymbolStatus   string `json:"symbolStatus,omitempty"`
		SymbolFilePath string `json:"symbolFilePath,omitempty"`
		AddressRange   string `json:"addressRange,omitempty"`
	}

	Scope struct {
		Name               string `json:"name"`
		PresentationHint   string `json:"presentationHint,omitempty"`
		VariablesReference int    `json:"variablesReference"`
		Expensive          bool   `json:"expensive"`
	}

	Source struct {
		Name             string `json:"name,omitempty"`
		Path             string `json:"path,omitempty"`
		SourceReference  int    `json:"sourceReference,omitempty"`
		PresentationHint string `json:"presentationHint,omitempty"`
		Origin           string `json:"origin,omitempty"`
	}

	StackFrame struct {
		ID                          int     `json:"id"`
		Name                        string  `json:"name"`
		Source                      *Source `json:"source,omitempty"`
		Line                        int     `json:"line"`
		Column                      int     `json:"column"`
		InstructionPointerReference string  `json:"instructionPointerReference,omitempty"`
		ModuleID                    any     `json:"moduleId,omitempty"`
		PresentationHint            string  `json:"presentationHint,omitempty"`
	}

	Thread struct {
		ID   int    `json:"id"`
		Name string `json:"name"`
	}

	Variable struct {
		Name               string                    `json:"name"`
		Value              string                    `json:"value"`
		Type               string                    `json:"type,omitempty"`
		PresentationHint   *VariablePresentationHint `json:"presentationHint,omitempty"`
		EvaluateName       string                    `json:"evaluateName,omitempty"`
		VariablesReference int                       `json:"variablesReference"`
		NamedVariables     int                       `json:"namedVariables,omitempty"`
		IndexedVariables   int                       `json:"indexedVariables,omitempty"`
		MemoryReference    string                    `json:"memoryReference,omitempty"`
	}

	VariablePresentationHint struct {
		Kind       string   `json:"kind,omitempty"`
		Attributes []string `json:"attributes,omitempty"`
	}
)

// Write writes a message behind its header.
func Write(w io.Writer, content []byte) error {
	if _, err := fmt.Fprintf(w, "Content-Length: %d\r\n\r\n", len(content)); err != nil {
		return err
	}
	_, err := w.Write(content)
	return err
}
