package answer

import "github.com/sosgo/sosgo/target"

// Leaks lists the largest holders of memory, and patterns that usually leak.
type Leaks struct {
	Gaps
	Live       HeapPart `json:"live" doc:"objects that something keeps alive"`
	Garbage    HeapPart `json:"garbage" doc:"objects that nothing keeps alive that could be read"`
	Frozen     HeapPart `json:"frozen,omitzero" doc:"objects of frozen segments to which no root leads; they are never collected"`
	Incomplete bool     `json:"incomplete,omitempty" doc:"not all roots, objects or references can be read, as the warnings say: what is missing may hide a leak, or be what holds one"`
	Nameless   int      `json:"nameless,omitempty" doc:"types whose names can't be read: patterns that are found by names are missed among their objects"`
	Unproved   int      `json:"unprovedRoots,omitempty" doc:"roots that only look like references; suspects that nothing else holds stand last"`
	// Small reports that the live heap is too small for its shares to mean much.
	Small      bool           `json:"small,omitempty" doc:"so little lives that nothing of it explains a process that uses much memory"`
	Thresholds LeakThresholds `json:"thresholds" doc:"what was looked for"`
	Verdicts   []Verdict      `json:"verdicts,omitempty" doc:"what is concluded of the heap as a whole, and what may be missing"`
	Suspects   []Suspect      `json:"suspects" doc:"the largest holders, the one that retains most first"`
	More       int            `json:"more,omitempty" doc:"suspects that are not listed"`
	Finalizers Finalization   `json:"finalizers" doc:"objects that wait for their finalizer"`
	// Unknown lists types with fields that match no known version.
	Unknown []UnknownCollection `json:"unknownLayouts,omitempty" doc:"types whose fields are not as in any version that is known: patterns that need these were not looked for"`
}

// LeakThresholds are the limits above which something is listed.
type LeakThresholds struct {
	Share    float64 `json:"share" doc:"percent of all that lives that a suspect retains at least"`
	Least    float64 `json:"least" doc:"percent of all that lives that is listed at least"`
	Bytes    uint64  `json:"bytes" doc:"bytes that are listed at least, whatever their share"`
	Count    int     `json:"count" doc:"objects of one type that make an accumulation"`
	Drop     float64 `json:"drop" doc:"part of what an owner retains that its largest child has at least for that to be looked into instead of it"`
	Small    uint64  `json:"small" doc:"bytes: a heap with less live memory is small"`
	Sampled  int     `json:"sampled" doc:"objects of a group, at most, that are asked who refers to them"`
	Majority float64 `json:"majority" doc:"percent of these that what is called their holder refers to"`
}

// A SuspectKind is the pattern that a Suspect fits.
type SuspectKind string

// The kinds of suspects.
const (
	SuspectAccumulation SuspectKind = "accumulation"     // many objects of one type, owned by one object
	SuspectObject       SuspectKind = "object"           // one object that retains much, not through many objects of one type
	SuspectGroup        SuspectKind = "group"            // many objects of one type without a single owner
	SuspectEvent        SuspectKind = "event"            // a delegate with many handlers
	SuspectTimers       SuspectKind = "timers"           // many timers with the same callback
	SuspectCalls        SuspectKind = "calls"            // many calls of one async method
	SuspectCancellation SuspectKind = "cancellation"     // many callbacks registered with one CancellationTokenSource
	SuspectRootScope    SuspectKind = "root scope"       // many disposables kept by the root scope of a service provider
	SuspectThreadStatic SuspectKind = "thread static"    // a thread static field with values of several threads
	SuspectThreadLocal  SuspectKind = "thread local"     // a ThreadLocal with values of several threads
	SuspectInterned     SuspectKind = "interned strings" // strings in the runtime's arrays for literals and interned strings
	SuspectWeak         SuspectKind = "weak references"  // many weak references of one owner, most of them dead
)

// A SuspectVerdict is how important a Suspect is.
type SuspectVerdict string

// The verdicts of suspects.
const (
	VerdictSuspect SuspectVerdict = "suspect" // it retains at least the share of the thresholds
	VerdictNotable SuspectVerdict = "notable" // it retains less, or the heap is small
)

