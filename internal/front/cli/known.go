package cli

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// notThere maps the lower-case names of commands of SOS, dotnet-dump, WinDbg and LLDB that sosgo does not have to the
// nearest alternative.
var notThere = sync.OnceValue(func() map[string]string {
	return map[string]string{
		// Objects and heap.
		"dumpgcdata":               "gcheapstat and eeheap -gc describe the heap",
		"gchandleleaks":            "gchandles -stat counts handles by the type of what they hold",
		"findpointersin":           "modules -address ADDRESS says which image an address lies in",
		"gctonative":               "listnearobj ADDRESS says which object an address lies in",
		"histinit":                 "it is not needed: dumplog reads the stress log",
		"histobj":                  stressed,
		"histobjfind":              stressed,
		"histroot":                 stressed,
		"hob":                      stressed,
		"hof":                      stressed,
		"hroot":                    stressed,
		"hinit":                    "it is not needed: dumplog reads the stress log",
		"hclear":                   "it is not needed: dumplog keeps nothing of the stress log",
		"crawl":                    "clrstack -a shows a stack with its values, parallelstacks all stacks together",
		"histstats":                "dumplog lists the promotions and relocations of each collection, but does not count them",
		"stresslog>":               "dumplog > FILE writes the messages of the stress log to a file",
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
		"exposedml":                plain,
		"dbgout":                   plain,
		"loadsymbols":              "it is not needed: files are opened when an answer needs them; setsymbolserver names where they are",
		"sosstatus":                "doctor says how the dump is read; runtimes lists its runtimes",
		"setsostid":                "setthread -tid ID makes the thread with that OS id the current one",
		"sosflush":                 "it is not needed: a dump does not change",
		"sethostruntime":           "it is not needed: sosgo needs no .NET",
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
		".symfix+":    "setsymbolserver -ms asks Microsoft's symbol server",
		".extpath":    "it is not needed: sosgo has SOS's commands itself",
		".extmatch":   "help all lists the commands",
		".nvload":     "it is not needed: the kinds of values are known",
		"exts":        "help all lists the commands",
		"setsos":      "it is not needed: sosgo has SOS's commands itself",
		"loadsos":     "it is not needed: sosgo has SOS's commands itself",
		".dump":       "pack -o FILE makes one file of the dump and its module files",
		".effmach":    "doctor describes the process and the dump",
		".cxr":        "registers shows the registers of a thread",
		".trap":       "registers shows the registers of a thread",
		".tss":        "registers shows the registers of a thread",
		".fpo":        "clrstack -f shows native frames, too",
		".fiber":      "threads lists the threads",
		".prefer_dml": plain,
		".dml_start":  plain, ".dml_flow": "clru ADDRESS disassembles a method", ".outmask": plain, ".wtitle": plain, ".typeopt": plain, ".locale": plain, ".ocommand": plain,
		".browse":                      plain,
		".printf":                      "eval EXPRESSION shows a value, .echo TEXT prints a text",
		"printf":                       "eval EXPRESSION shows a value, .echo TEXT prints a text",
		".readmem":                     "db and dq show memory",
		".ignore_missing_pages":        "it is not needed: what the dump does not have is reported",
		".stkwalk_force_frame_pointer": "clrstack -f follows unwind data, and frame pointers where none is found",
		".server":                      pages, ".remote": pages, ".clients": pages, ".endsrv": pages, ".servers": pages, ".web": pages,
		".settings": "each command takes options; help COMMAND lists them",
		".pcmd":     forEach, ".wo": forEach, ".catch": forEach, ".leave": forEach, ".break": forEach, ".continue": forEach, ".do": forEach, ".elsif": forEach, ".aliascmds": forEach,
		"tls":              "statics lists static fields, those of threads among them",
		"verifystacktrace": "clrstack shows a stack, and reports what it can't follow",
		"stoponcatch":      live,
		"mp":               live, "mt": live, "bpsc": live,
		"s":         "dumpheap -strings and -type find objects",
		"target":    "doctor describes the process and the dump",
		"up":        "clrstack -a shows each frame with its variables",
		"down":      "clrstack -a shows each frame with its variables",
		"tlist":     "ps lists the .NET processes of this machine",
		".tlist":    "ps lists the .NET processes of this machine",
		"tl":        "ps lists the .NET processes of this machine",
		"findstack": "parallelstacks merges the stacks, and clrstack -f -all | grep TEXT finds a frame",
		".bugcheck": "crashinfo explains why the process died",
		"error":     "crashinfo and printexception explain the error of a crash",
		"gflag":     "process shows how the process was started and configured",
		"token":     "process shows how the process was started and configured",
		"handle":    "gchandles -stat counts the handles of the GC; those of the system are not read",
		"htrace":    "gchandles -stat counts the handles of the GC; those of the system are not read",
		"df":        "dd and dq show memory; eval reads fields of any type",
		"dyb":       "db shows memory as bytes",
		"n":         "addresses are hexadecimal and other numbers decimal; 0x and 0n before a number choose",
		"poi":       "dps ADDRESS shows pointers with what each refers to, dq ADDRESS L1 shows one",
		"@$":        "threads, modules and process list what the debugger's variables name",
		".f+":       "clrstack -a shows each frame with its variables",
		".f-":       "clrstack -a shows each frame with its variables",
		"gui":       pages, "tui": pages, "layout": pages,
		"cd": relative, "pwd": relative,
		clrMD:       "clrthreads, dumpheap, dumpobj ADDRESS, eeheap -gc and eval EXPRESSION have what ClrMD's objects have; docs/clrmd.md maps the library",
		typedMemory: "eval reads fields of any type: eval ((TYPE)ADDRESS)",
		"tail":      filtersAnswers, "sort": filtersAnswers, "uniq": filtersAnswers, "wc": filtersAnswers, "less": filtersAnswers, "more": filtersAnswers,
		"tee":                     "COMMAND > FILE writes an answer to a file, logopen FILE all that follows",
		".prompt_allow":           plain,
		"umdh":                    "memory -malloc describes native memory",
		"foreachframe":            "clrstack -a shows each frame with its variables",
		"dyd":                     "db shows memory as bytes",
		"info win":                pages,
		"add-auto-load-safe-path": "it is not needed: sosgo runs no script of a dump",
		"dotnet-dump analyze":     "sosgo FILE opens a dump, and sosgo FILE COMMAND answers one question",
		"dotnet-dump":             takesDump,
		"dotnet-stack":            "clrstack -all and parallelstacks show the stacks of a dump",
		"dotnet-gcdump":           "export gcdump FILE writes the heap of a dump for other tools",
		"dotnet-trace":            live, "dotnet-counters": live,
		"list":   "items ADDRESS lists a collection; clrstack has the files and lines of frames where PDB files are found",
		"dl":     "items ADDRESS lists a collection; query follows fields",
		"ustr":   "du ADDRESS shows UTF-16 text, dumpobj ADDRESS a string",
		"str":    "da ADDRESS shows text, dumpobj ADDRESS a string",
		"string": "dumpobj ADDRESS shows a string, dumpheap -strings counts them",
		"ls":     sources, "lsa": sources, "lsf": sources, "lsp": sources, ".open": sources, ".srcfix": sources, ".srcpath+": sources, "l+t": sources, "l-t": sources,
		".fnent":          "clru ADDRESS disassembles a method, ehinfo ADDRESS lists its handlers",
		".asm":            "clru ADDRESS disassembles a method",
		".enable_unicode": plain, ".enable_long_status": plain, ".force_radix_output": plain,
		".expr":              "eval takes expressions in C# syntax",
		"ld":                 "it is not needed: files are opened when an answer needs them; setsymbolserver names where they are",
		".show_sym_failures": "doctor -files lists which files were found",
		".dumpdebug":         "doctor describes the dump",
		"avrf":               "process shows how the process was started and configured",
		"gflags":             "process shows how the process was started and configured",
		"err":                "crashinfo and printexception explain the error of a crash",
		"wow64exts.info":     "doctor describes the process and the dump",
		"wow64exts.sw":       "doctor describes the process and the dump",
		nativeNames:          "gc and eeheap describe the collector and its heap, threads and process the TEB and the PEB, modules the native images",
		// Commands of debuggers for more than one command or one dump.
		"for_each_module": forEach,
		"for_each_frame":  "clrstack -a shows each frame with its variables",
		"foreachthread":   "~*e COMMAND runs a command for each thread",
		"for_each_thread": "~*e COMMAND runs a command for each thread",
		"fe":              "items ADDRESS lists a collection; dumpheap -short -type TYPE | foreach COMMAND runs a command for each object",
		"foreachitem":     "items ADDRESS lists a collection; dumpheap -short -type TYPE | foreach COMMAND runs a command for each object",
		"dumpdatatable":   asQuery,
		"foreachobject":   "dumpheap -short -type TYPE | foreach COMMAND runs a command for each object; query asks about all at once",
		"as":              forEach, "alias": forEach, "define": forEach, "document": forEach, "command": forEach,
		"ad":          forEach,
		".if":         forEach,
		".else":       forEach,
		".for":        forEach,
		".while":      forEach,
		".block":      forEach,
		".scriptload": "query and eval answer questions of your own; --json is for scripts",
		".scriptrun":  "query and eval answer questions of your own; --json is for scripts",
		"source":      asScript,
		"$<":          asScript,
		".opendump":   "another sosgo opens another dump; diff compares two",
		"core-file":   "another sosgo opens another dump; diff compares two",
		"core":        "another sosgo opens another dump; diff compares two",
		"|s":          "a dump has one process; another sosgo opens another dump",
		".shell":      "it starts no program: sosgo reads dumps; COMMAND > FILE writes an answer to a file",
		"sh":          "it starts no program: sosgo reads dumps; COMMAND > FILE writes an answer to a file",
		"shell":       "it starts no program: sosgo reads dumps; COMMAND > FILE writes an answer to a file",
		"settings":    "each command takes options; help COMMAND lists them",
		"diagnose":    "triage lists what is wrong with the process, crashinfo explains a crash",
		"rcw":         "comwrappers lists the wrappers of ComWrappers",
		"wservice":    "process shows how the process was started and configured",
		"wapppool":    "process shows how the process was started and configured",
		"log":         "logopen FILE keeps a log of the session",
		"session":     "logopen FILE keeps a log of the session; sessions lists those of ASP.NET Core",
		"platform":    "doctor describes the process and the dump",
		"statistics":  "doctor describes the process and the dump",
		"language":    "eval takes expressions in C# syntax",
		"type":        "types TEXT lists types, dumpmt ADDRESS describes one; values are shown by their kinds",
		"macro":       "eval takes expressions in C# syntax",
		"inferior":    "a dump has one process; another sosgo opens another dump",
		"pipe":        "COMMAND | grep TEXT filters an answer",
		"count":       "COMMAND | count counts the lines of an answer",
		"plugin":      "it is not needed: sosgo has SOS's commands itself",
		".setdll":     "it is not needed: sosgo has SOS's commands itself",
		".unloadall":  "it is not needed: sosgo has SOS's commands itself",
		".srcpath":    "it is not needed: lines come from PDB files beside the modules",
		".lines":      "it is not needed: stacks have lines where PDB files are found",
		".sympath+":   "setsymbolserver DIR or URL names where files are",
		".symopt":     "setsymbolserver DIR or URL names where files are",
		".symopt+":    "setsymbolserver DIR or URL names where files are",
		"sym":         "setsymbolserver DIR or URL names where files are; doctor -files lists what was found",
		".exepath+":   "setsymbolserver DIR names where files are",
		".writemem":   "pack -o FILE makes one file of the dump and its module files; db and dq show memory",
		"createdump":  takesDump, "generate-core-file": takesDump, "gcore": takesDump,
		"disassemble": "clru ADDRESS disassembles a method", "disas": "clru ADDRESS disassembles a method", "di": "clru ADDRESS disassembles a method",
		// SOSEX, MEX, netext and Psscor.
		"stringdup": "waste -kind strings shows the texts that are there more than once", "cppexr": "crashinfo explains why the process died, printexception the exception of a thread",
		"strings": "dumpheap -strings counts strings; query \"from objects of System.String | where this matches 'TEXT'\" finds some",
		"bhi":     keepsGraph, "chi": keepsGraph, "lhi": keepsGraph, "windex": keepsGraph,
		"wselect": asQuery, "wfrom": asQuery, "wevent": asQuery, "dumplinq": asQuery, "select": asQuery, "from": asQuery,
		"dumpdatatables": asQuery, "finddebugtrue": asQuery, "finddebugmodules": asQuery,
		"wtoken":          "dumpobj ADDRESS shows an object; flows shows the user of a request",
		"dumpfield":       "statics lists static fields, dumpobj the fields of an object, dumpclass those of a type",
		"convertvttodate": "dumpvc MT ADDRESS shows a DateTime in words, and dumpobj one in a field",
		"dumpbuckets":     "memory -malloc describes native memory, sizestats the GC's free blocks",
		"dumphistory":     "dumplog lists the messages of the stress log",
		// Native symbols, variables and signals in gdb and LLDB.
		"info variables":   "statics lists static fields, types the loaded types; names in native modules are not read",
		"info address":     "name2ee *!NAME finds types and methods; names in native modules are not read",
		"info breakpoints": live, "info break": live, "info b": live, "info watchpoints": live, "info display": live, "info program": live, "info checkpoints": live, "info record": live,
		"i b": live, "info macro": "eval takes expressions in C# syntax", "info macros": "eval takes expressions in C# syntax",
		"handle sigint": live, "handle all": live,
		"thread step-in": live, "thread step-over": live, "thread step-out": live, "thread step-inst": live, "thread until": live, "thread return": live, "thread plan": live,
		"thread continue": live, "thread jump": live, "process launch": live, "process attach": live, "process connect": live, "process interrupt": live, "process kill": live,
		"process signal": live, "process handle": live, "process load": live, "process unload": live, "process plugin": live, "process trace": live,
		"memory write": changes, "register write": changes, "memory history": "gcwhere and ln ADDRESS describe an address; dumplog -address ADDRESS lists what the stress log has of it",
		"memory tag": "memory -list shows the mappings",
		// What changes a process.
		"e": changes, "ea": changes, "eb": changes, "ed": changes, "ep": changes, "eq": changes, "eu": changes, "ew": changes, "eza": changes, "ezu": changes,
		"f": changes, "a": changes, "r=": changes, "set": changes, "fp": changes, "m": changes,
		// What runs one.
		"g": live, "gu": live, "gh": live, "gn": live, "gc!": live, "t": live, "ta": live, "tb": live, "tc": live, "tt": live, "p!": live, "pa": live, "pc": live, "pt": live, "pct": live,
		"wt": live, "ba": live, "bc": live, "bd": live, "be": live, "bl": live, "bm": live, "bp": live, "bu": live, "sx": live, "sxd": live, "sxe": live, "sxi": live,
		"sxn": live, "sxr": live, ".kill": live, ".restart": live, ".attach": live, "~f": live, "~u": live, "~n": live, "~m": live,
		"mbp": live, "mbm": live, "mbl": live, "mbc": live, "mgo": live, "mgu": live, "call": live, "continue": live, "c": live, "step": live, "next": live, "finish": live, "run": live,
		".childdbg": live, ".breakin": live, ".abandon": live, ".step_filter": live, ".create": live, ".wake": live, ".sleep": live, ".dvalloc": changes, ".dvfree": changes,
		"b": live, "br": live, "wa": live, "watchpoint": live, "rwatch": live, "awatch": live, "catch": live, "checkpoint": live, "checkpoints": live, "display": live, "deferred": live,
		"on": live, "condition": live, "rebuild": live, "rev": live, "toggle": live, "trace": live, "stepout": live, "step-instruction": live, "stepi": live, "nexti": live, "si": live, "ni": live,
		"until": live, "advance": live, "jump": live, "signal": live, "clearall": live, "delete": live, "enable": live, "disable": live,
		"start": live, "break": live, "tbreak": live, "breakpoint": live, "attach": live, "kill": live,
	}
})

