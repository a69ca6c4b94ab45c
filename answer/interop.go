package answer

import "github.com/sosgo/sosgo/target"

// ComWrappers lists the wrappers of System.Runtime.InteropServices.ComWrappers.
type ComWrappers struct {
	Gaps
	Managed []ManagedWrapper `json:"managed" doc:"managed objects that native code can refer to (CCW), by the addresses of their holders" text:"Managed objects that native code can refer to (CCW)|wrappers of ComWrappers;heading"`
	Native  []NativeWrapper  `json:"native" doc:"native objects that managed code refers to (RCW), by the addresses of their wrappers" text:"Native objects that managed code refers to (RCW)|wrappers of ComWrappers;heading"`
}

// A ManagedWrapper exposes a managed object to native code.
type ManagedWrapper struct {
	Holder     target.Addr        `json:"holder" doc:"the ManagedObjectWrapperHolder" text:"-"`
	Object     target.Addr        `json:"object,omitempty" doc:"the managed object" text:"="`
	Type       Text               `json:"type,omitzero" doc:"its type"`
	Wrapper    Maybe[target.Addr] `json:"wrapper,omitzero" doc:"the ManagedObjectWrapper, in native memory"`
	References Maybe[int64]       `json:"references,omitzero" doc:"references of native code; while there are any, the object stays alive"`
	Trackers   Maybe[int64]       `json:"trackerReferences,omitzero" doc:"references of a reference tracker such as that of WinUI" text:"references of trackers;nonzero"`
	Interfaces Maybe[int64]       `json:"interfaces,omitzero" doc:"interfaces that the program gave it, without those of the runtime"`
	Dispatches Maybe[target.Addr] `json:"dispatches,omitzero" doc:"where the interface pointers are that native code has" text:"pointers at"`
}

// A NativeWrapper exposes a native object to managed code.
type NativeWrapper struct {
	Address    target.Addr        `json:"address" doc:"the NativeObjectWrapper" text:"-"`
	Object     target.Addr        `json:"object,omitempty" doc:"the managed object that stands for it; none once that is collected" text:"="`
	Type       Text               `json:"type,omitzero" doc:"its type"`
	Factory    Text               `json:"comWrappers,omitzero" doc:"the class derived from ComWrappers that made it" text:"made by"`
	External   Maybe[target.Addr] `json:"external,omitzero" doc:"pointer to the native object; 0 once it is released" text:"native object"`
	Inner      Maybe[target.Addr] `json:"inner,omitzero" doc:"pointer to the inner object of an aggregate, or 0" text:"inner object"`
	Unique     Maybe[bool]        `json:"unique,omitzero" doc:"others that refer to the same native object have objects of their own"`
	Aggregated Maybe[bool]        `json:"aggregated,omitzero" doc:"it is the outer object of an aggregate"`
}
