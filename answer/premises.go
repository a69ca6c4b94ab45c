package answer

// A Premise is a condition of conclusions: if it does not hold, a conclusion may be wrong.
type Premise string

// The premises.
const (
	HeapWhole     Premise = "heap whole"                  // all objects of the GC heap can be read
	NoCollection  Premise = "no collection under way"     // the heap is as a program sees it
	HeapAtRest    Premise = "heap at rest"                // no collector moves objects: what looks damaged is damaged
	RootsRead     Premise = "all roots read"              // what keeps objects alive is known
	ThreadsListed Premise = "all threads listed"          // including threads that a runtime is creating or ending
	StackComplete Premise = "stacks complete"             // the stacks used as evidence are readable to their ends
	AllStacks     Premise = "all stacks complete"         // no thread is missing among those that a conclusion counts or did not find
	CodeFound     Premise = "code found"                  // the code and metadata of methods are readable
	NoGap         Premise = "not behind a gap"            // the evidence does not follow memory that is missing
	ListComplete  Premise = "list complete"               // a list or queue of the program was read to its end
	FilesThere    Premise = "module files there"          // files were found for the modules that are not in the dump
	TablesWhole   Premise = "tables of the runtime whole" // the table of sync blocks is readable
	HandlesRead   Premise = "GC handles read"             // the tables of GC handles are readable
)

// AllPremises lists the premises. A conclusion that does not declare its premises rests on all of them.
func AllPremises() []Premise {
	return []Premise{HeapWhole, NoCollection, HeapAtRest, RootsRead, ThreadsListed, StackComplete, AllStacks, CodeFound, NoGap, ListComplete, FilesThere, TablesWhole, HandlesRead}
}

// Broken returns what is the case if the premise does not hold.
func (p Premise) Broken() string {
	if text, ok := broken[p]; ok {
		return text
	}
	return "not given: " + string(p)
}

var broken = map[Premise]string{
	HeapWhole:     "parts of the heap are missing",
	NoCollection:  "a collection was in progress",
	HeapAtRest:    "a collection was in progress, which moves objects",
	RootsRead:     "not all roots can be read",
	ThreadsListed: "not all threads are listed",
	StackComplete: "a stack can't be read to its end",
	AllStacks:     "the stack of some thread can't be read to its end",
	CodeFound:     "code can't be read",
	NoGap:         "it lies behind a gap",
	ListComplete:  "a list can't be read to its end",
	FilesThere:    "module files are missing",
	TablesWhole:   "tables of the runtime can't be read",
	HandlesRead:   "GC handles can't be read",
}

// A PremiseState says whether a premise holds for a process.
type PremiseState int

// The states of premises.
const (
	PremiseHolds    PremiseState = iota
	PremiseDoubtful              // it may not hold: conclusions are weaker
	PremiseBroken                // it does not hold: no conclusion is possible
)

// Premises maps premises to their states in a process. A premise without an entry holds.
type Premises map[Premise]PremiseState

// State returns the state of a premise.
func (s Premises) State(p Premise) PremiseState { return s[p] }
