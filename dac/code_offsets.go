package dac

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// codeOffsets holds the offsets of structures for methods and code. It is bound on first use, so that a runtime can
// be opened without them.
type codeOffsets struct {
	MethodDesc struct {
		Flags3     int `layout:"Flags3AndTokenRemainder"`
		ChunkIndex int `layout:"ChunkIndex"`
		Flags2     int `layout:"Flags2|EntryPointFlags,optional"`
		Slot       int `layout:"Slot"`
		Flags      int `layout:"Flags"`
		CodeData   int `layout:"CodeData,optional"` // 9 and later
	}
	Chunk struct {
		HeaderSize  int `layout:"size"`
		MethodTable int `layout:"MethodTable"`
		Next        int `layout:"Next"`
		Size        int `layout:"Size"`
		Count       int `layout:"Count"`
		TokenRange  int `layout:"FlagsAndTokenRange"`
	} `struct:"MethodDescChunk"`
	Instantiated struct {
		PerInstInfo int `layout:"PerInstInfo"`
		Flags2      int `layout:"Flags2"`
		NumArgs     int `layout:"NumGenericArgs"`
	} `struct:"InstantiatedMethodDesc,optional"`
	StoredSig struct {
		Sig   int `layout:"Sig"`
		Size  int `layout:"cSig"`
		Flags int `layout:"ExtendedFlags"`
	} `struct:"StoredSigMethodDesc,optional"`
	Dynamic struct {
		Name     int `layout:"MethodName"`
		Resolver int `layout:"Resolver,optional"`
	} `struct:"DynamicMethodDesc,optional"`
	LCGResolver struct {
		Method  int `layout:"DynamicMethod"`
		Managed int `layout:"ManagedResolver"`
	} `struct:"LCGMethodResolver,optional"`
	CodeData struct {
		Versioning int `layout:"VersioningState"`
	} `struct:"MethodDescCodeData,optional"`
	Versioning struct {
		MethodDesc int `layout:"MethodDesc,optional"` // before 9
		Flags      int `layout:"Flags"`
		First      int `layout:"NativeCodeVersionNode"`
	} `struct:"MethodDescVersioningState,optional"`
	VersionNode struct {
		NativeCode  int `layout:"NativeCode"`
		MethodDesc  int `layout:"MethodDesc"`
		ILVersionID int `layout:"ILVersionId,optional"`
		Next        int `layout:"Next"`
		Tier        int `layout:"OptimizationTier,optional"`
		Flags       int `layout:"Flags"`
	} `struct:"NativeCodeVersionNode,optional"`
	ILState struct { // 10 and later
		First        int `layout:"FirstVersionNode"`
		ActiveKind   int `layout:"ActiveVersionKind"`
		ActiveNode   int `layout:"ActiveVersionNode"`
		ActiveMethod int `layout:"ActiveVersionMethodDef"`
	} `struct:"ILCodeVersioningState,optional"`
	ILNode struct {
		ID    int `layout:"VersionId"`
		Next  int `layout:"Next"`
		State int `layout:"RejitState"`
	} `struct:"ILCodeVersionNode,optional"`
	AppDomain struct {
		VersioningStates int `layout:"MethodDescVersioningStates,optional"` // before 9
	}
	SHash struct {
		Table int `layout:"Table"`
		Size  int `layout:"TableSize"`
	} `struct:"SHash,optional"`
	RangeMap     layout.RangeSectionMap      `struct:"RangeSectionMap,optional"`
	Fragment     layout.RangeSectionFragment `struct:"RangeSectionFragment,optional"`
	RangeSection layout.RangeSection         `struct:"RangeSection,optional"`
	CodeHeap     layout.CodeHeapListNode     `struct:"CodeHeapListNode,optional"`
	CodeHeader   struct {
		DebugInfo  int `layout:"DebugInfo,optional"`
		EHInfo     int `layout:"EHInfo,optional"`
		GCInfo     int `layout:"GCInfo"`
		MethodDesc int `layout:"MethodDesc"`
		NumUnwind  int `layout:"NumUnwindInfos"`
		Unwind     int `layout:"UnwindInfos"`
	} `struct:"RealCodeHeader,optional"`
	Interpreted struct { // 11
		DebugInfo  int `layout:"DebugInfo"`
		MethodDesc int `layout:"MethodDesc"`
	} `struct:"InterpreterRealCodeHeader,optional"`
	Module struct {
		ReadyToRun int `layout:"ReadyToRunInfo,optional"`
	}
	ReadyToRun struct {
		Header       int `layout:"ReadyToRunHeader"`
		Composite    int `layout:"CompositeInfo,optional"`
		Functions    int `layout:"RuntimeFunctions"`
		NumFunctions int `layout:"NumRuntimeFunctions"`
		HotCold      int `layout:"HotColdMap,optional"`
		NumHotCold   int `layout:"NumHotColdMap,optional"`
		EntryPoints  int `layout:"EntryPointToMethodDescMap"`
	} `struct:"ReadyToRunInfo,optional"`
	Function struct {
		Size   int `layout:"size"`
		Begin  int `layout:"BeginAddress"`
		End    int `layout:"EndAddress,optional"`
		Unwind int `layout:"UnwindData"`
	} `struct:"RuntimeFunction,optional"`
	HashMap struct {
		Buckets int `layout:"Buckets"`
	} `struct:"HashMap,optional"`
	Bucket struct {
		Size   int `layout:"size"`
		Keys   int `layout:"Keys"`
		Values int `layout:"Values"`
	} `struct:"Bucket,optional"`
}