// Alternatives of several commands.
const (
	live           = "it needs a live process"
	changes        = "it changes the process"
	forEach        = ".foreach (NAME {COMMAND}) {COMMAND NAME} runs a command for each word of an answer, and so does COMMAND | foreach COMMAND"
	pages          = "web shows the dump in a browser"
	filtersAnswers = "COMMAND | grep TEXT, | head, | sort and so on filter an answer; help | lists the filters"
	relative       = "files are named relative to the folder in which sosgo was started"
	plain          = "sosgo prints plain text"
	sources        = "sosgo shows no sources; clrstack has the files and lines of frames where PDB files are found"
	asScript       = "sosgo reads commands from standard input: sosgo DUMP < FILE"
	takesDump      = "sosgo collect -p PID takes a dump of a running .NET process"
	asQuery        = "query asks with conditions on fields: query \"from objects of TYPE | where FIELD > 1 | select this\""
	keepsGraph     = "it is not needed: the graph of the heap is made when an answer needs it; --graph-dir DIR keeps it"
)

// stressed is the alternative to SOS's history of an object or a root.
const stressed = "dumplog -address ADDRESS lists the messages of the stress log that name an object or a root, its promotions and relocations among them"

// unread maps SOS's commands about runtime structures that sosgo does not read to the reason. They fail as
// unsupported instead of as misspelled.
var unread = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"dumprcw":        builtInCOM + "; comwrappers lists the wrappers of ComWrappers",
		"dumpccw":        builtInCOM + "; comwrappers lists the wrappers of ComWrappers",
		"rcwcleanuplist": builtInCOM + ", and the list of those to be released is one of them",
		"comstate":       builtInCOM + ", and the contexts of threads are among them; clrthreads shows the apartments",
	}
})

