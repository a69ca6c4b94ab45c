package answer

// Exported says what was written for other tools.
type Exported struct {
	Gaps
	Form string `json:"form" doc:"the form: gcdump, heapsnapshot, pprof, speedscope, folded, parquet, csv or ndjson"`
	Path string `json:"path" doc:"the file or folder that was written"`
	Of   string `json:"of" doc:"what was written: heap, stacks or tables"`
	// Skipped: it was there already, whole, from a run before.
	Skipped bool           `json:"skipped,omitempty" doc:"the folder of this dump was there already and was left as it is"`
	Files   []ExportedFile `json:"files,omitempty" doc:"the files of a folder"`
	// Of the heap.
	Objects uint64 `json:"objects,omitempty" doc:"number of objects"`
	Size    uint64 `json:"size,omitempty" doc:"bytes of these objects"`
	Edges   uint64 `json:"references,omitempty" doc:"number of references between them, and from what keeps them alive"`
	Types   int    `json:"types,omitempty" doc:"number of types"`
	// Of stacks, and of the heap as paths.
	Stacks int `json:"stacks,omitempty" doc:"number of different stacks or paths"`
}

// An ExportedFile is a file of a folder that was written.
type ExportedFile struct {
	Name string `json:"name" doc:"name of the file in the folder"`
	Rows uint64 `json:"rows" doc:"number of rows"`
}