// members holds the members and constants of the layout for methods and code.
type members struct {
	codeOffsets
	baseSizes      [8]int // sizes of MethodDescs by kind
	nativeCodeSlot flagBit
	tiered         flagBit // set for methods that can be compiled again with more optimization
	genericDef     uint64  // kind of an InstantiatedMethodDesc that is a definition
	tokenBits      uint    // number of bits of the token in the MethodDesc
	nibbleMap      int     // version; 0 if unknown
	stubKindLast   uint64
	interpreted    uint32 // flag of a RangeSection with byte code; 0 if there is no interpreter
	debugInfo      debugInfoFormat
	debugInfoErr   error
	jitManager     target.Addr // RangeSection.JitManager of compiled code
	r2rManager     target.Addr // and of images
	rangeMap       target.Addr // 8 and later
	rangeList      target.Addr // before 8: address of the first RangeSection
	r2rByImage     bool        // r2rManager is unknown: a section with an image belongs to it
	managerErr     error       // why one of the managers is unknown
	rangeListErr   error       // why rangeList is unknown
}

// A debugInfoFormat is the format in which the compiler's debug information is stored.
type debugInfoFormat struct {
	FlagByte           int `json:"JitDebugInfoFlagByte"` // 1: a byte of flags comes first
	PatchpointSize     int `json:"PatchpointInfoSize"`
	PatchpointNumLocal int `json:"PatchpointInfoNumLocals"`
	BoundsPacked       int `json:"BoundsPacked"`
	Chunks             int `json:"Chunks"` // 1: a header with the sizes of chunks comes first (contract DebugInfo, since 11)
}

// A flagBit is a bit of a MethodDesc, written "Flags:0x20" in the layout's constants.
type flagBit struct {
	member string // Flags, Flags2 or Flags3
	mask   uint16
}

func parseFlagBit(s string) (flagBit, error) {
	member, mask, ok := strings.Cut(s, ":")
	v, err := strconv.ParseUint(mask, 0, 16)
	if !ok || err != nil || !slices.Contains([]string{"Flags", "Flags2", "Flags3"}, member) {
		return flagBit{}, target.Corruptf("layout constant: %q is not a flag", s)
	}
	return flagBit{member, uint16(v)}, nil
}

func (b flagBit) isSet(m *MethodDesc) bool {
	v := m.Flags
	switch b.member {
	case "Flags2":
		v = uint16(m.Flags2)
	case "Flags3":
		v = m.flags3
	}
	return v&b.mask != 0
}

// stubCodeBlockLast is the highest number in place of the code header for code without a method (codeman.h,
// STUB_CODE_BLOCK_LAST).
const stubCodeBlockLast = 0xf

// members binds the members and constants for methods and code.
func (r *CodeReader) members() (*members, error) {
	return r.bound.Get(func() (*members, error) {
		if err := r.Runtime().Check(FeatureMethods); err != nil {
			return nil, err
		}
		c := &members{stubKindLast: stubCodeBlockLast}
		if err := r.Runtime().Layout().BindAll(&c.codeOffsets); err != nil {
			return nil, err
		}
		return c, cmp.Or(c.constants(r), c.check())
	})
}