// A Suspect is a holder of much memory, or a pattern that usually leaks.
type Suspect struct {
	Kind SuspectKind `json:"kind" doc:"\"accumulation\", \"object\", \"group\", \"event\", \"timers\", \"calls\", \"cancellation\", \"root scope\", \"weak references\", \"thread static\", \"thread local\" or \"interned strings\""`
	Statement
	Remedy  Statement      `json:"remedy,omitzero" doc:"why it is not collected, and what would free it"`
	Verdict SuspectVerdict `json:"verdict" doc:"\"suspect\" if it retains its share of a heap that is not small, else \"notable\""`
	// Point is the object where memory accumulates. Groups have no point.
	Point *PathObject `json:"point,omitempty" doc:"the object by which all of it is held: the one to look at"`
	// Owner is the object to name in a report: the collection that contains the array Point.
	Owner    *PathObject   `json:"owner,omitempty" doc:"the collection, delegate or other object that the point belongs to, if that is another one"`
	Elements Maybe[uint64] `json:"elements,omitzero" doc:"elements that the collection says it has, or handlers, registrations, timers, weak references"`
	AtLeast  bool          `json:"atLeast,omitempty" doc:"there are more elements than were looked at"`
	Roots    int           `json:"roots,omitempty" doc:"how many threads have a value of the thread static field or of the ThreadLocal, or how many arrays have the interned strings"`
	Dead     uint64        `json:"dead,omitempty" doc:"of weak references: how many of the elements lead to nothing any more, or to garbage; of a ThreadLocal: how many values are of threads that have ended"`
	Retained uint64        `json:"retained" doc:"bytes that would be free without it"`
	Share    float64       `json:"share" doc:"that in percent of all that lives"`
	// Kept is empty if the root of Path alone keeps it alive.
	Kept Statement `json:"kept,omitzero" doc:"what keeps it alive, if that is not the root of its path alone"`
	// Members are the many objects of one type.
	Members *TypeCount `json:"members,omitempty" doc:"the numerous objects, and what they retain together"`
	// Path leads to the point, or to one of the members.
	Path *RootPath    `json:"path,omitempty" doc:"a path to the point, or to one of the members: from a static field, if one holds it, else from a thread static, a handle, a stack"`
	Weak LinkStrength `json:"strength,omitempty" doc:"\"cached\" if the path leads through a cache, or the members are its entries, which it evicts by its own rules; \"attached\" if through a ConditionalWeakTable"`
	// Holders lists objects that refer to most of a group's members.
	Holders []GroupHolder `json:"holders,omitempty" doc:"of a group: what refers to most of its members"`
	// Others lists types of further objects that refer to members. They would have to release them, too.
	Others []GroupReferrers `json:"others,omitempty" doc:"of a group: types of further live objects that refer to members without being part of them, most members first"`
	Types  []TypeCount      `json:"types,omitempty" doc:"what it retains, by type, the largest first"`
	// Literals reports that a handle leads directly to an object array that contains strings.
	Literals bool `json:"literals,omitempty" doc:"strings in an array of objects to which a strong handle leads directly: the runtime keeps literals and interned strings so"`
	// Targets counts the objects that delegates, timers and registrations call.
	Targets []TypeCount `json:"targets,omitempty" doc:"types of the objects that handlers, timers or registrations call, or of disposables"`
	Name    Text        `json:"name,omitzero" doc:"the event, the delegate, the static field, or the method that timers call"`
	// Link is set for a chain of objects: Members counts them.
	Link Text `json:"link,omitzero" doc:"of a chain of objects: the field by which each of the members refers to the next"`
	// Delegate reports that Name is a field or an element of a delegate type, and not known to be an event.
	Delegate bool `json:"delegate,omitempty" doc:"name is a field or an element of a delegate type, and not known to be an event"`
	// Ends is the evidence that only calls under way keep it alive, which end by themselves.
	Ends Statement `json:"ends,omitzero" doc:"evidence that only calls under way keep it alive, and that these end by themselves"`
	// Turnover is the evidence that the elements of a collection are replaced again and again.
	Turnover Statement `json:"turnover,omitzero" doc:"evidence that the elements of the collection are replaced again and again, as in a cache with a limit"`
	// Chain is the evidence of a poor hash code.
	Chain     Statement `json:"chain,omitzero" doc:"how many keys of the collection have one hash code, if they are many: a search compares them one by one"`
	Colliding uint64    `json:"colliding,omitempty" doc:"their number"`
	Awaits    Text      `json:"awaits,omitzero" doc:"the async method that awaits the delays, if the timers are of Task.Delay"`
	// Locals lists the values of AsyncLocals in the execution contexts captured by timers or members.
	Locals []AsyncLocalValues `json:"locals,omitempty" doc:"values of AsyncLocals in the execution contexts that timers or the members captured, those that retain most first"`
}

// AsyncLocalValues counts the values of one AsyncLocal in several execution contexts.
type AsyncLocalValues struct {
	Name     string `json:"name" doc:"the static field that refers to the AsyncLocal, or its type and address"`
	Count    uint64 `json:"count" doc:"how many of the objects have a context with a value of it"`
	Retained uint64 `json:"retained" doc:"bytes that the values retain together"`
}

// A GroupHolder is an object that refers to members of a group.
type GroupHolder struct {
	Object  *PathObject `json:"object,omitempty" doc:"what refers to them"`
	Root    Text        `json:"root,omitzero" doc:"what refers to them from outside of the heap, if that is no object"`
	Kind    string      `json:"kind,omitempty" doc:"the kind of that root: \"handles\", \"finalizer queue\", \"frame\", \"static field\" …"`
	Handle  string      `json:"handle,omitempty" doc:"of handles their type, as gchandles has it"`
	Remedy  Statement   `json:"remedy,omitzero" doc:"how long it keeps each of them"`
	Share   float64     `json:"share" doc:"percent of the members that were looked at"`
	Sampled int         `json:"sampled" doc:"how many these were"`
	Path    *RootPath   `json:"path,omitempty" doc:"a path to it"`
}

