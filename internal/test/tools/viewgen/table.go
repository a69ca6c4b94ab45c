package main

// A group of questions stands together in the documentation of View.
type group struct {
	title     string
	questions []question
}

// A question is a function of a package, and its method of View if that has another name.
type question struct{ function, method string }

var groups = []group{
	{"Why did it fail?", []question{
		{"app/triage.Triage", ""}, {"app/crash.Describe", "Crash"}, {"app/crash.Exception", ""}, {"app/memory.Exceptions", ""},
		{"app/stacks.Analyze", "AnalyzeThread"}, {"app/memory.OutOfMemory", ""}, {"app/memory.StressLog", ""}, {"export/summary.Summary", ""},
	}},
	{"What do its threads do?", []question{
		{"app/stacks.Stacks", ""}, {"app/stacks.ParallelStacks", ""}, {"app/stacks.Profile", ""}, {"app/stacks.ManagedThreads", ""},
		{"app/stacks.OSThreads", ""}, {"app/stacks.StackObjects", ""}, {"app/stacks.AllStackObjects", ""}, {"app/stacks.ReturnAddresses", ""},
	}},
	{"What do they wait for?", []question{
		{"app/locks.Waits", ""}, {"app/locks.Locks", ""}, {"app/stacks.SyncBlocks", ""}, {"app/locks.Initializers", ""},
		{"app/locks.ThreadPool", ""}, {"app/threadpool.WorkQueues", ""}, {"app/threadpool.Timers", ""},
		{"app/async.Stacks", "AsyncStacks"}, {"app/async.Calls", "AsyncCalls"}, {"app/async.Tasks", ""}, {"app/async.State", "TaskState"},
	}},
	{"What does the application do?", []question{
		{"app/web.Requests", ""}, {"app/flows.Flows", ""}, {"app/web.Sessions", ""}, {"app/web.HTTPClients", ""}, {"app/web.GRPCCalls", ""},
		{"app/web.SignalR", ""}, {"app/web.Sockets", "WebSockets"}, {"app/web.Messages", ""}, {"app/web.Queues", ""}, {"app/web.Redis", ""},
		{"app/sqlpools.SQLPools", ""}, {"app/web.ObjectPools", ""}, {"app/hosting.Hosts", ""}, {"app/hosting.Caches", "MemoryCaches"},
		{"app/hosting.DbContexts", ""}, {"app/hosting.ServiceScopes", ""}, {"app/tracing.EventSources", ""}, {"app/interop.ComWrappers", ""},
	}},
	{"What is on its heap?", []question{
		{"app/memory.HeapStats", ""}, {"app/memory.HeapObjects", ""}, {"app/memory.Duplicates", ""}, {"app/memory.SizeStatistics", ""},
		{"app/memory.Generations", ""}, {"app/memory.GenerationStats", ""}, {"app/memory.GenerationObjects", ""}, {"app/memory.HeapMap", ""},
		{"app/memory.Fragmentation", ""}, {"app/memory.GC", ""}, {"app/memory.Where", ""}, {"app/memory.Neighbours", ""},
		{"app/memory.Handles", ""}, {"app/memory.Finalizers", ""}, {"app/memory.VerifyHeap", ""}, {"app/memory.VerifyObject", ""},
		{"app/memory.Soundness", ""}, {"app/memory.OldReferences", ""}, {"app/memory.LargeReferences", ""}, {"app/memory.Unreachable", ""},
	}},
	{"Who keeps what alive, and what costs memory?", []question{
		{"app/leaks.Leaks", ""}, {"app/memory.GCRoot", ""}, {"app/memory.PathTo", ""}, {"app/memory.Retained", ""}, {"app/memory.RetainedBy", ""},
		{"app/memory.Dominators", ""}, {"app/memory.DominatorsOf", ""}, {"app/memory.DominatorChildren", ""}, {"app/memory.Closure", ""},
		{"app/memory.ClosureOfType", ""}, {"app/memory.Referents", ""}, {"app/memory.Referrers", ""}, {"app/memory.HandlesHold", ""},
		{"app/memory.HeapGraph", ""}, {"app/waste.Waste", ""}, {"app/memorymap.Memory", ""}, {"app/memory.RuntimeHeaps", ""},
	}},
	{"What is this object, type or address?", []question{
		{"app/values.Describe", ""}, {"app/values.Array", ""}, {"app/values.Struct", ""}, {"app/values.ReadString", ""}, {"app/values.Items", ""},
		{"app/values.References", ""}, {"app/values.DelegateCalls", ""}, {"app/values.Type", ""}, {"app/values.Types", ""}, {"app/values.RuntimeTypes", ""},
		{"app/values.Statics", ""}, {"app/values.AppDomain", ""}, {"app/values.LoadContext", ""},
	}},
	{"What code does it run?", []question{
		{"app/methods.Method", ""}, {"app/methods.IL", ""}, {"app/methods.ILAt", ""}, {"app/methods.Disassembly", ""}, {"app/methods.GCInfo", ""},
		{"app/methods.Handlers", ""}, {"app/methods.Tiers", ""}, {"app/methods.Source", ""}, {"app/methods.SourceFiles", ""},
		{"app/methods.FindName", ""}, {"app/methods.FindToken", ""}, {"app/modules.Images", ""}, {"app/modules.Assemblies", ""},
		{"app/modules.Assembly", ""}, {"app/modules.Module", ""}, {"app/modules.Domains", ""}, {"app/contexts.LoadContexts", ""},
	}},
	{"How was it started, and how was it dumped?", []question{
		{"app/settings.Process", "Settings"}, {"app/modules.DescribeRuntimes", ""}, {"app/modules.EEVersion", ""},
	}},
	{"Anything else", []question{
		{"app/rows.Query", ""}, {"app/rows.Evaluate", ""},
	}},
	{"What in it is secret?", []question{
		{"app/sensitive.Secrets", ""}, {"app/sensitive.SecretValues", ""}, {"app/sensitive.Mask", ""},
	}},
}

