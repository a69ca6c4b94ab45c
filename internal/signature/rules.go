package signature

import "strings"

// A rule is a start of the names of frames that say nothing about a crash.
type rule struct{ start, reason string }

// irrelevantFrames are the frames that are no part of a signature, even where nothing else is known. The runtime has many of them in
// some versions and on some systems alone.
var irrelevantFrames = [...]rule{
	{"<unknown>", "a frame of NativeAOT without a name"},
	{"System.Threading.Thread.StartCallback", "how a thread starts, since .NET 6"},
	{"System.Threading.Thread.StartHelper", "how a thread starts, since .NET 6"},
	{"System.Threading.Thread+StartHelper.", "how a thread starts, since .NET 6"},
	{"System.Threading.ThreadHelper.", "how a thread starts, up to .NET 5"},
	{"System.Threading.ExecutionContext.", "carries the context of a call"},
	{"System.Threading.ThreadPoolWorkQueue.", "the loop of a worker of the thread pool"},
	{"System.Threading.PortableThreadPool", "the loop of a worker of the thread pool, since .NET 6"},
	{"System.Threading._ThreadPoolWaitCallback.", "the loop of a worker of the thread pool, up to .NET 5"},
	{"System.Threading.Tasks.Task.Execute", "runs the method of a task"},
	{"System.Threading.Tasks.Task.InnerInvoke", "runs the method of a task"},
	{"System.Threading.Tasks.Task.Throw", "throws what a task failed by"},
	{"System.Runtime.CompilerServices.AsyncMethodBuilder", "resumes async code"},
	{"System.Runtime.CompilerServices.AsyncTaskMethodBuilder", "resumes async code"},
	{"System.Runtime.CompilerServices.AsyncValueTaskMethodBuilder", "resumes async code"},
	{"System.Runtime.CompilerServices.AsyncVoidMethodBuilder", "resumes async code"},
	{"System.Runtime.CompilerServices.AsyncHelpers", "resumes async code, since .NET 11"},
	{"System.Runtime.CompilerServices.TaskAwaiter", "throws what an awaited task failed by"},
	{"System.Runtime.CompilerServices.ConfiguredTaskAwaitable", "throws what an awaited task failed by"},
	{"System.Runtime.CompilerServices.ValueTaskAwaiter", "throws what an awaited task failed by"},
	{"System.Runtime.ExceptionServices.", "throws an exception again"},
	{"System.Runtime.EH.", "dispatches exceptions, since .NET 9"},
	{"System.Runtime.InternalCalls.", "dispatches exceptions, since .NET 9"},
	{"System.ThrowHelper.", "throws for the method that calls it"},
	{"System.Environment.FailFast", "ends the process for the method that calls it"},
	{"System.RuntimeMethodHandle.", "calls a method by reflection"},
	{"System.Reflection.", "calls a method by reflection"},
	{"ILStubClass.", "a stub of the runtime between managed and native code"},
	{"DynamicClass.IL_STUB", "a stub of the runtime between managed and native code"},
	{"DynamicClass.InvokeStub_", "calls a method by reflection, since .NET 7"},
	{"InvokeStub_", "calls a method by reflection, since .NET 7"},
}

// irrelevantModules are the starts of the file names of modules through which every process dies that ends itself: a place in them says nothing alone.
var irrelevantModules = [...]rule{
	{"libc.so", "has abort and raise"},
	{"libc-", "has abort and raise (glibc up to 2.33)"},
	{"ld-musl", "has abort and raise (musl)"},
	{"libpthread", "has raise (glibc up to 2.33)"},
	{"libsystem_", "has abort and the calls of the kernel (macOS)"},
	{"linux-vdso", "the kernel's own"},
	{"ntdll.dll", "has the calls of the kernel and RaiseException's"},
	{"kernelbase.dll", "has RaiseException"},
	{"kernel32.dll", "forwards RaiseException"},
	{"ucrtbase.dll", "has abort"},
}

func irrelevantFrame(name string) bool {
	if starts(irrelevantFrames[:], name) {
		return true
	}
	// Throw helpers of the class library: System.ArgumentNullException.Throw, ThrowIfNull, System.Number.ThrowFormatException.
	name, _, _ = strings.Cut(name, "(")
	name, _, _ = strings.Cut(name, "[")
	return strings.HasPrefix(name, "System.") && strings.HasPrefix(name[strings.LastIndexByte(name, '.')+1:], "Throw")
}

func irrelevantModule(name string) bool { return starts(irrelevantModules[:], strings.ToLower(name)) }

func starts(rules []rule, name string) bool {
	for i := range rules {
		if strings.HasPrefix(name, rules[i].start) {
			return true
		}
	}
	return false
}
