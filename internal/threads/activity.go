package threads

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/base/enum"
	"github.com/sosgo/sosgo/internal/image/unwind"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// An Activity is what a thread does or waits for.
type Activity uint8

// The activities.
const (
	ActivityUnknown     Activity = iota
	ActivityRunning              // runs managed code
	ActivityNative               // runs unmanaged code that is not known to wait
	ActivityRuntime              // runs code of the runtime on behalf of managed code
	ActivityCollecting           // runs the garbage collection
	ActivitySuspended            // stopped by the runtime, mostly for a collection
	ActivityIdle                 // waits for work: the runtime's own threads and pool workers
	ActivitySleep                // waits for time to pass
	ActivityLock                 // waits for a lock
	ActivityMonitorWait          // waits for a pulse (Monitor.Wait)
	ActivityEvent                // waits for an event, a semaphore or a barrier
	ActivityTask                 // waits for a task
	ActivityJoin                 // waits for another thread to end
	ActivityStaticInit           // waits for a static constructor
	ActivitySocket               // waits for the network
	ActivityFile                 // waits for files, pipes or changes of the file system
	ActivityConsole              // waits for the console
	ActivityProcess              // waits for another process to end
	ActivityQueue                // waits for items of a queue
	ActivityExit                 // ends the process at its own request
)

var activityNames = [...]answer.ActivityKind{answer.ActivityUnknown, answer.ActivityRunning, answer.ActivityNative, answer.ActivityRuntime,
	answer.ActivityCollecting, answer.ActivitySuspended, answer.ActivityIdle, answer.ActivitySleep, answer.ActivityLock, answer.ActivityMonitor,
	answer.ActivityEvent, answer.ActivityTask, answer.ActivityJoin, answer.ActivityStaticInit, answer.ActivitySocket, answer.ActivityFile,
	answer.ActivityConsole, answer.ActivityProcess, answer.ActivityQueue, answer.ActivityExit}

func (a Activity) String() string { return enum.Name(activityNames[:], a, "Activity") }

// Runs reports whether a thread runs managed code, or did so when the runtime stopped it for a moment.
func (a Activity) Runs() bool { return a == ActivityRunning || a == ActivitySuspended }

// A ThreadActivity is the activity of a thread, as concluded from its stack.
type ThreadActivity struct {
	Activity Activity
	// Text is the activity in words, such as "waits for a task".
	Text string
	// Top is the method of the topmost managed frame, or nil.
	Top *dac.MethodDesc
	// Called is the method by which the thread calls unmanaged code, or nil.
	Called *dac.MethodDesc
	// By is the method that Text is based on, or nil.
	By *dac.MethodDesc
	// Caller is the topmost method outside of the framework, or nil.
	Caller *dac.MethodDesc
	// Entered is the frame through which the thread entered the runtime's code (ActivityRuntime). It is nil if the
	// activity has another basis.
	Entered *dac.Frame
	// Err is why the stack could not be walked as far as needed.
	Err error

	rt *dac.Runtime // of the methods
}

// A waitRule maps a method of the framework to an activity. A method that was renamed since .NET Core 3.1 has several
// rules.
type waitRule struct {
	class    string // type name without type arguments; a trailing * matches any suffix
	methods  string // prefixes of names, separated by spaces, those that do not wait marked with !; empty matches all
	activity Activity
	text     string
}

// Texts of waits for pipes, which may take long, and of the use of files, which seldom does.
const (
	WaitsForPipe = "waits for a pipe"
	UsesFile     = "reads or writes a file"
	UsesPipe     = "reads or writes a file that is a pipe or a device" // the text begins so
)

