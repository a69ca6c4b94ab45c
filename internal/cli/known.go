package cli

import (
	"maps"
	"slices"
)

// notThere are the commands of SOS, dotnet-dump, WinDbg and LLDB that sosgo does not
// have, by lower-case name, with what answers their question as far as something does.
var notThere = map[string]string{
	// Objects and heap.
	"dumpgcdata":               "gcheapstat and eeheap -gc describe the heap",
	"gchandleleaks":            "gchandles -stat counts handles by the type of what they hold",
	"findpointersin":           "modules -address ADDRESS says which image an address lies in",
	"gctonative":               "listnearobj ADDRESS says which object an address lies in",
	"histinit":                 "",
	"histobj":                  "",
	"histobjfind":              "",
	"histroot":                 "",
	"histstats":                "",
	"histclear":                "",
	"dumplog":                  "",
	"stresslog":                "",
	"enummem":                  "doctor says what the dump holds",
	"simulategcheapcorruption": "verifyheap looks for corruption",
	"dumprcw":                  "syncblk -all shows which objects have COM data",
	"dumpccw":                  "syncblk -all shows which objects have COM data",
	"rcwcleanuplist":           "",
	"dumplocks":                "locks lists who holds each lock and who waits, waits where that leads",
	"dlk":                      "locks lists who holds each lock and who waits, waits where that leads",
	"findroots":                "it sets a breakpoint in a live process; of a dump gcroot -gcgen N ADDRESS says what keeps an object alive in a collection of generation N",
	"comstate":                 "clrthreads shows the apartments",
	"saveallmodules":           "savemodule ADDRESS FILE saves one; pack saves the dump with all module files that are found",
	"dumpvtbl":                 "dumpmt -md ADDRESS lists the methods",
	"dumpfd":                   "dumpclass ADDRESS lists the fields",
	"strings":                  "dumpheap -strings counts equal strings",
	"procinfo":                 "doctor describes the process and the dump",
	"processinfo":              "doctor describes the process and the dump",
	"vmmap":                    "doctor says what the dump holds; modules lists the images",
	"vmstat":                   "doctor says what the dump holds; eeheap what the runtime uses",
	"!address":                 "doctor says what the dump holds; modules -address ADDRESS what image an address lies in",
	"address":                  "doctor says what the dump holds; modules -address ADDRESS what image an address lies in",
	"minidumpmode":             "it is not needed: what a small dump holds is read, and what it lacks is said",
	"bpmd":                     "it needs a live process",
	"soe":                      "it needs a live process; printexception and dumpexceptions show exceptions",
	"stoponexception":          "it needs a live process; printexception and dumpexceptions show exceptions",
	"watch":                    "it needs a live process",
	"savestate":                "it needs a live process",
	"tracetocode":              "it needs a live process",
	"suppressjitoptimization":  "it needs a live process",
	"processor":                "doctor describes the process and the dump",
	"verifygmt":                "dumpmt ADDRESS says whether it is a MethodTable",
	"exposedml":                "sosgo prints plain text",
	"dbgout":                   "sosgo prints plain text",
	"setsymbolserver":          "--symbol-server URL and --modules DIR, when sosgo is started, name where files are",
	"loadsymbols":              "--symbol-server URL and --modules DIR, when sosgo is started, name where files are",
	"setclrpath":               "it is not needed: sosgo uses no DAC; --modules DIR names a folder with module files",
	"sosstatus":                "doctor says how the dump is read; runtimes lists its runtimes",
	"sosflush":                 "it is not needed: a dump does not change",
	"logopen":                  "COMMAND > FILE, or >> FILE, writes an answer to a file",
	"logclose":                 "COMMAND > FILE, or >> FILE, writes an answer to a file",
	"logging":                  "SOSGO_PANIC=1 shows where sosgo itself is wrong",
	// WinDbg and LLDB.
	".load":       "it is not needed: sosgo has SOS's commands itself",
	".loadby":     "it is not needed: sosgo has SOS's commands itself",
	".unload":     "it is not needed: sosgo has SOS's commands itself",
	".chain":      "it is not needed: sosgo has SOS's commands itself",
	".cordll":     "it is not needed: sosgo uses no DAC",
	".reload":     "--modules DIR and --symbol-server URL, when sosgo is started, name where files are",
	".sympath":    "--modules DIR and --symbol-server URL, when sosgo is started, name where files are",
	".symfix":     "--modules DIR and --symbol-server URL, when sosgo is started, name where files are",
	".exepath":    "--modules DIR, when sosgo is started, names where files are",
	".logopen":    "COMMAND > FILE, or >> FILE, writes an answer to a file",
	".logclose":   "COMMAND > FILE, or >> FILE, writes an answer to a file",
	".foreach":    "COMMAND --json in a script of your own; dumpheap -short lists addresses alone",
	".dump":       "pack -o FILE makes one file of the dump and its module files",
	".time":       "doctor describes the process and the dump",
	".effmach":    "doctor describes the process and the dump",
	".frame":      "clrstack -a shows each frame with its variables",
	".cxr":        "registers shows the registers of a thread",
	".exr":        "crashinfo shows what the process died of",
	".thread":     "setthread THREAD",
	".prefer_dml": "sosgo prints plain text",
	".cls":        "",
	"dv":          "clrstack -a shows each frame with its variables",
	"dt":          "dumpobj ADDRESS shows an object's fields, dumpmt and dumpclass a type's",
	"dx":          "dumpobj ADDRESS shows an object's fields",
	"dps":         "dp ADDRESS shows pointers; clru and ip2md say what code one leads to",
	"dpp":         "dp ADDRESS shows pointers; clru and ip2md say what code one leads to",
	"ln":          "ip2md ADDRESS names managed code; modules -address ADDRESS the image",
	"x":           "name2ee MODULE!NAME finds types and methods",
	"s":           "dumpheap -strings and -type find objects",
	"g":           "it needs a live process",
	"p":           "it needs a live process",
	"t":           "it needs a live process",
	"bp":          "it needs a live process",
	"vertarget":   "doctor describes the process and the dump; eeversion its runtime",
	"runaway":     "",
	"peb":         "doctor describes the process and the dump; modules lists the images",
	"teb":         "threads -v and clrthreads describe the threads",
	"heap":        "eeheap -gc lists the managed heap",
	"uniqstack":   "parallelstacks merges equal stacks",
	"image":       "modules lists the images",
	"register":    "registers shows the registers of a thread",
	"memory":      "d, db, dw, dd, dq, da and du ADDRESS show memory",
	"thread":      "threads lists the threads, setthread chooses one, clrstack shows its stack",
	"frame":       "clrstack -a shows each frame with its variables",
	"process":     "doctor describes the process and the dump",
	"target":      "doctor describes the process and the dump",
	"up":          "clrstack -a shows each frame with its variables",
	"down":        "clrstack -a shows each frame with its variables",
}

// NotThere lists the names of commands of other tools that sosgo does not have, sorted.
func NotThere() []string { return slices.Sorted(maps.Keys(notThere)) }

// isNotThere is the error for a command that other tools have; nil for a name that
// is none.
func isNotThere(name string) *UsageError {
	instead, known := notThere[name]
	if !known {
		return nil
	}
	err := &UsageError{Text: name + " is not there yet", Hint: `"sosgo help" lists the commands`}
	if instead != "" {
		err.Hint = "instead: " + instead
	}
	return err
}
