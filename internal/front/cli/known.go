package cli

import (
	"maps"
	"slices"
	"strings"
)

// notThere maps the lower-case names of commands of SOS, dotnet-dump, WinDbg and LLDB that sosgo does not have to the
// nearest alternative.
var notThere = map[string]string{
	// Objects and heap.
	"dumpgcdata":               "gcheapstat and eeheap -gc describe the heap",
	"gchandleleaks":            "gchandles -stat counts handles by the type of what they hold",
	"findpointersin":           "modules -address ADDRESS says which image an address lies in",
	"gctonative":               "listnearobj ADDRESS says which object an address lies in",
	"histinit":                 "it is not needed: dumplog reads the stress log",
	"histobj":                  stressed,
	"histobjfind":              stressed,
	"histroot":                 stressed,
	"histstats":                "dumplog lists the promotions and relocations of each collection, but does not count them",
	"histclear":                "it is not needed: dumplog keeps nothing of the stress log",
	"enummem":                  "doctor says what the dump holds",
	"simulategcheapcorruption": "verifyheap looks for corruption",
	"dumplocks":                "locks lists who holds each lock and who waits, waits where that leads",
	"findroots":                "it needs a live process; gcroot -gcgen N ADDRESS shows what keeps an object alive in a collection of generation N",
	"saveallmodules":           "savemodule ADDRESS FILE saves one; pack saves the dump with all module files that are found",
	"dumpvtbl":                 "dumpmt -md ADDRESS lists the methods",
	"dumpfd":                   "dumpclass ADDRESS lists the fields",
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
	"loadsymbols":              "it is not needed: files are opened when an answer needs them; setsymbolserver names where they are",
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
	".reload":     "setsymbolserver DIR or URL names where files are",
	".sympath":    "setsymbolserver DIR or URL names where files are",
	".symfix":     "setsymbolserver -ms asks Microsoft's symbol server",
	".exepath":    "setsymbolserver DIR names where files are",
	".logopen":    "COMMAND > FILE, or >> FILE, writes an answer to a file",
	".logclose":   "COMMAND > FILE, or >> FILE, writes an answer to a file",
	".foreach":    "COMMAND --json in a script of your own; dumpheap -short lists addresses alone",
	".dump":       "pack -o FILE makes one file of the dump and its module files",
	".effmach":    "doctor describes the process and the dump",
	".cxr":        "registers shows the registers of a thread",
	".prefer_dml": "sosgo prints plain text",
	"s":           "dumpheap -strings and -type find objects",
	"g":           "it needs a live process",
	"t":           "it needs a live process",
	"bp":          "it needs a live process",
	"heap":        "eeheap -gc lists the managed heap",
	"target":      "doctor describes the process and the dump",
	"up":          "clrstack -a shows each frame with its variables",
	"down":        "clrstack -a shows each frame with its variables",
}

// stressed is the alternative to SOS's history of an object or a root.
const stressed = "dumplog -address ADDRESS lists the messages of the stress log that name an object or a root, its promotions and relocations among them"

// unread maps SOS's commands about runtime structures that sosgo does not read to the reason. They fail as
// unsupported instead of as misspelled.
var unread = map[string]string{
	"dumprcw":        builtInCOM + "; comwrappers lists the wrappers of ComWrappers",
	"dumpccw":        builtInCOM + "; comwrappers lists the wrappers of ComWrappers",
	"rcwcleanuplist": builtInCOM + ", and the list of those to be released is one of them",
	"comstate":       builtInCOM + ", and the contexts of threads are among them; clrthreads shows the apartments",
}

// builtInCOM is the reason why sosgo reads nothing of Windows's built-in COM.
const builtInCOM = "the wrappers of Windows's built-in COM are structures that no runtime before .NET 11 describes, and that sosgo does not read, since no dump with one was available to prove it"

// NotThere returns the sorted names of other tools' commands that sosgo does not have.
func NotThere() []string { return slices.Sorted(maps.Keys(notThere)) }

// isNotThere returns the error for another tool's command, or nil for other names.
func isNotThere(name string) *UsageError {
	instead, known := notThere[name]
	if !known {
		return nil
	}
	e := &UsageError{Text: name + " is not supported", Hint: `"sosgo help all" lists the commands`}
	if rest, live := strings.CutPrefix(instead, "it needs a live process"); live {
		e.Text, instead = name+" needs a live process; sosgo reads dumps", strings.TrimPrefix(rest, "; ")
	} else if rest, needless := strings.CutPrefix(instead, "it is not needed: "); needless {
		e.Text, instead = name+" is not needed: "+rest, ""
	}
	if instead != "" {
		e.Hint = "instead: " + instead
	}
	return e
}

// Suggest returns the candidate most similar to typed, or "" if no candidate is similar.
func Suggest(typed string, candidates []string) string { return suggest(typed, candidates) }

// suggest returns the candidate that starts with typed, or that is at most two edits from typed and keeps more than
// half of it. Ties go to the first candidate.
func suggest(typed string, candidates []string) string {
	typed = strings.ToLower(typed)
	best, bestDist := "", 3
	for _, c := range candidates {
		lower := strings.ToLower(c)
		d := editDistance(typed, lower)
		if len(typed) >= 3 && strings.HasPrefix(lower, typed) {
			d = min(d, 1)
		}
		if d < bestDist && 2*d <= len(typed) {
			best, bestDist = c, d
		}
	}
	return best
}

// editDistance counts the insertions, deletions, substitutions and swaps of neighbors from a to b. It returns longest
// for longer words, to save time.
func editDistance(a, b string) int {
	const longest = 40
	if len(a) > longest || len(b) > longest {
		return longest
	}
	var rows [3][longest + 1]int
	prev2, prev, cur := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