// waitRules are ordered: the first that matches is used.
var waitRules = []waitRule{
	{"System.Threading.PortableThreadPool+GateThread", "GateThreadStart", ActivityIdle, "idle (gate of the thread pool)"},
	{"System.Threading.PortableThreadPool+WorkerThread", "WorkerThreadStart WorkerDoWork WaitForSignal", ActivityIdle, "idle (worker of the thread pool)"},
	{"System.Threading.PortableThreadPool+WaitThread", "WaitThreadStart", ActivityEvent, "waits for handles (thread pool)"},
	{"System.Threading.PortableThreadPool+IOCompletionPoller", "", ActivityIdle, "idle (I/O completions of the thread pool)"},
	{"System.Threading.WindowsThreadPool", "", ActivityIdle, "idle (thread pool)"},
	{"System.Threading.TimerQueue", "TimerThread", ActivityIdle, "idle (timers)"},
	{"System.Net.Sockets.SocketAsyncEngine", "EventLoop", ActivityIdle, "idle (events of sockets)"},
	{"System.IO.FileSystemWatcher+RunningInstance", "ProcessEvents", ActivityFile, "waits for changes of the file system"},
	{"System.Collections.Concurrent.BlockingCollection`1", "Add TryAdd", ActivityQueue, "waits for room in a queue"},
	{"System.Collections.Concurrent.BlockingCollection`1", "", ActivityQueue, "waits for items of a queue"},
	{"System.Threading.Tasks.Task*", "Wait InternalWait SpinThenBlockingWait GetResultCore get_Result", ActivityTask, "waits for a task"},
	{"System.Runtime.CompilerServices.TaskAwaiter*", "GetResult HandleNonSuccess", ActivityTask, "waits for a task"},
	{"System.Threading.Tasks.Parallel", "", ActivityTask, "waits for a parallel loop"},
	{"System.Threading.Thread", "Sleep UninterruptibleSleep", ActivitySleep, "sleeps"},
	{"System.Threading.Thread", "StartCore StartInternal", ActivityRuntime, "starts a thread"}, // it holds the monitor of the Thread
	{"System.Threading.Thread", "Join", ActivityJoin, "waits for a thread to end"},
	{"System.Threading.Monitor", "Wait ObjWait", ActivityMonitorWait, "waits for a pulse (Monitor.Wait)"},
	{"System.Threading.Condition", "Wait", ActivityMonitorWait, "waits for a pulse (Monitor.Wait)"},
	{"System.Threading.Monitor", "Pulse ObjPulse", ActivityRuntime, "wakes threads (Monitor.Pulse)"},
	{"System.Threading.Monitor", "Enter ReliableEnter TryEnter", ActivityLock, "waits for a lock (Monitor.Enter)"},
	{"System.Threading.Lock", "Enter TryEnter", ActivityLock, "waits for a lock (Lock.Enter)"},
	{"System.Threading.ReaderWriterLock*", "Exit Release", ActivityRuntime, "leaves a reader-writer lock"},
	{"System.Threading.ReaderWriterLock*", "", ActivityLock, "waits for a reader-writer lock"},
	{"System.Threading.SpinLock", "Exit", ActivityRuntime, "leaves a spin lock"},
	{"System.Threading.SpinLock", "", ActivityLock, "waits for a spin lock"},
	{"System.Threading.Mutex", "ReleaseMutex", ActivityRuntime, "releases a mutex"},
	{"System.Threading.Mutex", "", ActivityLock, "waits for a mutex"},
	{"System.Threading.SemaphoreSlim", "Wait !WaitAsync", ActivityEvent, "waits for a semaphore"},
	{"System.Threading.ManualResetEventSlim", "Wait", ActivityEvent, "waits for an event"},
	{"System.Threading.CountdownEvent", "Wait", ActivityEvent, "waits for an event"},
	{"System.Threading.Barrier", "SignalAndWait", ActivityEvent, "waits at a barrier"},
	{"System.Threading.WaitHandle", "Wait SignalAndWait InternalWait", ActivityEvent, "waits for an event (WaitHandle)"},
	{"System.Threading.LowLevelLifoSemaphore*", "Release", ActivityRuntime, "wakes a thread"},
	{"System.Threading.LowLevelLifoSemaphore*", "", ActivityEvent, "waits for a semaphore"},
	{"System.Threading.LowLevelLock", "Release Signal", ActivityRuntime, "leaves a lock"},
	{"System.Threading.LowLevelLock", "", ActivityLock, "waits for a lock"},
	{"System.Threading.LowLevelMonitor", "Release Signal", ActivityRuntime, "leaves a lock"},
	{"System.Threading.LowLevelMonitor", "", ActivityLock, "waits for a lock"},
	{"System.Runtime.CompilerServices.InitHelpers", "", ActivityStaticInit, "waits for a static constructor or runs one"},
	{"System.Runtime.CompilerServices.StaticsHelpers", "", ActivityStaticInit, "waits for a static constructor or runs one"},
	{"System.Runtime.CompilerServices.RuntimeHelpers", "RunClassConstructor", ActivityStaticInit, "waits for a static constructor or runs one"},
	{"System.Diagnostics.Process*", "WaitFor", ActivityProcess, "waits for a process to end"},
	{"System.Net.Sockets.Socket", "SendAsync SendToAsync SendFileAsync SendPacketsAsync ReceiveAsync ReceiveFromAsync ReceiveMessageFromAsync AcceptAsync ConnectAsync DisconnectAsync",
		ActivityNative, "begins an operation of a socket"}, // the system call returns at once
	{"System.Net.Sockets.NetworkStream", "ReadAsync WriteAsync BeginRead BeginWrite", ActivityNative, "begins an operation of a socket"},
	{"System.Net.Security.SslStream", "ReadAsync WriteAsync BeginRead BeginWrite", ActivityNative, "begins an operation of TLS"},
	{"System.Net.Sockets.SocketAsyncEngine", "System.Threading.IThreadPoolWorkItem.Execute", ActivityNative, "handles events of sockets"},
	{"System.Net.Sockets.*", "", ActivitySocket, "waits for the network (socket)"},
	{"System.Net.Security.*", "", ActivitySocket, "waits for the network (TLS)"},
	{"System.Net.Dns", "", ActivitySocket, "waits for the network (name resolution)"},
	{"System.Net.NameResolutionPal", "", ActivitySocket, "waits for the network (name resolution)"},
	{"System.Console*", "", ActivityConsole, "waits for the console"},
	{"System.IO.StdInReader", "", ActivityConsole, "waits for the console"},
	{"System.IO.SyncTextReader", "", ActivityConsole, "waits for the console"},
	{"System.IO.Pipes.*", "", ActivityFile, WaitsForPipe},
	{"System.IO.RandomAccess", "", ActivityFile, UsesFile},
	{"System.IO.FileStream", "", ActivityFile, UsesFile},
	{"System.IO.Strategies.*", "", ActivityFile, UsesFile},
	{"System.IO.File*", "", ActivityFile, "uses the file system"},
	{"System.IO.Directory*", "", ActivityFile, "uses the file system"},
	{"System.Environment", "Exit _Exit", ActivityExit, "ends the process (Environment.Exit)"},
	{"System.GC", "WaitForPendingFinalizers _WaitForPendingFinalizers", ActivityRuntime, "waits for the finalizers (GC.WaitForPendingFinalizers)"},
	{"System.GC", "WaitForFullGC _WaitForFullGC", ActivityEvent, "waits for notice of a collection"},
	{"System.GC", "Collect _Collect", ActivityRuntime, "requested a collection"},
}

