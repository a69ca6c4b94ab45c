package dac

import (
	"iter"

	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A kind reads what a CLR and a NativeAOT program keep in different forms. Instance.Open chooses it; nothing else asks
// which one a Runtime has. Layouts cover members that differ in their offsets alone, and Features what a kind lacks.
type kind interface {
	// readMethodTable reads the MethodTable at a, and checkMethodTable proves that it is one.
	readMethodTable(a target.Addr) (*MethodTable, error)
	checkMethodTable(mt *MethodTable) error
	// The others implement the methods of Runtime with their names.
	methodTableAt(a target.Addr) (*MethodTable, Proof, error)
	interfaces(mt *MethodTable) ([]target.Addr, error)
	elementType(mt *MethodTable) (metadata.ElementType, error)
	definitionName(mt *MethodTable) (string, error)
	typeAssembly(th target.Addr) (string, error)
	loadedTypes() iter.Seq2[*MethodTable, error]
	typesNamed(name, assembly string) iter.Seq2[target.Addr, error]
	threadStatics(t *Thread) (slots []target.Addr, exact bool, err error)
	codeName(at target.Addr) (string, error)
	methodOfFunclet(start, data target.Addr) (target.Addr, error)
	// writeName writes the name of the type th, which is nested in depth others.
	writeName(f *nameFormatter, th target.Addr, depth int) error
	readThreads() (threadList, error)
	// readTrace reads the stack trace of an exception that has one.
	readTrace(e *Exception) ([]TraceFrame, error)
}

// clr implements kind for CoreCLR.
type clr struct{ *Runtime }

// A Feature is something that not every kind of runtime has or records.
type Feature uint8

// The features.
const (
	FeatureFields         Feature = iota // which fields a type has, and where
	FeatureMethods                       // MethodDescs
	FeatureModules                       // assemblies with metadata
	FeatureDomains                       // AppDomains
	FeatureStatics                       // where static fields are
	FeatureTypeLists                     // all loaded types, arrays and generic instances included
	FeatureObjectHeaders                 // what the header of an object contains
	FeatureSyncBlocks                    // the table of sync blocks
	FeatureThreadCounters                // ThreadCounts
	FeatureThreadFacts                   // all fields of a Thread
	FeatureCodeReferences                // which references code holds at an instruction
	FeatureVariables                     // where methods keep arguments and locals
	features
)

// contractOf are the contracts that a CLR's features rest on: a CLR whose contract has an unknown version lacks the feature.
var contractOf = map[Feature]string{FeatureModules: "Loader", FeatureDomains: "Loader", FeatureTypeLists: "Loader", FeatureSyncBlocks: "SyncBlock",
	FeatureThreadCounters: "Thread", FeatureThreadFacts: "Thread", FeatureCodeReferences: "GCInfo", FeatureVariables: "DebugInfo"}

// of returns the implementation, that of a CLR for a nil or zero Runtime.
func (r *Runtime) of() kind {
	if r == nil || r.tgt == nil {
		return clr{none}
	}
	return r.impl
}

// Check returns nil if the runtime has f, and otherwise target.ErrUnsupported with the reason.
func (r *Runtime) Check(f Feature) error { return OrNone(r).lacks[f] }
