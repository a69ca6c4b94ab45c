package dap

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-dap"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/app/triage"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/front/remote"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// A session is the state of one client: no dump at first, then one dump.
type session struct {
	ctx    context.Context
	host   Host
	server *server
	client dap.InitializeRequestArguments

	// Set by launch or attach, before any question reads them.
	opened *Opened
	view   *process.Process
	ended  sync.Once

	sources sourceMap
	cwd     string // the folder in which files have the paths of PDBs; empty for no folder
	runtime bool   // methods have the runtime's names
	threads threadTable
	stacks  stackCache
	values  handles
	files   fileTable
	kinds   kindCache
}

func newSession(ctx context.Context, host Host, s *server) *session {
	return &session{ctx: ctx, host: host, server: s}
}

func (s *session) close() {
	s.ended.Do(func() {
		if s.opened != nil {
			_ = s.opened.Close() // the client has disconnected
		}
	})
}

// answer answers one request.
func (s *session) answer(r *request) (any, error) {
	switch m := r.message.(type) {
	case *dap.InitializeRequest:
		s.client = m.Arguments
		return capabilities(), nil
	case dap.LaunchAttachRequest:
		return nil, s.open(r, m.GetArguments())
	}
	if s.opened == nil {
		return nil, errors.New("no dump is open: launch or attach comes first")
	}
	ctx := process.WithProgress(r.ctx, r.progress.report)
	switch m := r.message.(type) {
	case *dap.ThreadsRequest:
		return s.listThreads(ctx)
	case *dap.StackTraceRequest:
		return s.stackTrace(ctx, &m.Arguments)
	case *dap.ExceptionInfoRequest:
		return s.exceptionInfo(ctx, m.Arguments.ThreadId)
	case *dap.ScopesRequest:
		return s.scopes(ctx, m.Arguments.FrameId)
	case *dap.VariablesRequest:
		return s.variables(ctx, &m.Arguments)
	case *dap.EvaluateRequest:
		return s.evaluate(ctx, &m.Arguments)
	case *dap.CompletionsRequest:
		return s.completions(&m.Arguments)
	case *dap.SourceRequest:
		return s.source(ctx, &m.Arguments)
	case *dap.LoadedSourcesRequest:
		return s.loadedSources(ctx)
	case *dap.ModulesRequest:
		return s.modules(ctx, &m.Arguments)
	case *dap.ReadMemoryRequest:
		return s.readMemory(&m.Arguments)
	case *dap.DisassembleRequest:
		return s.disassemble(ctx, &m.Arguments)
	case *dap.ConfigurationDoneRequest, *dap.SetExceptionBreakpointsRequest, *dap.TerminateRequest:
		return nil, nil
	}
	return standing(r)
}

// standing answers requests that need a running process. Breakpoints are accepted but never reached; other requests
// fail.
func standing(r *request) (any, error) {
	switch m := r.message.(type) {
	case *dap.SetBreakpointsRequest:
		return noBreakpoints(len(m.Arguments.Breakpoints)), nil
	case *dap.SetFunctionBreakpointsRequest:
		return noBreakpoints(len(m.Arguments.Breakpoints)), nil
	case *dap.SetInstructionBreakpointsRequest:
		return noBreakpoints(len(m.Arguments.Breakpoints)), nil
	case *dap.SetDataBreakpointsRequest:
		return noBreakpoints(len(m.Arguments.Breakpoints)), nil
	case *dap.ContinueRequest, *dap.NextRequest, *dap.StepInRequest, *dap.StepOutRequest, *dap.StepBackRequest, *dap.ReverseContinueRequest,
		*dap.PauseRequest, *dap.GotoRequest, *dap.GotoTargetsRequest, *dap.StepInTargetsRequest, *dap.RestartFrameRequest, *dap.RestartRequest,
		*dap.TerminateThreadsRequest:
		return nil, target.Unsupportedf("%s: a dump is a moment of a process, and can't run", r.Command)
	case *dap.SetVariableRequest, *dap.SetExpressionRequest, *dap.WriteMemoryRequest:
		return nil, target.Unsupportedf("%s: a dump can't be changed", r.Command)
	}
	return nil, target.Unsupportedf("%s is no question about a dump", r.Command)
}

// after sends the events that follow a response.
func (s *session) after(command string, ok bool) {
	switch {
	case command == "terminate":
		s.server.out.event("terminated", nil)
	case !ok:
	case command == "launch" || command == "attach":
		s.server.out.event("initialized", nil)
	case command == "configurationDone":
		s.stopped()
	}
}