// callRules are for calls of native code by the assemblies of the class library, which have an Interop class each. The compiler inlines the methods of a
// stream into the code that uses it, and then no frame has them.
var callRules = []struct {
	assembly string
	waitRule
}{
	{"System.Console", waitRule{"Interop+Sys", "Read Write", ActivityConsole, "waits for the console"}},
	{"System.Console", waitRule{"Interop+Kernel32", "ReadFile WriteFile ReadConsole WriteConsole", ActivityConsole, "waits for the console"}},
	{"System.Private.CoreLib", waitRule{"Interop+Sys", "Write PRead PWrite FSync", ActivityFile, UsesFile}},
}

// waitEnds are the methods of the framework that run user work. Frames below them started the work and do not explain
// the wait.
var waitEnds = []waitRule{
	{class: "System.Threading.ThreadPoolWorkQueue", methods: "Dispatch"},
	{class: "System.Threading._ThreadPoolWaitCallback"},
	{class: "System.Threading.ExecutionContext", methods: "Run"},
	{class: "System.Threading.TimerQueueTimer", methods: "Fire CallCallback"},
	{class: "System.Threading.ThreadHelper"},
	{class: "System.Reflection.*", methods: "Invoke"},
}

// matches reports whether the rule is for a method.
func (r *waitRule) matches(class, method string) bool {
	if prefix, ok := strings.CutSuffix(r.class, "*"); ok {
		if !strings.HasPrefix(class, prefix) {
			return false
		}
	} else if class != r.class {
		return false
	}
	if r.methods == "" {
		return true
	}
	found := false
	for m := range strings.FieldsSeq(r.methods) {
		if other, not := strings.CutPrefix(m, "!"); not && strings.HasPrefix(method, other) {
			return false
		}
		found = found || strings.HasPrefix(method, m)
	}
	return found
}