// builtInCOM is the reason why sosgo reads nothing of Windows's built-in COM.
const builtInCOM = "the wrappers of Windows's built-in COM are structures that no runtime before .NET 11 describes, and that sosgo does not read, since no dump with one was available to prove it"

// NotThere returns the sorted names of other tools' commands that sosgo does not have.
func NotThere() []string { return slices.Sorted(maps.Keys(notThere())) }

// isNotThere returns the error for another tool's command, or nil for other names.
func isNotThere(name string) *UsageError {
	instead, known := notThere()[name]
	if !known {
		return nil
	}
	e := &UsageError{Text: name + " is not supported", Hint: listsCommands}
	switch name {
	case nativeNames:
		e.Text = "names of native types and variables are not read"
	case clrMD:
		e.Text = "the prompt takes commands, not expressions about classes of ClrMD"
	}
	if rest, live := strings.CutPrefix(instead, "it needs a live process"); live {
		e.Text, instead = name+" needs a live process; sosgo reads dumps", strings.TrimPrefix(rest, "; ")
	} else if instead == changes {
		e.Text, instead = name+" would change the process; sosgo only reads a dump", ""
	} else if rest, needless := strings.CutPrefix(instead, "it is not needed: "); needless {
		e.Text, instead = name+" is not needed: "+rest, ""
	}
	if instead != "" {
		e.Hint = "instead: " + instead
	}
	return e
}

// asTyped puts the command that was typed into an error about the one that it stands for.
func asTyped(err error, name, typed string) error {
	e, ok := err.(*UsageError)
	if !ok || name == "poi" || strings.ContainsAny(name, "@$ =") {
		return err // the error is about an argument
	}
	if rest, found := strings.CutPrefix(e.Text, strings.TrimPrefix(name, "!")+" "); found {
		return &UsageError{Text: typed + " " + rest, Hint: e.Hint}
	}
	return err
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

// listsCommands is the hint for commands that are not known.
const listsCommands = `"sosgo help all" lists the commands`
