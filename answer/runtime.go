package answer

import "github.com/sosgo/sosgo/target"

// A Runtime is a .NET runtime of the process.
type Runtime struct {
	Index      int         `json:"index" doc:"number of the runtime"`
	Chosen     bool        `json:"chosen" doc:"the runtime that commands look at"`
	Flavor     string      `json:"flavor" doc:"\".NET Core\" or \"NativeAOT\""`
	Version    string      `json:"version,omitempty" doc:"file version, or another source of the version"`
	Text       string      `json:"versionText,omitempty" doc:"the version that the runtime gives itself"`
	Address    target.Addr `json:"address" doc:"base of its image"`
	Size       uint64      `json:"size" doc:"bytes of its image"`
	Identity   string      `json:"identity" doc:"build id, or time stamp and size of the image"`
	Path       string      `json:"path" doc:"of its file"`
	SingleFile bool        `json:"singleFile" doc:"the runtime is part of the application's executable"`
	Exports    []Export    `json:"exports" doc:"symbols for debuggers"`
}

// An Export is a symbol of an image that debuggers look for.
type Export struct {
	Name    string      `json:"name" doc:"of the symbol"`
	Address target.Addr `json:"address,omitempty" doc:"of the symbol; absent if the runtime does not export it"`
	Err     Reason      `json:"error,omitzero" doc:"why it is unknown whether the runtime exports it"`
}

// An EEVersion describes the version of a runtime and the kind of its GC.
type EEVersion struct {
	Gaps
	Version string  `json:"version" doc:"file version, or another source of the version"`
	Text    string  `json:"versionText,omitempty" doc:"the version that the runtime gives itself, with its commit"`
	Core3   bool    `json:"-"` // a runtime of .NET Core 3, whose file versions begin with 4
	Server  *bool   `json:"server,omitempty" doc:"server GC; absent where the heap can't be read"`
	NoGC    Reason  `json:"gcError,omitzero" doc:"why the heap can't be read"`
	Heaps   int     `json:"heaps,omitempty" doc:"number of GC heaps"`
	DATAS   *uint64 `json:"datas,omitempty" doc:"mode of dynamic adaptation to application sizes of a server GC"`
	InGC    bool    `json:"inCollection" doc:"the dump was taken in the middle of a collection"`
}