// WaitsFor returns what a method of the framework waits for, or the idle loop that it belongs to, with a text for it.
// class is the full name of its type, without type arguments. ok is false for methods that are not known to wait.
func WaitsFor(class, method string) (a Activity, text string, ok bool) {
	if !isFramework(class) {
		return ActivityUnknown, "", false
	}
	r := findRule(waitRules, class, method)
	if r == nil {
		return ActivityUnknown, "", false
	}
	return r.activity, r.text, true
}

// callsFor is WaitsFor for a method md that imports a native function.
func callsFor(class, method string, md *dac.MethodDesc) (a Activity, text string, ok bool) {
	for i := range callRules {
		r := &callRules[i]
		if !r.matches(class, method) {
			continue
		}
		if mod, err := md.Module(); err == nil {
			if name, err := mod.SimpleName(); err == nil && name == r.assembly {
				return r.activity, r.text, true
			}
		}
	}
	return ActivityUnknown, "", false
}

// explains reports whether a frame with the activity outer says why the thread does what its inner frames do. The inner
// activity is ActivityUnknown if they are not known. Code of the framework does much besides its own wait: it starts
// threads, allocates and takes locks.
func explains(outer, inner Activity) bool {
	switch outer {
	case ActivityTask, ActivityQueue:
		if inner == ActivityUnknown {
			return false // these waits consist of others
		}
	}
	switch inner {
	case ActivityRuntime:
		return outer == ActivityRuntime || outer == ActivityExit
	case ActivityLock:
		switch outer {
		case ActivityIdle, ActivitySocket, ActivityFile, ActivityQueue, ActivityNative, ActivityRuntime:
			return false
		}
	case ActivityUnknown, ActivityNative, ActivitySocket:
	default:
		return outer != ActivityNative && outer != ActivityRuntime
	}
	return true
}

func findRule(rules []waitRule, class, method string) *waitRule {
	for i := range rules {
		if rules[i].matches(class, method) {
			return &rules[i]
		}
	}
	return nil
}

// ActivityOf concludes what a thread does from its stack, leaf first and without native frames. If the leaf is managed
// code, the thread runs it. Otherwise ActivityOf searches a table for the framework's calls at the top of the stack. Of
// the calls that wait, the outermost that explains the inner ones is used: Task.Wait ends in Monitor.Wait. The
// conclusion rests on names. It does not prove that the thread did not wake up a moment before the dump.
func ActivityOf(t *stackwalk.Thread, frames iter.Seq[stackwalk.Frame]) ThreadActivity {
	a := &activityFinder{thread: t, framework: true}
	for f := range frames {
		if !a.examine(&f) {
			break
		}
	}
	return a.conclude()
}

// An activityFinder examines one stack.
type activityFinder struct {
	thread    *stackwalk.Thread
	out       ThreadActivity
	first     *stackwalk.Frame
	framework bool // only methods of the framework so far
	unnamed   bool // a method without a readable name may be the one that waits
	spins     bool // the last method spins
	native    bool // an activation of native code, which is what NativeAOT's methods are
}

// A Lock spins for a moment before it begins to wait (.NET 9 and later). Idle workers spin by the same class.
const (
	spinWaiter = "System.Threading.LowLevelSpinWaiter"
	spinsFirst = "System.Threading.Lock"
)

// Spinning reports whether a thread still spins by its stack up to a method of class: the methods below it do so.
func Spinning(below bool, class string) bool {
	return class == spinWaiter || below && class == spinsFirst
}

