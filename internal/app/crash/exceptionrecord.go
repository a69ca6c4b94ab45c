package crash

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// Exception codes of Windows with described parameters (winnt.h, ntstatus.h, and compilers' own codes).
const (
	codeGuardPage   = 0x80000001
	codeAccess      = 0xc0000005
	codeInPage      = 0xc0000006
	codeStackBuffer = 0xc0000409 // STATUS_STACK_BUFFER_OVERRUN: any fail fast
	codeCPP         = 0xe06d7363
	codeCLR         = 0xe0434352
	codeSetName     = 0x406d1388
	codeFailFast    = 0x80131623 // COR_E_FAILFAST
	codeEngine      = 0x80131506 // COR_E_EXECUTIONENGINE
)

// codeNames maps exception codes to names.
var codeNames = sync.OnceValue(func() map[uint32]string {
	return map[uint32]string{
		codeGuardPage: "STATUS_GUARD_PAGE_VIOLATION", 0x80000002: "STATUS_DATATYPE_MISALIGNMENT", 0x80000003: "STATUS_BREAKPOINT",
		0x80000004: "STATUS_SINGLE_STEP", codeAccess: "STATUS_ACCESS_VIOLATION", codeInPage: "STATUS_IN_PAGE_ERROR",
		0xc0000008: "STATUS_INVALID_HANDLE", 0xc000000d: "STATUS_INVALID_PARAMETER", 0xc0000017: "STATUS_NO_MEMORY",
		0xc000001d: "STATUS_ILLEGAL_INSTRUCTION", 0xc0000025: "STATUS_NONCONTINUABLE_EXCEPTION", 0xc0000026: "STATUS_INVALID_DISPOSITION",
		0xc000008c: "STATUS_ARRAY_BOUNDS_EXCEEDED", 0xc000008d: "STATUS_FLOAT_DENORMAL_OPERAND", 0xc000008e: "STATUS_FLOAT_DIVIDE_BY_ZERO",
		0xc000008f: "STATUS_FLOAT_INEXACT_RESULT", 0xc0000090: "STATUS_FLOAT_INVALID_OPERATION", 0xc0000091: "STATUS_FLOAT_OVERFLOW",
		0xc0000092: "STATUS_FLOAT_STACK_CHECK", 0xc0000093: "STATUS_FLOAT_UNDERFLOW", 0xc0000094: "STATUS_INTEGER_DIVIDE_BY_ZERO",
		0xc0000095: "STATUS_INTEGER_OVERFLOW", 0xc0000096: "STATUS_PRIVILEGED_INSTRUCTION", 0xc00000fd: "STATUS_STACK_OVERFLOW",
		0xc0000194: "STATUS_POSSIBLE_DEADLOCK", 0xc0000374: "STATUS_HEAP_CORRUPTION", codeStackBuffer: "STATUS_STACK_BUFFER_OVERRUN",
		0xc0000417: "STATUS_INVALID_CRUNTIME_PARAMETER", 0xc000041d: "STATUS_FATAL_USER_CALLBACK_EXCEPTION", 0xc0000420: "STATUS_ASSERTION_FAILURE",
		0xc0000602: "STATUS_FAIL_FAST_EXCEPTION", 0x40000015: "STATUS_FATAL_APP_EXIT", codeCPP: "C++ exception", codeCLR: "CLR exception",
		codeSetName: "MS_VC_EXCEPTION (thread name)", codeFailFast: "COR_E_FAILFAST", codeEngine: "COR_E_EXECUTIONENGINE",
		0x800703e9: "COR_E_STACKOVERFLOW",
	}
})

// failFastNames names the codes of __fastfail (winnt.h, FAST_FAIL_*), from 0 on.
var failFastNames = []string{
	"LEGACY_GS_VIOLATION", "VTGUARD_CHECK_FAILURE", "STACK_COOKIE_CHECK_FAILURE", "CORRUPT_LIST_ENTRY", "INCORRECT_STACK", "INVALID_ARG",
	"GS_COOKIE_INIT", "FATAL_APP_EXIT", "RANGE_CHECK_FAILURE", "UNSAFE_REGISTRY_ACCESS", "GUARD_ICALL_CHECK_FAILURE", "GUARD_WRITE_CHECK_FAILURE",
	"INVALID_FIBER_SWITCH", "INVALID_SET_OF_CONTEXT", "INVALID_REFERENCE_COUNT", "", "", "", "INVALID_JUMP_BUFFER", "MRDATA_MODIFIED",
	"CERTIFICATION_FAILURE", "INVALID_EXCEPTION_CHAIN", "CRYPTO_LIBRARY", "INVALID_CALL_IN_DLL_CALLOUT", "INVALID_IMAGE_BASE",
	"DLOAD_PROTECTION_FAILURE", "UNSAFE_EXTENSION_CALL", "DEPRECATED_SERVICE_INVOKED", "INVALID_BUFFER_ACCESS", "INVALID_BALANCED_TREE",
	"INVALID_NEXT_THREAD", "GUARD_ICALL_CHECK_SUPPRESSED", "APCS_DISABLED", "INVALID_IDLE_STATE", "MRDATA_PROTECTION_FAILURE",
	"UNEXPECTED_HEAP_EXCEPTION", "INVALID_LOCK_STATE", "GUARD_JUMPTABLE", "INVALID_LONGJUMP_TARGET", "INVALID_DISPATCH_CONTEXT", "INVALID_THREAD",
	"INVALID_SYSCALL_NUMBER", "INVALID_FILE_OPERATION", "LPAC_ACCESS_DENIED", "GUARD_SS_FAILURE", "LOADER_CONTINUITY_FAILURE",
	"GUARD_EXPORT_SUPPRESSION_FAILURE", "INVALID_CONTROL_STACK", "SET_CONTEXT_DENIED", "INVALID_IAT", "HEAP_METADATA_CORRUPTION",
	"PAYLOAD_RESTRICTION_VIOLATION", "LOW_LABEL_ACCESS_DENIED", "ENCLAVE_CALL_FAILURE", "UNHANDLED_LSS_EXCEPTON", "ADMINLESS_ACCESS_DENIED",
	"UNEXPECTED_CALL", "CONTROL_INVALID_RETURN_ADDRESS", "UNEXPECTED_HOST_BEHAVIOR", "FLAGS_CORRUPTION", "VEH_CORRUPTION", "ETW_CORRUPTION",
	"RIO_ABORT", "INVALID_PFN", "GUARD_ICALL_CHECK_FAILURE_XFG", "CAST_GUARD", "HOST_VISIBILITY_CHANGE", "KERNEL_CET_SHADOW_STACK_ASSIST",
	"PATCH_CALLBACK_FAILED", "NTDLL_PATCH_FAILED", "INVALID_FLS_DATA", "ASAN_ERROR", "CLR_EXCEPTION_AOT",
}