// names has the importers' names of options in internal packages.
var names = map[string]string{
	"app/async.StackOptions": "AsyncOptions", "app/crash.ExceptionOptions": "ExceptionOptions", "app/crash.Options": "CrashOptions",
	"app/flows.Options": "FlowOptions", "app/leaks.Options": "LeakOptions", "app/locks.Options": "WaitOptions",
	"app/memory.GenerationsOptions": "GenerationOptions", "app/memory.HeapMapOptions": "HeapMapOptions", "app/memory.HeapOptions": "HeapOptions",
	"app/memory.UnreachableOptions": "UnreachableOptions", "app/memorymap.Options": "MemoryOptions", "app/rows.EvaluateOptions": "EvaluateOptions",
	"app/settings.ProcessOptions": "SettingsOptions", "app/sqlpools.Options": "SQLPoolOptions", "app/stacks.ManagedOptions": "ManagedThreadOptions",
	"app/stacks.Options": "StackOptions", "app/tasks.ListOptions": "TaskOptions", "app/tasks.StackOptions": "AsyncCallOptions",
	"app/threadpool.Options": "ThreadPoolOptions", "app/triage.Options": "TriageOptions", "app/values.DescribeOptions": "DescribeOptions",
	"app/waste.Options": "WasteOptions", "app/web.ClientOptions": "HTTPClientOptions", "app/web.MessageOptions": "MessageOptions",
	"app/web.RequestOptions": "RequestOptions", "app/web.SessionOptions": "SessionOptions", "disasm.MethodOptions": "DisassemblyOptions",
	"export/summary.Options": "SummaryOptions", "threads.ObjectOptions": "StackObjectOptions", "threads.ParallelOptions": "ParallelStackOptions",
	"threads.ProfileOptions": "ProfileOptions", "threads.ReturnOptions": "ReturnAddressOptions", "threads.StackOptions": "AnalyzeOptions",
	"threads.SyncBlockOptions": "SyncBlockOptions",
}

// inside are fields of options that sosgo's own packages set, by name or by type and name: progress and processors come
// from the context, and readers from the process.
var inside = map[string]bool{
	"Scan": true, "Jobs": true, "Walk": true, "Walker": true, "Symbols": true, "Env": true, "Brief": true,
	"app/tasks.StackOptions.Any": true, "app/tasks.StackOptions.Machines": true, "app/tasks.StackOptions.Roots": true,
	"app/waste.Options.Kinds": true, "app/waste.Options.Live": true, "app/waste.Options.Locals": true, "app/waste.Options.Statics": true,
	"app/values.DescribeOptions.Show": true, "threads.StackOptions.Debug": true, "threads.ObjectOptions.Extended": true, // forms of commands
	"app/stacks.Options.Debug": true, "app/stacks.Options.Carried": true, "threads.StackOptions.Carried": true,
	"app/web.ClientOptions.Clock": true, "app/sqlpools.Options.Clock": true, "app/crash.Options.Waits": true, "app/web.ClientOptions.Unnamed": true,
}

// none are functions that are no questions of an importer, with the reason.
var none = map[string]string{
	"app/settings.GCSettings":   "a part of Process",
	"app/memory.GCSettings":     "a part of GC",
	"app/memory.FaultingObject": "a part of Crash", "app/memory.OverwrittenObject": "a part of Triage",
	"app/memorymap.NativeMemory": "a reader for other packages", "app/memorymap.PointerFields": "a reader for other packages",
	"app/sensitive.Masker": "what Mask masks with", "app/sensitive.Beside": "what exports mask with",
	"app/threadpool.Pool": "what locks.ThreadPool judges",
	"app/triage.Read":     "what Triage reads",
}