// examine looks at the next outer frame. It reports whether it needs more.
func (a *activityFinder) examine(f *stackwalk.Frame) bool {
	if err := cmp.Or(f.Err, f.Lost); err != nil {
		a.out.Err = err
	}
	a.native = a.native || f.Kind == stackwalk.FrameNative && f.Err == nil
	if a.first == nil {
		first := *f
		a.first = &first
	} else if f.Kind == stackwalk.FrameManaged && f.Trust <= unwind.TrustFP && a.out.Err == nil {
		a.out.Err = fmt.Errorf("frames before %#x, which the chain of frame pointers leads to, may be missing: unwind data is %w", uint64(f.SP), target.ErrNotInDump)
	}
	md, err := f.Method()
	if err != nil {
		if f.Kind == stackwalk.FrameManaged && a.out.Err == nil {
			a.out.Err = err
		}
		return true
	}
	if a.framework && a.throws(f, md) {
		// The frames below have failed and no longer wait.
		a.framework = false
		if a.out.Activity == ActivityUnknown {
			a.out.set(ActivityRuntime, "handles an exception")
		}
	}
	if md == nil {
		return true
	}
	if a.out.rt == nil && f.Kind == stackwalk.FrameExplicit && f.Explicit.CallsUnmanaged() && a.first.Kind == f.Kind && a.first.Explicit.Addr == f.Explicit.Addr {
		a.out.Called = md
	}
	a.out.rt = f.Runtime
	if f.Kind == stackwalk.FrameManaged && a.out.Top == nil {
		a.out.Top = md
	}
	class, method := methodNames(f.Runtime, md)
	if class == "" || method == "" {
		_, err := f.Runtime.TypeName(md.MethodTable, dac.NameNative)
		if err == nil {
			_, err = md.Name()
		}
		if err != nil && !errors.Is(err, target.ErrUnsupported) {
			a.unnamed = a.unnamed || a.framework
			a.out.Err = cmp.Or(a.out.Err, err)
		}
	}
	if !isFramework(class) && !isStub(f, md) {
		a.framework = false
		if f.Kind == stackwalk.FrameManaged {
			a.out.Caller = md
		}
		return a.out.Caller == nil
	}
	if a.framework {
		a.call(class, method, md)
	}
	return true
}

// call takes the next outer method of the framework into account.
func (a *activityFinder) call(class, method string, md *dac.MethodDesc) {
	a.spins = Spinning(a.spins, class)
	if findRule(waitEnds, class, method) != nil {
		a.framework = false
		return
	}
	activity, text, ok := WaitsFor(class, method)
	if !ok {
		activity, text, ok = callsFor(class, method, md)
	}
	switch {
	case !ok || !explains(activity, a.out.Activity):
	case a.spins && class == spinsFirst:
		a.out.set(ActivityRunning, "runs (spins before it waits for a lock)")
		a.out.By = nil
	default:
		a.out.Activity, a.out.Text, a.out.By = activity, text, md
	}
}

// throws reports whether the runtime handles an exception at f: in its managed code (9 and later), or in an explicit
// frame of the throw. Before .NET 10 that frame belongs to a helper without a method.
func (a *activityFinder) throws(f *stackwalk.Frame, md *dac.MethodDesc) bool {
	if f.Kind == stackwalk.FrameManaged && md != nil {
		class, _ := methodNames(f.Runtime, md)
		return class == "System.Runtime.EH"
	}
	switch f.Explicit.Kind {
	case dac.FrameSoftwareException, dac.FrameFault:
		return true
	case dac.FrameHelper:
		return md == nil && a.thread.Managed != nil && a.thread.Managed.ExInfo != 0
	}
	return false
}

// methodNames returns the names of the type, without type arguments, and of the method. Unreadable names are empty.
func methodNames(rt *dac.Runtime, md *dac.MethodDesc) (class, method string) {
	method, _ = md.Name()
	// The compiler moves a native call into a local function of the method.
	method = compilernames.Declaring(method)
	class, _ = rt.TypeName(md.MethodTable, dac.NameNative)
	class, _, _ = strings.Cut(class, "[")
	return class, method
}

