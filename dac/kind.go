package dac

import (
	"iter"

	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A kind reads structures that a CLR and a NativeAOT program keep in different forms. Instance.Open chooses it,
// and no other code asks which kind a Runtime has. Layouts cover members that differ only in their offsets;
// Features name what a kind lacks.
type kind interface {
	// readMethodTable reads the MethodTable at a, and checkMethodTable proves that it is one.
	readMethodTable(a target.Addr) (*MethodTable, error)
	checkMethodTable(mt *MethodTable) error
	// The other methods implement the methods of Runtime with the same names.
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
	// writeName writes the name of the type th. depth is the number of types around it.
	writeName(f *nameFormatter, th target.Addr, depth int) error
	readThreads() (threadList, error)
	// readTrace reads the stack trace of an exception with a trace.
	readTrace(e *Exception) ([]TraceFrame, error)
}

// clr implements kind for CoreCLR.
type clr struct{ *Runtime }

// A Feature is something that some runtimes lack or do not record.
type Feature uint8

// The features.
const (
	FeatureFields         Feature = iota // fields of a type, and their offsets
	FeatureMethods                       // MethodDescs
	FeatureModules                       // assemblies with metadata
	FeatureDomains                       // AppDomains
	FeatureStatics                       // addresses of static fields
	FeatureTypeLists                     // all loaded types, including arrays and generic instances
	FeatureObjectHeaders                 // contents of an object's header
	FeatureSyncBlocks                    // the table of sync blocks
	FeatureThreadCounters                // ThreadCounts
	FeatureThreadFacts                   // all fields of a Thread
	FeatureCodeReferences                // references held by code at an instruction
	FeatureVariables                     // locations of arguments and locals
	features
)

// contractOf maps features to the contracts that they need. A CLR with an unknown version of the contract lacks
// the feature.
var contractOf = map[Feature]string{FeatureModules: "Loader", FeatureDomains: "Loader", FeatureTypeLists: "Loader", FeatureSyncBlocks: "SyncBlock",
	FeatureThreadCounters: "Thread", FeatureThreadFacts: "Thread", FeatureCodeReferences: "GCInfo", FeatureVariables: "DebugInfo"}

// Check returns nil if the runtime has f, and otherwise target.ErrUnsupported with the reason.
func (r *Runtime) Check(f Feature) error { return r.lacks[f] }