func capabilities() dap.Capabilities {
	return dap.Capabilities{
		SupportsConfigurationDoneRequest: true,
		SupportsEvaluateForHovers:        true,
		SupportsCompletionsRequest:       true,
		CompletionTriggerCharacters:      []string{".", " ", "-"},
		SupportsModulesRequest:           true,
		SupportsExceptionInfoRequest:     true,
		SupportsDelayedStackTraceLoading: true,
		SupportsLoadedSourcesRequest:     true,
		SupportsTerminateRequest:         true,
		SupportsReadMemoryRequest:        true,
		SupportsDisassembleRequest:       true,
		SupportsCancelRequest:            true,
		SupportsClipboardContext:         true,
	}
}

// noBreakpoints answers each of the four requests that set breakpoints. Their response bodies are identical.
func noBreakpoints(n int) dap.SetBreakpointsResponseBody {
	out := make([]dap.Breakpoint, n)
	for i := range out {
		out[i].Message = "a dump does not run: no breakpoint is reached"
	}
	return dap.SetBreakpointsResponseBody{Breakpoints: out}
}

// arguments are the arguments of launch and attach.
type arguments struct {
	Dump         string     `json:"dump"`
	Program      string     `json:"program"` // what configurations of other debuggers call it
	Modules      stringList `json:"modules"`
	SymbolServer stringList `json:"symbolServer"`
	SourceMap    sourceMap  `json:"sourceMap"`
	Cwd          string     `json:"cwd"` // the folder in which paths of PDBs are taken as they are
	Names        string     `json:"names"`
}

// The forms of methods' names in stacks.
const (
	namesCSharp  = "csharp"  // as C# code has them; the default
	namesRuntime = "runtime" // as the runtime has them
)

// A stringList is a JSON string or a list of strings.
type stringList []string

func (l *stringList) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*l = nil
		if one != "" {
			*l = stringList{one}
		}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(l))
}

// open opens the dump named by launch or attach.
func (s *session) open(r *request, raw json.RawMessage) error {
	if s.opened != nil {
		return fmt.Errorf("%s is open: start another session for another dump", remote.Shown(s.opened.Path))
	}
	var a arguments
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &a); err != nil {
			return fmt.Errorf("the arguments can't be read: %w", err)
		}
	}
	if a.Names != "" && a.Names != namesCSharp && a.Names != namesRuntime {
		return fmt.Errorf("names is %q: it may be %s or %s", a.Names, namesCSharp, namesRuntime)
	}
	if a.Program != "" && a.Dump != "" && a.Program != a.Dump {
		return errors.New(`the configuration names two dumps, as "dump" and as "program"`)
	}
	a.Dump = cmp.Or(a.Dump, a.Program)
	ctx, cancel := context.WithCancel(s.ctx) // the session's context: files are opened on first read
	stop := context.AfterFunc(r.ctx, cancel)
	o, err := s.host.Open(ctx, Open{Dump: a.Dump, Modules: a.Modules, SymbolServers: a.SymbolServer}, func(done, total uint64) {
		r.progress.report("opening the dump", done, total)
	})
	if !stop() && err == nil {
		_ = o.Close()
		err = r.ctx.Err()
	}
	if err != nil {
		cancel()
		return err
	}
	context.AfterFunc(s.ctx, cancel)
	s.view, _ = o.Dump.Process(o.Runtime) // the process keeps the error
	s.sources, s.cwd, s.runtime, s.opened = a.SourceMap, a.Cwd, a.Names == namesRuntime, o
	return nil
}

// stopped sends the stopped event, with the crash if one is recorded, or with the first finding of a triage.
func (s *session) stopped() {
	info := s.opened.Dump.File().Process()
	s.server.out.event("process", dap.ProcessEventBody{Name: cmpText(info.Command, remote.Base(s.opened.Path)), SystemProcessId: int(info.ID), StartMethod: "attach"})
	s.console(fmt.Sprintf("%s: each line is an expression, or a command of sosgo; help lists them.\n", remote.Base(s.opened.Path)))
	stop := dap.StoppedEventBody{Reason: "pause", Description: "Dump", AllThreadsStopped: true}
	crash, crashErr := s.crash(s.ctx)
	crashed := crashErr == nil && !crash.Alive && !crash.Undecided
	if !crashed {
		s.lookFor(&stop) // first, since its threads come first
	}
	list, err := s.threads.get(s.ctx, s)
	if err != nil {
		s.console("threads: " + words(err) + "\n")
	}
	if len(list) > 0 {
		stop.ThreadId = list[0].id
	}
	switch {
	case crashErr != nil:
		s.console("crash: " + words(crashErr) + "\n")
	case crashed:
		stop.Reason, stop.Description, stop.Text = "exception", "Crashed", crashText(crash)
		if crash.ThreadID != 0 {
			stop.ThreadId = int(crash.ThreadID)
		}
		s.console(strings.Join(nonEmpty(crash.Reason, cmpText(s.said(&crash.Cause), crash.Likely)), "\n") + "\n")
	}
	s.server.out.event("stopped", stop)
}

