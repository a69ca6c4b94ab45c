package answer

import "time"

// Exported describes files written for other tools.
type Exported struct {
	Gaps
	Form string `json:"form" doc:"the form: gcdump, heapsnapshot, pprof, speedscope, folded, parquet, csv or ndjson"`
	Path string `json:"path" doc:"the file or folder that was written"`
	ID   string `json:"id,omitempty" doc:"with -summary: the dump's own id"`
	Of   string `json:"of" doc:"what was written: heap, stacks or tables"`
	// Skipped reports that a complete folder of an earlier run was kept.
	Skipped bool           `json:"skipped,omitempty" doc:"the folder of this dump was there already and was left as it is"`
	Files   []ExportedFile `json:"files,omitempty" doc:"the files of a folder"`
	// Of the heap.
	Objects uint64 `json:"objects,omitempty" doc:"number of objects"`
	Size    uint64 `json:"size,omitempty" doc:"bytes of these objects"`
	Edges   uint64 `json:"references,omitempty" doc:"number of references between them, and from what keeps them alive"`
	Types   int    `json:"types,omitempty" doc:"number of types"`
	// Of a gcdump.
	Garbage     uint64 `json:"garbage,omitempty" doc:"of a gcdump: number of objects that nothing keeps alive"`
	WithGarbage bool   `json:"withGarbage,omitempty" doc:"of a gcdump: whether the file has these objects"`
	// Of stacks, and of the heap as paths.
	Stacks int `json:"stacks,omitempty" doc:"number of different stacks or paths"`
}

// An ExportedFile is a file of a folder that was written.
type ExportedFile struct {
	Name string `json:"name" doc:"name of the file in the folder"`
	Rows uint64 `json:"rows" doc:"number of rows"`
}

// A Summary is a dump in one line, for pipelines that handle many dumps. Signatures are comparable across dumps: they
// are made from names, not addresses.
type Summary struct {
	Gaps
	Dump      string     `json:"dump" doc:"name of the file"`
	ID        string     `json:"id" doc:"the dump's own: made of its content"`
	Process   string     `json:"process,omitempty" doc:"the process's executable or command line"`
	PID       uint32     `json:"pid,omitempty" doc:"its id"`
	Time      *time.Time `json:"time,omitempty" doc:"when the dump was written, if it says so"`
	System    string     `json:"system,omitempty" doc:"operating system and processor"`
	Runtime   string     `json:"runtime,omitempty" doc:"version of the runtime"`
	Crashed   bool       `json:"crashed,omitempty" doc:"true: the dump says that the process had crashed; absent: nothing in it does, which is no proof that it had not"`
	Reason    string     `json:"reason,omitempty" doc:"what ended the process, in words, or that the dump has no record of an end"`
	Likely    string     `json:"likely,omitempty" doc:"the likely cause, in words"`
	Exception string     `json:"exception,omitempty" doc:"type of the exception that ended it"`
	Message   string     `json:"message,omitempty" doc:"its message"`
	Top       string     `json:"topFrame,omitempty" doc:"the innermost managed frame of the thread that died which is no part of the class library, or else the innermost"`
	Undecided bool       `json:"undecided,omitempty" doc:"true: what would record a crash can't be read"`
	Identity             // of the crash: its parts are the exception or signal, then frames, the innermost first

	Objects  *uint64          `json:"objects,omitempty" doc:"number of objects that live; absent if the dump has no heap"`
	Size     *uint64          `json:"size,omitempty" doc:"their bytes"`
	Garbage  *uint64          `json:"garbage,omitempty" doc:"bytes of the objects that nothing keeps alive"`
	Threads  *int             `json:"threads,omitempty" doc:"number of threads that the OS runs"`
	Suspects []SuspectSummary `json:"suspects,omitempty" doc:"the largest holders, the one that retains most first"`
	Findings []FindingSummary `json:"findings,omitempty" doc:"the first findings of triage, the most severe first; absent: nothing wrong was found in what could be looked at"`
	Missing  int              `json:"missing,omitempty" doc:"how many parts of this are missing or doubtful"`
}

// A FindingSummary is a Finding in short.
type FindingSummary struct {
	Kind     FindingKind `json:"kind" doc:"what is wrong, as triage has it"`
	Severity Severity    `json:"severity" doc:"fatal, high or warning"`
	Text     string      `json:"text" doc:"what is wrong, and who is concerned"`
	Strength Strength    `json:"strength" doc:"how sure that is"`
	Identity

	// Sites are the places that the signature is made from (Verdict.Sites).
	Sites []Site `json:"-"`
}

// A SuspectSummary is a Suspect in short.
type SuspectSummary struct {
	Kind     SuspectKind    `json:"kind" doc:"as leaks has it"`
	Verdict  SuspectVerdict `json:"verdict" doc:"\"suspect\" or \"notable\""`
	Type     string         `json:"type,omitempty" doc:"type of what holds the memory"`
	Members  string         `json:"members,omitempty" doc:"type of the numerous objects"`
	Root     string         `json:"root,omitempty" doc:"what keeps it alive"`
	Retained uint64         `json:"retained" doc:"bytes that would be free without it"`
	Share    float64        `json:"share" doc:"that in percent of all that lives"`
	Identity
}