// accessWords describes the first parameter of access violations and in-page errors.
func accessWords(v uint64) string {
	switch v {
	case 0:
		return "read"
	case 1:
		return "write"
	case 8:
		return "execute"
	}
	return ""
}

// parameterNames names the parameters of some exceptions.
var parameterNames = sync.OnceValue(func() map[uint32][]string {
	return map[uint32][]string{
		codeGuardPage:   {"access", "address"},
		codeAccess:      {"access", "address"},
		codeInPage:      {"access", "address", "status"},
		codeStackBuffer: {"fail-fast code"},
		codeCPP:         {"magic number", "object", "throw information", "image base"},
		codeCLR:         {"HRESULT", "", "", "", "base of the runtime"},
	}
})

// describeExceptionRecord names the parts of an EXCEPTION_RECORD.
func describeExceptionRecord(x *target.Exception) answer.ExceptionRecord {
	d := answer.ExceptionRecord{Code: answer.Hex(x.Code), Name: codeNames()[x.Code], Flags: answer.Hex(x.Flags), Address: x.Address}
	names := parameterNames()[x.Code]
	for i, v := range x.Parameters {
		p := answer.ExceptionParameter{Value: answer.Hex(v)}
		if i < len(names) {
			p.Name = names[i]
		}
		switch p.Name {
		case "HRESULT": // 32 bits, sign-extended
			p.Value = answer.Hex(uint32(v))
		case "access":
			p.Words = accessWords(v)
		case "fail-fast code":
			if v < uint64(len(failFastNames)) && failFastNames[v] != "" {
				p.Words = "FAST_FAIL_" + failFastNames[v]
			}
		case "status":
			p.Words = codeNames()[uint32(v)]
		}
		d.Parameters = append(d.Parameters, p)
	}
	return d
}

// touchedBy returns the memory access that raised an exception or a signal.
func touchedBy(x *target.Exception) (a target.Addr, access string, ok bool) {
	if x.Signal != nil {
		a, ok = x.Signal.Touched()
		return a, "", ok
	}
	switch x.Code {
	case codeGuardPage, codeAccess, codeInPage:
		if len(x.Parameters) >= 2 {
			return target.Addr(x.Parameters[1]), accessWords(x.Parameters[0]), true
		}
	}
	return 0, "", false
}

// The fields of an EXCEPTION_RECORD64 (winnt.h).
const (
	recordFlags     = 4
	recordNested    = 8
	recordAddress   = 0x10
	recordNumParams = 0x18
	recordParams    = 0x20
	maxRecordParams = 15 // EXCEPTION_MAXIMUM_PARAMETERS
	recordSize      = recordParams + 8*maxRecordParams
)

// readExceptionRecord reads the EXCEPTION_RECORD at a in the process's memory.
func readExceptionRecord(mem target.Memory, a target.Addr) (*target.Exception, error) {
	b, err := target.Bytes(mem, a, recordParams)
	if err != nil {
		return nil, fmt.Errorf("exception record %016x: %w", uint64(a), err)
	}
	n := binary.LittleEndian.Uint32(b[recordNumParams:])
	if n > maxRecordParams {
		return nil, target.Corruptf("exception record %016x has %d parameters; the maximum is %d", uint64(a), n, maxRecordParams)
	}
	x := &target.Exception{Code: binary.LittleEndian.Uint32(b), Flags: binary.LittleEndian.Uint32(b[recordFlags:]),
		Record:  target.Addr(binary.LittleEndian.Uint64(b[recordNested:])),
		Address: target.Addr(binary.LittleEndian.Uint64(b[recordAddress:])), HasAddress: true, Parameters: make([]uint64, n)}
	x.Words = fmt.Sprintf("0x%08x", x.Code)
	if b, err = target.Bytes(mem, a+recordParams, 8*int(n)); err != nil {
		return nil, fmt.Errorf("exception record %016x: %w", uint64(a), err)
	}
	for i := range x.Parameters {
		x.Parameters[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return x, nil
}

// nestedRecords reads the nested records of x.
func nestedRecords(mem target.Memory, x *target.Exception) ([]*target.Exception, error) {
	var out []*target.Exception
	seen := map[target.Addr]bool{}
	for at := x.Record; at != 0; {
		if seen[at] || len(out) >= limits.ExceptionRecords {
			return out, target.Corruptf("exception records form a circle")
		}
		seen[at] = true
		next, err := readExceptionRecord(mem, at)
		if err != nil {
			return out, err
		}
		out, at = append(out, next), next.Record
	}
	return out, nil
}
