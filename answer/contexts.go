package answer

import "github.com/sosgo/sosgo/target"

// LoadContexts lists the AssemblyLoadContexts of a process.
type LoadContexts struct {
	Gaps
	Contexts []AssemblyContext `json:"contexts" doc:"the default context, then the others by their numbers"`
}

// The states of an AssemblyContext.
const (
	ContextAlive     = "alive"
	ContextUnloading = "unloading"
)

// An AssemblyContext is an AssemblyLoadContext with its assemblies.
type AssemblyContext struct {
	Address     target.Addr       `json:"address,omitempty" doc:"the AssemblyLoadContext; none for the default one where no code asked for it"`
	Name        Text              `json:"name,omitzero" doc:"its name"`
	Type        Text              `json:"type,omitzero" doc:"its type"`
	ID          Maybe[int64]      `json:"id,omitzero" doc:"its number, in the order in which contexts were made"`
	Default     bool              `json:"default,omitempty" doc:"the context of the program itself"`
	Collectible Maybe[bool]       `json:"collectible,omitzero" doc:"it can be unloaded"`
	State       Text              `json:"state,omitzero" doc:"\"alive\", or \"unloading\" if it was asked to unload and has assemblies still"`
	Assemblies  []ContextAssembly `json:"assemblies" doc:"its assemblies in the order of loading"`
	Allocator   target.Addr       `json:"loaderAllocator,omitempty" doc:"the runtime's LoaderAllocator of a collectible context"`
	Keeper      target.Addr       `json:"loaderAllocatorObject,omitempty" doc:"the managed LoaderAllocator, which keeps the assemblies loaded while it is alive"`
	Verdict     Reachability      `json:"verdict,omitempty" doc:"of one that is unloading: \"held\", \"garbage\" if nothing keeps it, so that a collection can unload it, or \"unknown\""`
	Conclusion  *Verdict          `json:"conclusion,omitempty" doc:"of one that is unloading without blockers: what that means"`
	Blockers    []UnloadBlocker   `json:"blockers,omitempty" doc:"what keeps one that is unloading"`
	More        bool              `json:"moreBlockers,omitempty" doc:"there may be more than are listed"`
}

// A ContextAssembly is an assembly of a context.
type ContextAssembly struct {
	Name        Text        `json:"name" doc:"file or name of the assembly"`
	Module      target.Addr `json:"module" doc:"the runtime's Module"`
	Collectible Maybe[bool] `json:"collectible,omitzero" doc:"it can be unloaded: with its context, or by itself if it was emitted so (AssemblyBuilderAccess.RunAndCollect)"`
}

// A BlockerKind is what an UnloadBlocker keeps a context alive by.
type BlockerKind string

// The kinds of an UnloadBlocker.
const (
	BlockedByStatic BlockerKind = "static"
	BlockedByHandle BlockerKind = "handle"
	BlockedByStack  BlockerKind = "stack"
	BlockedByCode   BlockerKind = "code"
	BlockedByOther  BlockerKind = "other"
)

// An UnloadBlocker is a reason why a context cannot be unloaded.
type UnloadBlocker struct {
	Kind BlockerKind `json:"kind" doc:"\"static\", \"handle\", \"stack\", \"code\" for a thread that runs code of the context, or \"other\""`
	Statement
	Strength Strength  `json:"strength" doc:"how sure it is: \"proved\", or \"possible\" for a word that only looks like a reference"`
	Times    int       `json:"times" doc:"in how many places the same frame keeps the same object; else 1"`
	Thread   *Thread   `json:"thread,omitempty" doc:"the thread that runs its code"`
	Frame    Text      `json:"frame,omitzero" doc:"the topmost method of the context on its stack"`
	Path     *RootPath `json:"path,omitempty" doc:"from the root to the managed LoaderAllocator"`
}
