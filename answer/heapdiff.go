package answer

// HeapDiff compares the heaps of several dumps, from the oldest to the newest. Numbers of each dump stand in lists in that
// order; changes are from the first to the last.
type HeapDiff struct {
	Gaps
	Dumps       []DiffedDump `json:"dumps" doc:"the dumps, in the order of time"`
	Objects     Change       `json:"objects" doc:"all objects"`
	Generations []Growth     `json:"generations" doc:"objects by generation: \"0\", \"1\", \"2\", \"large\", \"pinned\", \"frozen\""`
	Types       []Growth     `json:"types" doc:"types that changed, those that grew most first; a type is its assembly's name and its own"`
	MoreTypes   int          `json:"moreTypes,omitempty" doc:"types that changed and are not listed"`
	Paths       []PathGrowth `json:"paths,omitempty" doc:"where growth hangs: the shortest paths from roots to all objects, merged by type; a node comes before those below it"`
	// Suspects are known with Paths.
	Suspects []GrowthSuspect `json:"suspects,omitempty" doc:"where most of the growth hangs, the largest first"`
	// Same is known with Paths.
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
}

// A Change is a number of objects and their size in several dumps.
type Change struct {
	Counts      []uint64 `json:"counts" doc:"objects in each dump"`
	Sizes       []uint64 `json:"sizes" doc:"their size in bytes in each dump"`
	CountChange int64    `json:"countChange" doc:"objects in the last dump, less those in the first"`
	SizeChange  int64    `json:"sizeChange" doc:"bytes in the last dump, less those in the first"`
	Growing     bool     `json:"growing,omitempty" doc:"the size grew from each dump to the next; only of three dumps and more"`
}

// A Growth is what a type, or a generation, has in several dumps.
type Growth struct {
	Name     Text   `json:"name" doc:"name of the type or generation"`
	Assembly string `json:"assembly,omitempty" doc:"simple name of the type's assembly"`
	Change
}

// A GrowthSuspect is a root on which much of the growth hangs, and the way to where it is: as far as one node has most of it.
type GrowthSuspect struct {
	Path  []string `json:"path" doc:"kind of root, root, and types on the way to it"`
	Share float64  `json:"share" doc:"its part of the growth of what lives, in percent"`
	// Change is of the last on the path that is no object, with all that is below: what that root holds.
	Change
}

// SameObjects are the objects of one dump that are at the same address, with the same type, in another.
type SameObjects struct {
	Gaps
	Of   HeapPart `json:"of" doc:"all objects of the first dump"`
	Same HeapPart `json:"same" doc:"those that the last dump has at the same address"`
}

// A PathGrowth is a node of the merged paths from roots to objects.
type PathGrowth struct {
	Depth int    `json:"depth" doc:"nodes above it"`
	Name  string `json:"name" doc:"a kind of root, a root, or a type; of nodes below one another with the same type there is only one"`
	// Change has all that is below.
	Change
}