// isFramework reports whether a type belongs to the code that waits on a program's behalf. Stubs, which have no type,
// belong to it.
func isFramework(class string) bool {
	return class == "" || strings.HasPrefix(class, "System.") || strings.HasPrefix(class, "Interop") ||
		strings.HasPrefix(class, "Microsoft.Win32.")
}

// isStub reports whether reflection made the method to call another.
func isStub(f *stackwalk.Frame, md *dac.MethodDesc) bool {
	name, err := dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified)
	return err == nil && strings.HasPrefix(name, "DynamicClass.InvokeStub_")
}

// conclude combines the frames with what the runtime recorded about the thread.
func (a *activityFinder) conclude() ThreadActivity {
	out := &a.out
	m := a.thread.Managed
	switch {
	case m == nil:
		out.set(ActivityNative, "runs no managed code")
	case a.thread.OS == nil:
		out.set(ActivityUnknown, "has ended or has not started")
	case m.GC:
		out.set(ActivityCollecting, "collects garbage")
	case a.first != nil && a.first.Kind == stackwalk.FrameManaged:
		out.By = nil
		out.set(ActivityRunning, "runs")
	case a.first != nil && stopsThread(a.first.Explicit.Kind):
		out.By = nil
		out.set(ActivitySuspended, "was stopped by the runtime")
	case out.Activity != ActivityUnknown:
	case out.Top == nil && out.Err != nil:
		out.set(ActivityUnknown, "not known: its stack can't be read")
	case out.Top == nil && m.Finalizer:
		out.set(ActivityIdle, "idle (finalizer)")
	case out.Top == nil && a.native:
		out.set(ActivityUnknown, "has only native frames")
	case out.Top == nil:
		out.set(ActivityUnknown, "has no managed frames")
	case a.unnamed:
		out.set(ActivityUnknown, "not known: the names of its methods can't be read")
	case a.first.Kind == stackwalk.FrameExplicit:
		out.setExit(&a.first.Explicit)
	}
	return *out
}

// isQCall reports whether unmanaged code that a method calls is the runtime's own: the class library imports it from a module that does not exist.
func isQCall(md *dac.MethodDesc) bool {
	if md == nil {
		return false
	}
	meta, err := md.Metadata()
	if err != nil {
		return false
	}
	row, imported, err := meta.ImplMapOf(md.Token)
	if err != nil || !imported {
		return false
	}
	module, err := meta.ModuleRef(row.ImportScope.Row())
	if err != nil {
		return false
	}
	name, err := meta.String(module.Name)
	return err == nil && name == "QCall"
}

func (o *ThreadActivity) set(a Activity, text string) { o.Activity, o.Text = a, text }

// setExit describes how the thread left managed code, if no rule matches.
func (o *ThreadActivity) setExit(f *dac.Frame) {
	switch {
	case f.CallsUnmanaged() && !isQCall(o.Called):
		o.set(ActivityNative, "runs unmanaged code")
	case f.Class == "PrestubMethodFrame":
		o.set(ActivityRuntime, "prepares a method (compiles it)")
	default:
		o.set(ActivityRuntime, "runs the runtime's code")
	}
	if o.Activity == ActivityRuntime {
		entered := *f
		o.Entered = &entered
	}
}

// stopsThread reports whether a frame exists because the runtime stopped the thread in managed code.
func stopsThread(k dac.FrameKind) bool { return k == dac.FrameRedirected || k == dac.FrameHijack }

// DescribeActivity describes the activity of t.
func DescribeActivity(t *stackwalk.Thread, g *answer.Gaps, a ThreadActivity) *answer.ThreadActivity {
	if a.Err != nil && t.OS != nil {
		g.Note(fmt.Errorf("stack of thread %#x: %w", t.ID(), a.Err))
	}
	name := func(md *dac.MethodDesc) answer.Text {
		if md == nil {
			return answer.Text{Err: a.Err} // an unread frame may have a method
		}
		return g.Text(dac.CodeOf(a.rt).MethodName(md, dac.MethodFull))
	}
	return &answer.ThreadActivity{Kind: answer.ActivityKind(a.Activity.String()), Text: a.Text, Top: name(a.Top), Caller: name(a.Caller)}
}