// check compares the offsets of members read from a copy of their structure with its size.
func (c *members) check() error {
	d := &c.MethodDesc
	for _, s := range []struct {
		name      string
		size, end int
	}{{"MethodDesc", c.baseSizes[MethodIL], max(d.Flags3+2, d.ChunkIndex+1, d.Flags2+1, d.Slot+2, d.Flags+2)},
		{"RuntimeFunction", c.Function.Size, max(c.Function.Begin, c.Function.End, c.Function.Unwind) + 4}} {
		if s.size != layout.Absent && s.end > s.size {
			return target.Corruptf("layout of %s: it has %d bytes, and members behind them", s.name, s.size)
		}
	}
	return nil
}

// constants reads the constants. Methods require the first ones. The others are for code lookup, which fails
// without them.
func (c *members) constants(r *CodeReader) error {
	if err := c.methodDescSizes(r.Runtime().Layout()); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		dst  *flagBit
	}{{"NativeCodeSlotFlag", &c.nativeCodeSlot}, {"TieredCompilationFlag", &c.tiered}} {
		var text string
		if err := r.Runtime().Layout().Constant(f.name, &text); err != nil {
			return err
		}
		var err error
		if *f.dst, err = parseFlagBit(text); err != nil {
			return err
		}
	}
	var err error
	if c.genericDef, err = r.Runtime().Layout().Uint("GenericMethodDefinition"); err != nil {
		return err
	}
	bits, err := r.Runtime().Layout().Uint("MethodDescTokenRemainderBitCount")
	if err != nil {
		return err
	}
	if bits > 16 {
		return target.Corruptf("%d bits of a token in a MethodDesc", bits)
	}
	c.tokenBits = uint(bits)
	if v, err := r.Runtime().Layout().Uint("NibbleMap"); err == nil {
		c.nibbleMap = int(v)
	}
	if v, err := r.Runtime().Layout().Uint("StubCodeBlockLast"); err == nil {
		c.stubKindLast = v
	}
	if v, err := r.Runtime().Layout().Uint("RangeSectionInterpreter"); err == nil && c.RangeSection.Flags != layout.Absent {
		c.interpreted = uint32(v)
	}
	c.debugInfoErr = r.Runtime().Layout().Constant("DebugInfo", &c.debugInfo)
	c.globals(r)
	return nil
}

// methodDescKinds names the structures of the kinds of MethodDescs (method.hpp, MethodClassification).
var methodDescKinds = [8]string{"MethodDesc", "FCallMethodDesc", "PInvokeMethodDesc", "EEImplMethodDesc", "ArrayMethodDesc", "InstantiatedMethodDesc", "CLRToCOMCallMethodDesc",
	"DynamicMethodDesc"}

// methodDescSizes reads the sizes of the kinds from the table, or since 11 from the structures. A kind that the
// system lacks has size 0.
func (c *members) methodDescSizes(l Layout) error {
	err := l.Constant("MethodDescBaseSizes", &c.baseSizes)
	if err == nil {
		return nil
	}
	for i, name := range methodDescKinds {
		size, serr := l.Size(name)
		if serr != nil && name != "CLRToCOMCallMethodDesc" {
			return err
		}
		c.baseSizes[i] = size
	}
	return nil
}

func (c *members) globals(r *CodeReader) {
	for _, name := range []string{"ExecutionManagerCodeRangeMapAddress", "CodeRangeMap"} {
		if at, err := r.Runtime().Layout().Variable(name); err == nil {
			c.rangeMap = at
			break
		}
	}
	c.rangeList, c.rangeListErr = r.global("CodeRangeList")
	if _, err := r.Runtime().Layout().Variable("ExecutionManagerCodeRangeMapAddress"); layout.IsRefused(err) {
		c.rangeListErr = err
	}
	var jitErr, r2rErr error
	c.jitManager, jitErr = r.global("EEJitManager")
	c.r2rManager, r2rErr = r.global("ReadyToRunJitManager")
	c.r2rByImage = errors.Is(r2rErr, target.ErrUnsupported) && jitErr == nil
	if c.managerErr = cmp.Or(jitErr, r2rErr); c.r2rByImage {
		c.managerErr = nil
	}
	if c.managerErr == nil && (c.jitManager == 0 || c.r2rManager == 0 && !c.r2rByImage) {
		c.managerErr = target.Corruptf("the runtime has no manager of compiled code") // it makes them before its first method (codeman.cpp, ExecutionManager::Init)
	}
}

// global returns the pointer in a global variable.
func (r *CodeReader) global(name string) (target.Addr, error) {
	at, err := r.Runtime().Layout().Variable(name)
	if err != nil {
		return 0, err
	}
	p, err := target.Pointer(r.mem, at)
	if err != nil {
		return 0, fmt.Errorf("global %s: %w", name, err)
	}
	return p, nil
}