// GroupReferrers are objects of one type that together refer to most members of a group. Each of them refers to few.
type GroupReferrers struct {
	MethodTable target.Addr `json:"methodTable" doc:"their type"`
	Type        Text        `json:"type" doc:"its name"`
	Count       uint64      `json:"count" doc:"how many of them refer to members that were looked at"`
	Share       float64     `json:"share" doc:"percent of the members that were looked at"`
	Path        *RootPath   `json:"path,omitempty" doc:"a path to one of them"`
}

// Finalization describes the objects that await finalization.
type Finalization struct {
	Ready      uint64      `json:"ready" doc:"objects that nothing but their finalizer holds, which has not run yet"`
	ReadyTypes []TypeCount `json:"readyTypes,omitempty" doc:"these by type, with what they retain"`
	// Running lists the finalizer methods on the finalizer thread's stack.
	Running []Text `json:"running,omitempty" doc:"methods of finalizers on the stack of the thread that runs them, the innermost first"`
	// Dead counts the garbage with a finalizer.
	Dead      uint64      `json:"dead" doc:"garbage that has a finalizer: it stays until that has run, so that it was not disposed of"`
	DeadTypes []TypeCount `json:"deadTypes,omitempty" doc:"these by type, with what they retain"`
	Known     Maybe[bool] `json:"known,omitzero" doc:"the finalizer queues could be read"`
}

// HeapDiff compares the heaps of several dumps, from the oldest to the newest. Lists have a number per dump, in this
// order; changes are from the first dump to the last.
type HeapDiff struct {
	Gaps
	Dumps       []DiffedDump `json:"dumps" doc:"the dumps, in the order of time"`
	Objects     Change       `json:"objects" doc:"all objects"`
	Generations []Growth     `json:"generations" doc:"objects by generation: \"0\", \"1\", \"2\", \"large\", \"pinned\", \"frozen\""`
	Types       []Growth     `json:"types" doc:"types that changed, those that grew most first; a type is its assembly's name and its own"`
	MoreTypes   int          `json:"moreTypes,omitempty" doc:"types that changed and are not listed"`
	Paths       []PathGrowth `json:"paths,omitempty" doc:"where growth hangs: the shortest paths from roots to all objects, merged by type; a node comes before those below it"`
	// Suspects is set with Paths.
	Suspects []GrowthSuspect `json:"suspects,omitempty" doc:"where most of the growth hangs, the largest first"`
	// Same is set with Paths.
	Same      *SameObjects `json:"same,omitempty" doc:"what of the first dump's objects the last one has at the same address"`
	MorePaths int          `json:"morePaths,omitempty" doc:"nodes that grew as much as the least one that is listed may have, and are not"`
}

// A DiffedDump is a dump that is compared.
type DiffedDump struct {
	File      string `json:"file" doc:"the dump"`
	Objects   uint64 `json:"objects" doc:"number of objects"`
	Size      uint64 `json:"size" doc:"their size in bytes"`
	Free      uint64 `json:"free" doc:"bytes of free blocks between them"`
	Committed uint64 `json:"committed" doc:"bytes of committed memory of the heap"`
	Unread    int    `json:"unread,omitempty" doc:"places of the heap that can't be read: the numbers are too low"`
	Program   string `json:"program,omitempty" doc:"simple name of the assembly whose Main the process ran"`
	Unrelated string `json:"unrelated,omitempty" doc:"why the dump seems to be of another program than the first dump: its numbers don't show growth"`
}

// A Change is the number and size of some objects in each dump.
type Change struct {
	Counts      []uint64 `json:"counts" doc:"objects in each dump"`
	Sizes       []uint64 `json:"sizes" doc:"their size in bytes in each dump"`
	CountChange int64    `json:"countChange" doc:"objects in the last dump, less those in the first"`
	SizeChange  int64    `json:"sizeChange" doc:"bytes in the last dump, less those in the first"`
	Growing     bool     `json:"growing,omitempty" doc:"the size grew from each dump to the next; only of three dumps and more"`
}

// A Growth is the change of a type or a generation.
type Growth struct {
	Name     Text   `json:"name" doc:"name of the type or generation"`
	Assembly string `json:"assembly,omitempty" doc:"simple name of the type's assembly"`
	Change
}

// A GrowthSuspect is a root with much of the growth below it. Its path descends while one node holds most of the
// growth.
type GrowthSuspect struct {
	Path  []string `json:"path" doc:"kind of root, root, and types on the way to it"`
	Share float64  `json:"share" doc:"its part of the growth of what lives, in percent"`
	// Change is the total below the path's last node that is not an object: what that root holds.
	Change
}

// SameObjects counts the objects of one dump that another has at the same address, with the same type.
type SameObjects struct {
	Gaps
	Of   HeapPart `json:"of" doc:"all objects of the first dump"`
	Same HeapPart `json:"same" doc:"those that the last dump has at the same address"`
}

// A PathGrowth is a node of the merged paths from roots to objects.
type PathGrowth struct {
	Depth int    `json:"depth" doc:"nodes above it"`
	Name  string `json:"name" doc:"a kind of root, a root, or a type; of nodes below one another with the same type there is only one"`
	// Change includes everything below the node.
	Change
}