// crashText returns the type and message of the exception that ended the process, or what is known in its place.
func crashText(c *answer.Crash) string {
	if len(c.Exceptions) == 0 {
		return cmpText(c.Likely, c.Reason)
	}
	e := &c.Exceptions[0]
	text := compilernames.CSharp(e.Type.String())
	if e.Message != nil && e.Message.String() != "" {
		text += ": " + e.Message.String()
	}
	return text
}

// A client waits for the first finding so long at most, and only for processes with at most so many threads.
const (
	mostLooking = 3 * time.Second
	mostThreads = 500
)

// lookFor puts the first finding into the stopped event, and keeps its threads for the list.
func (s *session) lookFor(stop *dap.StoppedEventBody) {
	ctx, cancel := context.WithTimeout(s.ctx, mostLooking)
	defer cancel()
	var t *answer.Triage
	known, err := s.view.Threads()
	if len(known) <= mostThreads {
		t, err = triage.Triage(ctx, s.view, triage.Options{NoHeap: true})
	}
	switch {
	case ctx.Err() != nil || len(known) > mostThreads:
		s.console("the command triage says what is wrong: it takes too long to begin with it\n")
		return
	case err != nil:
		s.console("triage: " + words(err) + "\n")
		return
	case len(t.Findings) == 0:
		return
	}
	f := &t.Findings[0]
	stop.Description, stop.Text = string(f.Kind), s.said(&f.Statement)
	s.console(fmt.Sprintf("%s: %s [%s]\n", f.Kind, stop.Text, f.Strength))
	found := []uint32{}
	if f.Thread != 0 {
		found = append(found, f.Thread)
	}
	for _, a := range f.Args {
		if a.Type == answer.ArgThread && a.OSID != 0 && !slices.Contains(found, a.OSID) {
			found = append(found, a.OSID)
		}
	}
	s.threads.found.Store(&found)
}

func (s *session) console(text string) {
	s.server.out.event("output", dap.OutputEventBody{Category: "console", Output: text})
}

// crash describes the crash and caches the result.
func (s *session) crash(ctx context.Context) (*answer.Crash, error) {
	return s.threads.crash.get(ctx, func(ctx context.Context) (*answer.Crash, error) { return crash.Describe(ctx, s.view, crash.Options{}) })
}

// asked calls ask with a view. If the address belongs to another runtime, it calls ask with that runtime's view. It
// returns the view used.
func asked[T any](s *session, v *process.Process, ask func(*process.Process) (T, error)) (T, *process.Process, error) {
	out, err := ask(v)
	var foreign *dac.ForeignError
	if errors.As(err, &foreign) && foreign.Owner != nil {
		if other, oerr := s.opened.Dump.Process(fmt.Sprintf("#%d", foreign.Owner.Index)); oerr == nil {
			out, err = ask(other)
			return out, other, err
		}
	}
	return out, v, err
}

// words formats the error that stands for a missing value: the common word and the reason.
func words(err error) string {
	if err == nil {
		return ""
	}
	word := answer.Absent(err)
	if errors.Is(err, answer.ErrNotInitialised) {
		return "<" + err.Error() + ">"
	}
	return word + ": " + err.Error()
}

func nonEmpty(list ...string) []string {
	var out []string
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

func cmpText(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// A once caches the first result that is not an error of its context.
type once[T any] struct {
	mu   sync.Mutex
	done bool
	v    T
	err  error
}

func (o *once[T]) get(ctx context.Context, ask func(context.Context) (T, error)) (T, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done {
		return o.v, o.err
	}
	v, err := ask(ctx)
	if ctx.Err() != nil {
		return v, ctx.Err()
	}
	o.v, o.err, o.done = v, err, true
	return v, err
}
