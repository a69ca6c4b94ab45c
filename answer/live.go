package answer

import "time"

// Processes lists the .NET processes that run on this machine.
type Processes struct {
	Gaps
	Processes []LiveProcess `json:"processes" doc:"by process id" text:"%|.NET process|.NET processes"`
	Hidden    int           `json:"hidden" doc:"processes of other users that could not be examined; some of them may be .NET processes"`
}

// A LiveProcess is a .NET process that runs.
type LiveProcess struct {
	PID         int            `json:"pid" doc:"process id"`
	Inner       int            `json:"inner,omitempty" doc:"process id in its own namespace, if that is another"`
	Name        string         `json:"name,omitempty" doc:"the assembly with Main, or the program"`
	User        string         `json:"user,omitempty" doc:"its user, by name if this machine knows it"`
	Runtime     string         `json:"runtime,omitempty" doc:"version of the runtime, as the runtime reports it"`
	Platform    string         `json:"platform,omitempty" doc:"what the runtime was built for, such as linux-musl-x64"`
	Command     string         `json:"command,omitempty" doc:"command line, with secrets masked"`
	Started     *time.Time     `json:"started,omitempty" doc:"when the process began"`
	Age         Maybe[Seconds] `json:"age,omitzero" doc:"seconds since then"`
	Resident    *uint64        `json:"resident,omitempty" doc:"bytes of its memory that are in RAM"`
	Container   string         `json:"container,omitempty" doc:"id of its container"`
	Port        string         `json:"port,omitempty" doc:"its diagnostics port: a socket, or on Windows a pipe"`
	Answers     bool           `json:"answers" doc:"it answered at its diagnostics port, so collect can ask it for a dump"`
	Unreachable string         `json:"unreachable,omitempty" doc:"why it does not"`
	Next        string         `json:"next,omitempty" doc:"what to do about that"`
}

// A DumpKind is a kind of dump that a runtime writes of itself: what it holds.
type DumpKind string

// The kinds of dumps.
const (
	DumpHeap   DumpKind = "heap"   // what the runtime and its heap need
	DumpFull   DumpKind = "full"   // all memory
	DumpMini   DumpKind = "mini"   // stacks and what they need
	DumpTriage DumpKind = "triage" // as mini, without paths and texts of the user
)

// Collected describes a dump that a process wrote of itself.
type Collected struct {
	Gaps
	Process  LiveProcess    `json:"process" doc:"the process"`
	Kind     DumpKind       `json:"kind" doc:"heap, full, mini or triage"`
	File     string         `json:"file" doc:"the dump, as a path of this machine"`
	Inside   string         `json:"inside,omitempty" doc:"the dump as a path of the process, if it was left in its file system"`
	Size     int64          `json:"size" doc:"bytes"`
	Estimate uint64         `json:"estimate,omitempty" doc:"bytes that were expected at most, from the memory of the process; absent if it was not known"`
	Took     Seconds        `json:"took" doc:"seconds until the runtime had written it; the process stands still for most of them"`
	Copied   bool           `json:"copied,omitempty" doc:"the process could not write to the folder of the file, so the dump was copied from its own folder"`
	Removed  []string       `json:"removed,omitempty" doc:"incomplete dumps of collect commands that were killed at least an hour ago, which were in the process's folder"`
	Checked  CollectedCheck `json:"checked" doc:"what opening the dump showed"`
	Pack     *Pack          `json:"pack,omitempty" doc:"the archive of the dump and its module files, which takes the place of the file"`
	Deleted  bool           `json:"deleted,omitempty" doc:"the dump was deleted at the end"`
	Triage   *Triage        `json:"triage,omitempty" doc:"what is wrong with the process"`
}

// A CollectedCheck is what opening a new dump showed.
type CollectedCheck struct {
	Runtime string `json:"runtime,omitempty" doc:"version of the runtime in the dump"`
	Threads int    `json:"threads" doc:"threads in the dump"`
}