// A SignatureStrength is how reliably a signature identifies its subject in other dumps.
type SignatureStrength string

// The strengths of signatures.
const (
	SignatureStrong SignatureStrength = "strong" // all that it is made of was read, and does not depend on versions; overloads and lambdas of one method share it
	SignatureWeak   SignatureStrength = "weak"   // something that it is made of could not be read or depends on versions: the same thing may have another one
)

// An Identity identifies a crash, a holder of memory or another finding across dumps.
type Identity struct {
	Signature         string            `json:"signature,omitempty" doc:"equal for the same crash or finding in other dumps of the program; absent for what has none"`
	SignatureStrength SignatureStrength `json:"signatureStrength,omitempty" doc:"strong, or weak if the same crash or finding may have another signature elsewhere: something that it is made of could not be read, or changes with versions"`
	SignatureVersion  int               `json:"signatureVersion,omitempty" doc:"version of the algorithm of the signature; those of different versions are not comparable"`
	SignatureParts    []string          `json:"signatureParts,omitempty" doc:"what the signature is made of: for a crash the exception or signal, then frames, the innermost first"`
	SignatureRules    string            `json:"signatureRules,omitempty" doc:"hash of the rules that the signature is made by; absent for the default; those of different rules are not comparable"`
}

// WebPage is the page that was served for a dump.
type WebPage struct {
	URL string `json:"url" doc:"the address that let a browser in, until the command ended"`
}

// HTMLReport is a report that was written.
type HTMLReport struct {
	File string `json:"file" doc:"the file that was written"`
	Size int64  `json:"size" doc:"bytes"`
}

// FleetDone is the result of the command fleet.
type FleetDone struct {
	Fleet     string          `json:"fleet" doc:"the folder"`
	Added     *FleetAdded     `json:"added,omitempty" doc:"of add: what became of the dumps"`
	Compacted *FleetCompacted `json:"compacted,omitempty" doc:"of compact: what was put together"`
}

// FleetAdded is the result of adding dumps to a fleet.
type FleetAdded struct {
	Added    int            `json:"added" doc:"dumps that were added"`
	Present  int            `json:"present" doc:"dumps that the fleet had"`
	Before   int            `json:"failedBefore" doc:"dumps that failed in a run before, and are as they were; -again tries them"`
	Others   int            `json:"others" doc:"files that are no dumps"`
	Failures []FleetFailure `json:"failures" doc:"dumps that could not be added, by file"`
	Retry    int            `json:"retry" doc:"failures that this machine, a server or a limit of the command caused; the next run tries these dumps again"`
	Seconds  float64        `json:"seconds" doc:"how long it took"`
}

// A FleetFailure is a dump that could not be added to a fleet.
type FleetFailure struct {
	File   string `json:"file" doc:"file or address"`
	Exit   int    `json:"exit" doc:"exit code of the attempt; -1 if it was killed"`
	Reason string `json:"reason" doc:"why"`
	Tries  int    `json:"tries" doc:"number of attempts"`
	Retry  bool   `json:"retry,omitempty" doc:"this machine or a server failed (disk, rights, memory, time, network), or a limit of the command was reached; the next run tries the dump again"`
}

// FleetCompacted counts the results of compacting a fleet.
type FleetCompacted struct {
	Dates  int `json:"dates" doc:"days that were compacted"`
	Parts  int `json:"parts" doc:"parts that were put together"`
	Before int `json:"before" doc:"files of tables before"`
	After  int `json:"after" doc:"files of tables after"`
}

// A RulesTrial compares the signatures of a fleet's crashes and findings under two sets of rules.
type RulesTrial struct {
	Text     string        `json:"text,omitempty" doc:"the default rules, if these were asked for and nothing was compared"`
	Dumps    int           `json:"dumps" doc:"crashes of the fleet"`
	Findings int           `json:"findings" doc:"findings of the fleet that are no crash and have a signature by rules"`
	Changed  int           `json:"changed" doc:"crashes and findings with another signature than before"`
	Before   int           `json:"before" doc:"number of signatures before"`
	After    int           `json:"after" doc:"number of signatures after"`
	Merged   []RulesChange `json:"merged" doc:"signatures that stand for several of before"`
	Split    []RulesChange `json:"split" doc:"signatures of before that become several"`
}

// A RulesChange is a signature under one set of rules that is several under the other.
type RulesChange struct {
	One     SignedCrashes   `json:"one" doc:"the signature that stands for several"`
	Several []SignedCrashes `json:"several" doc:"these, with the crashes or findings that they share with it, the most first"`
}

// SignedCrashes is the crashes or findings with one signature.
type SignedCrashes struct {
	Identity
	Dumps int `json:"dumps" doc:"how many"`
}
