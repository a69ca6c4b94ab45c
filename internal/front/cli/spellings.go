package cli

import (
	"regexp"
	"slices"
	"strings"
)

// A spelling maps a command of another debugger to sosgo's. In typed, NAME stands for one word and NAME... for all
// remaining words, possibly none; sosgo repeats them.
type spelling struct{ typed, sosgo string }

// spellings are tried in order; the first match is used.
var spellings = []spelling{
	// Stacks and threads in WinDbg.
	{"kd REST...", "dumpstack"}, {"wait REST...", "waits"},
	{"!uniqstack REST...", "parallelstacks"}, {"uniqstack REST...", "parallelstacks"},
	{".ecxr", "registers"}, {".excr", "registers"}, {".lastevent", "crashinfo"}, {"!analyze -hang REST...", "waits"}, {"!analyze REST...", "crashinfo"},
	{".exr REST...", "crashinfo"}, {"!gle REST...", "crashinfo"},
	{"!threads ARGS...", "clrthreads ARGS..."}, {".threads ARGS...", "threads ARGS..."}, {".thread", "threads"}, {".thread /p REST...", "threads"}, {".thread ID", "setthread ID"},
	{"!thread REST...", "threads -current -v"}, {"!teb REST...", "threads -v"}, {"!runaway REST...", "threads -times"},
	{".frame REST...", "clrstack -a"}, {"dv REST...", "clrstack -a"}, {"rm ARGS...", "registers ARGS..."}, {"rx ARGS...", "registers ARGS..."}, {"rf ARGS...", "registers ARGS..."},
	// The process, its memory and its modules in WinDbg.
	{"!peb REST...", "process"}, {"!dml_proc REST...", "process"}, {"!process REST...", "process"}, {".time REST...", "process"}, {".ttime REST...", "process"},
	{".echotime REST...", "process"},
	{"!sysinfo REST...", "doctor"}, {"!cpuid REST...", "doctor"}, {"!vm REST...", "memory"}, {"!memusage REST...", "memory"},
	{"procinfo REST...", "process"}, {"processinfo REST...", "process"}, {"vmstat REST...", "memory"}, {"vmmap REST...", "memory -list"},
	{"maddress REST...", "memory -list"}, {"!vadump REST...", "memory -list"}, {"!vprot ADDRESS", "ln ADDRESS"},
	{"!address -summary REST...", "memory"}, {"address -summary REST...", "memory"}, {"!address", "memory -list"}, {"address", "memory -list"},
	{"!address -a ADDRESS", "ln ADDRESS"}, {"!address ADDRESS", "ln ADDRESS"}, {"!address REST...", "memory"}, {"address ADDRESS", "ln ADDRESS"},
	{"!heap -p -a ADDRESS", "ln ADDRESS"}, {"!heap REST...", "memory -malloc"},
	{"!dlls REST...", "modules"}, {"!lmi NAME", "modules -v -name NAME"}, {"!dh NAME REST...", "modules -v -name NAME"}, {"!itoldyouso REST...", "doctor -files"},
	{"vertarget", "eeversion"}, {"x NAME", "name2ee NAME"},
	{"dt TYPE ADDRESS", "dumpobj ADDRESS"}, {"dt NAME", "name2ee *!NAME"},
	{"dds ARGS...", "dps ARGS..."}, {"dqs ARGS...", "dps ARGS..."}, {"dpa ARGS...", "dps ARGS..."}, {"dpu ARGS...", "dps ARGS..."}, {"dpp ARGS...", "dps ARGS..."},
	{"uf /c ADDRESS", "clru ADDRESS"}, {"uf ADDRESS", "clru ADDRESS"}, {"ub ADDRESS REST...", "clru ADDRESS"}, {"!u ARGS...", "clru ARGS..."},
	{"!da ARGS...", "dumparray ARGS..."}, {"!cs REST...", "locks"}, {"dlk REST...", "locks"}, {"!for_each_local REST...", "clrstack -a"},
	{".process REST...", "process"}, {".context REST...", "process"}, {".imgscan REST...", "modules"}, {".kframes COUNT", "clrstack -f -c COUNT"},
	// WinDbg itself.
	{".exit", "exit"}, {".quit", "exit"}, {".detach", "exit"}, {".q", "exit"}, {"qq", "exit"}, {"qd", "exit"}, {"q", "exit"}, {"quit", "exit"},
	{"soshelp ARGS...", "help ARGS..."}, {".help ARGS...", "help ARGS..."}, {".hh ARGS...", "help ARGS..."}, {"sosexhelp REST...", "help"}, {"h ARGS...", "help ARGS..."},
	{".cls", "cls"}, {".printf TEXT", ".echo TEXT"},
	{".logopen ARGS...", "logopen ARGS..."}, {".logappend ARGS...", "logopen -append ARGS..."}, {".logclose", "logclose"}, {".logfile", "logopen"},
	// gdb.
	{"bt -c COUNT", "clrstack -f -c COUNT"}, {"bt -full REST...", "clrstack -a -f"}, {"backtrace full REST...", "clrstack -a -f"}, {"backtrace -full REST...", "clrstack -a -f"},
	{"backtrace COUNT", "clrstack -f -c COUNT"}, {"where COUNT", "clrstack -f -c COUNT"}, {"taas REST...", "clrstack -f -all"},
	{"thread apply all bt full REST...", "clrstack -a -f -all"}, {"thread apply all backtrace REST...", "clrstack -f -all"}, {"thread apply all -q bt REST...", "clrstack -f -all"},
	{"thread find REST...", "findstack"},
	{"info inferiors", "process"}, {"info proc cmdline", "process"}, {"info proc map", "memory -list"}, {"info shared REST...", "modules"}, {"info sharedlibrary NAME", "modules -name NAME"},
	{"info thread REST...", "threads"}, {"info threads REST...", "threads"}, {"info vector", "registers -verbose"}, {"info float", "registers -verbose"}, {"info target", "doctor"},
	{"info dll", "modules"}, {"info all REST...", "registers -verbose"}, {"info line", "ls"}, {"info sos", "help"}, {"maint info sec REST...", "modules -segments"},
	{"py REST...", ".scriptload"}, {"pi REST...", ".scriptload"},
	{"info block", "clrstack -a"}, {"apropos REST...", "help all"}, {"echo ARGS...", ".echo ARGS..."}, {"set logging off", "logclose"}, {"set logging file FILE", "logopen FILE"},
	{"info exec", "process"}, {"info auxv", "doctor"}, {"info os REST...", "doctor"}, {"info mem", "memory"}, {"info sources", "ls"}, {"info source", "ls"},
	{"info all-registers", "registers -verbose"}, {"info types NAME", "types NAME"}, {"info functions NAME", "name2ee *!NAME"}, {"info scope REST...", "clrstack -a"},
	{"i r ARGS...", "registers ARGS..."}, {"i threads", "threads"}, {"ptype NAME", "name2ee *!NAME"}, {"maint info sections REST...", "modules -segments"},
	{"set var REST...", "set"}, {"set variable REST...", "set"}, {"set logging REST...", "log"}, {"set REST...", "settings"},
	{"show version", "version"}, {"show REST...", "settings"}, {"python REST...", ".scriptload"}, {"add-symbol-file REST...", ".sympath"}, {"symbol-file REST...", ".sympath"},
	{"file NAME", ".opendump"}, {"directory REST...", ".srcpath"}, {"dump memory REST...", ".writemem"}, {"find REST...", "s"}, {"detach", "exit"}, {"exit CODE", "exit"},
	{"disassemble /m", "disassemble"}, {"disassemble /r", "disassemble"}, {"disassemble /s", "disassemble"},
	{"disassemble /m ADDRESS", "clru ADDRESS"}, {"disassemble /r ADDRESS", "clru ADDRESS"}, {"disassemble /s ADDRESS", "clru ADDRESS"},
	{"bt full REST...", "clrstack -a -f"}, {"bt all", "clrstack -f -all"}, {"bt COUNT", "clrstack -f -c COUNT"}, {"bt", "clrstack -f"}, {"where", "clrstack -f"}, {"backtrace", "clrstack -f"},
	{"info threads", "threads"}, {"info registers ARGS...", "registers ARGS..."}, {"info reg ARGS...", "registers ARGS..."}, {"info sharedlibrary REST...", "modules"},
	{"info proc mappings REST...", "memory -list"}, {"info proc REST...", "doctor"}, {"info symbol ADDRESS", "ln ADDRESS"}, {"info line ADDRESS", "ln ADDRESS"},
	{"info locals", "clrstack -a"}, {"info args", "clrstack -p"}, {"info frame REST...", "clrstack -a"}, {"info files", "modules -segments"}, {"info signals REST...", "crashinfo"},
	{"thread apply all bt REST...", "clrstack -f -all"}, {"thread apply all where", "clrstack -f -all"},
	{"thread apply all clrstack ARGS...", "clrstack -all ARGS..."}, {"thread apply all dso ARGS...", "dso -all ARGS..."}, {"thread apply ID bt REST...", "clrstack ID -f"},
	{"!p REST...", "process"}, {"p ARGS...", "eval ARGS..."}, {"p/x ARGS...", "eval ARGS..."}, {"print ARGS...", "eval ARGS..."},
	{"!t REST...", "threads"}, {"t ID", "setthread ID"}, {"f NUMBER", "clrstack -a"}, {"frame REST...", "clrstack -a"},
	// LLDB.
	{"v REST...", "clrstack -a"}, {"fr v REST...", "clrstack -a"}, {"fr s REST...", "clrstack -a"}, {"fr i REST...", "clrstack -a"},
	{"th l REST...", "threads"}, {"th b ARGS...", "clrstack -f ARGS..."}, {"th i REST...", "threads -current -v"}, {"th sel ID", "setthread ID"},
	{"im li REST...", "modules"}, {"image lookup -rn NAME", "name2ee *!NAME"}, {"image lookup -vn NAME", "name2ee *!NAME"}, {"im loo -n NAME", "name2ee *!NAME"},
	{"im loo -rn NAME", "name2ee *!NAME"}, {"thread siginfo REST...", "crashinfo"}, {"thread exception REST...", "printexception"}, {"thread list REST...", "threads"},
	{"image list NAME", "modules -name NAME"}, {"target modules lookup -a ADDRESS", "ln ADDRESS"}, {"target modules dump REST...", "modules -segments"},
	{"target modules add REST...", ".sympath"},
	{"image lookup -t NAME", "types NAME"}, {"type lookup NAME", "types NAME"}, {"image lookup -s NAME", "name2ee *!NAME"}, {"image lookup -r -s NAME", "name2ee *!NAME"},
	{"image lookup -f NAME", "name2ee *!NAME"}, {"session save FILE", "logopen FILE"}, {"source info REST...", "ls"}, {"source list REST...", "ls"}, {"command history", "history"},
	{"register read --all", "registers -verbose"}, {"register read -a", "registers -verbose"}, {"re read ARGS...", "registers ARGS..."},
	{"image lookup -n NAME", "name2ee *!NAME"}, {"image lookup -r -n NAME", "name2ee *!NAME"}, {"image lookup -va ADDRESS", "ln ADDRESS"}, {"im loo -a ADDRESS", "ln ADDRESS"},
	{"image dump REST...", "modules -segments"}, {"target symbols REST...", ".sympath"}, {"target stop-hook REST...", "bp"},
	{"process info", "process"}, {"process save-core REST...", "gcore"}, {"process continue", "continue"}, {"process detach", "exit"}, {"expression ARGS...", "eval ARGS..."},
	{"command source REST...", "source"}, {"command script REST...", ".scriptload"}, {"command REST...", "as"}, {"script REST...", ".scriptload"}, {"memory find REST...", "s"},
	{"thread backtrace --count COUNT REST...", "clrstack -f -c COUNT"}, {"thread backtrace -e REST...", "clrstack -f"}, {"thread list", "threads"},
	{"thread backtrace all", "clrstack -f -all"}, {"thread backtrace ARGS...", "clrstack -f ARGS..."}, {"thread select ID", "setthread ID"},
	{"thread info", "threads -current -v"}, {"thread", "threads"}, {"thread ID", "setthread ID"}, {"image list REST...", "modules"}, {"target modules list REST...", "modules"},
	{"image lookup -a ADDRESS", "ln ADDRESS"}, {"image lookup --address ADDRESS", "ln ADDRESS"},
	{"register read ARGS...", "registers ARGS..."}, {"re r ARGS...", "registers ARGS..."}, {"memory read -c COUNT ADDRESS", "db -count COUNT ADDRESS"},
	{"memory read ADDRESS ARGS...", "db ADDRESS ARGS..."}, {"mem read ADDRESS ARGS...", "db ADDRESS ARGS..."}, {"me r ADDRESS ARGS...", "db ADDRESS ARGS..."},
	{"memory region --all", "memory -list"}, {"memory region ADDRESS", "ln ADDRESS"}, {"po ADDRESS", "dumpobj ADDRESS"},
	{"!di REST...", "doctor"}, {"di -s ADDRESS REST...", "clru ADDRESS"}, {"disassemble -a ADDRESS", "clru ADDRESS"}, {"disassemble -s ADDRESS REST...", "clru ADDRESS"},
	{"disassemble ADDRESS", "clru ADDRESS"}, {"disas ADDRESS", "clru ADDRESS"}, {"process status REST...", "crashinfo"},
	// Short names of SOS that dotnet-dump does not use, and Psscor.
	{"ao ARGS...", "analyzeoom ARGS..."}, {"tp ARGS...", "threadpool ARGS..."}, {"vh ARGS...", "verifyheap ARGS..."}, {"vo ADDRESS", "verifyobj ADDRESS"},
	{"iptomd ADDRESS", "ip2md ADDRESS"}, {"dumptimers REST...", "timerinfo"}, {"timers REST...", "timerinfo"}, {"clrstacks ARGS...", "clrstack -all ARGS..."},
	{"deadlock REST...", "waits"}, {"critlist REST...", "locks"}, {"deadlocks REST...", "waits"}, {"faq REST...", "help"}, {"clrusing REST...", "memory"},
	{"dumpcollection ADDRESS", "items ADDRESS"}, {"dumpdict ADDRESS", "items ADDRESS"}, {"dumplist ADDRESS", "items ADDRESS"}, {"dumptask ADDRESS", "dumpobj ADDRESS"},
	{"dumpstresslog ARGS...", "dumplog ARGS..."}, {"findnearobj ADDRESS", "listnearobj ADDRESS"}, {"help sos", "help"},
	{"dotnet-dump collect REST...", "gcore"}, {"dotnet-dump ps", ".tlist"},
	{"ildasm ADDRESS", "dumpil ADDRESS"}, {"decompile ADDRESS", "dumpil ADDRESS"},
	{"dumpallexceptions ARGS...", "dumpexceptions ARGS..."}, {"dae ARGS...", "dumpexceptions ARGS..."},
	{"aspxpages REST...", "dumprequests"}, {"dumphttpcontext REST...", "dumprequests"}, {"dumprequesttable REST...", "dumprequests"},
	{"gcusage REST...", "eeheap -gc"}, {"clrusage REST...", "memory"}, {"dumpthreadconfig", "threadpool"}, {"printipaddress ADDRESS", "dumpobj ADDRESS"},
	// SOSEX.
	{"finq ARGS...", "finalizequeue ARGS..."}, {"frq ARGS...", "finalizequeue -allready ARGS..."}, {"strings", "dumpheap -strings"}, {"mk ARGS...", "clrstack ARGS..."},
	{"mdt TYPE ADDRESS", "dumpobj ADDRESS"}, {"mdt ADDRESS", "dumpobj ADDRESS"}, {"mroot ADDRESS", "gcroot ADDRESS"}, {"refs -target ADDRESS", "referrers ADDRESS"},
	{"refs -source ADDRESS", "referents ADDRESS"},
	{"refs ADDRESS", "referrers ADDRESS"}, {"gch KIND ARGS...", "gchandles -type KIND ARGS..."}, {"gch ARGS...", "gchandles ARGS..."}, {"gcgen ADDRESS", "gcwhere ADDRESS"},
	{"mu ADDRESS", "clru ADDRESS"},
	{"muf ADDRESS", "clru ADDRESS"}, {"mx NAME", "name2ee *!NAME"}, {"mln ADDRESS", "ln ADDRESS"}, {"mdso ARGS...", "dumpstackobjects ARGS..."},
	{"mdv REST...", "clrstack -a"}, {"mframe REST...", "clrstack -a"}, {"mfrag REST...", "eeheap -gc"}, {"rwlock REST...", "locks"}, {"mlocks REST...", "locks"}, {"mwaits REST...", "waits"},
	// MEX.
	{"us -a", "parallelstacks -allthreads"}, {"us REST...", "parallelstacks"}, {"mthreads REST...", "clrthreads"}, {"clrstack2 REST...", "clrstack -a"},
	{"strings2 REST...", "dumpheap -strings"}, {"dumpaspnetcore REST...", "requests"}, {"crit REST...", "locks"}, {"runaway2 REST...", "threads -times"},
	{"eestack2 ARGS...", "eestack ARGS..."}, {"gcheapinfo REST...", "gcheapstat"}, {"displayobj ADDRESS", "dumpobj ADDRESS"},
	{"lmt REST...", "modules"}, {"lmtn REST...", "modules"}, {"lt REST...", "threads"}, {"tasktriage REST...", "waits"}, {"blockingtasks REST...", "waits"}, {"waitchain REST...", "waits"},
	{"taskinfo REST...", "tasks"}, {"sqlcmd REST...", "sqlpools"}, {"sqlclientconnections REST...", "sqlpools"}, {"critsec REST...", "locks"}, {"addr ADDRESS", "ln ADDRESS"},
	{"cn REST...", "process"}, {"findmodule NAME", "modules -name NAME"}, {"dumpdynamicassemblies REST...", "contexts"}, {"dda REST...", "contexts"}, {"aspnetcache REST...", "caches"},
	{"mheap REST...", "dumpheap -stat"}, {"mheap2 REST...", "dumpheap -stat"}, {"pe2 ARGS...", "printexception ARGS..."}, {"mprintexception ARGS...", "printexception ARGS..."},
	{"env REST...", "environment"}, {"evars REST...", "environment"}, {"cmdline REST...", "process"}, {"uptime REST...", "process"}, {"modulelist REST...", "modules"},
	{"methods TYPE", "name2ee *!TYPE"}, {"sockets REST...", "httpclients"},
	{"dotnetruntime", "eeversion"}, {"clrver", "eeversion"}, {"!ver", "eeversion"}, {"aspxpagesext REST...", "dumprequests"}, {"ddt TYPE ADDRESS", "dumpobj ADDRESS"},
	{"do2 ADDRESS", "dumpobj ADDRESS"}, {"sqlcn REST...", "sqlpools"}, {"httpclient REST...", "httpclients"}, {"writemodule ADDRESS FILE", "savemodule ADDRESS FILE"},
	// netext.
	{"wheap", "dumpheap -stat"}, {"wheap ARGS...", "dumpheap ARGS..."}, {"wdo ADDRESS", "dumpobj ADDRESS"}, {"wdae", "dumpexceptions"}, {"wpe ARGS...", "printexception ARGS..."},
	{"wthreads", "clrthreads"}, {"wclrstack ARGS...", "clrstack ARGS..."}, {"wk ARGS...", "clrstack ARGS..."}, {"wstack", "dumpstackobjects"}, {"wclass ADDRESS", "dumpclass ADDRESS"},
	{"wgchandle REST...", "gchandles"},
	{"whttp REST...", "dumprequests"}, {"wruntime", "process"}, {"wconfig REST...", "process"}, {"wmodule REST...", "modules"}, {"wver", "eeversion"},
	{"wdict ADDRESS", "items ADDRESS"}, {"whash ADDRESS", "items ADDRESS"}, {"wconcurrentdict ADDRESS", "items ADDRESS"}, {"wkeyvalue ADDRESS", "items ADDRESS"}, {"wsql", "sqlpools"},
	{"wdo -forcearray ADDRESS", "dumparray ADDRESS"}, {"wdomain REST...", "dumpdomain"}, {"wsetruntime ID", "runtimes ID"}, {"wpool REST...", "threadpool"}, {"wtime REST...", "process"},
	{"wxml ADDRESS", "dumpobj ADDRESS"}, {"wstr ADDRESS", "dumpobj ADDRESS"}, {"wcookie REST...", "requests"}, {"wmakesource REST...", "ls"}, {"wopensource REST...", "ls"},
	// Delve.
	{"goroutines REST...", "threads"}, {"grs REST...", "threads"}, {"goroutine", "threads -current"}, {"goroutine ID", "setthread ID"}, {"gr ID", "setthread ID"},
	{"tr ID", "setthread ID"}, {"config -list REST...", "process"},
	{"stack -full REST...", "clrstack -a -f"}, {"stack COUNT -full REST...", "clrstack -a -f -c COUNT"}, {"stack COUNT", "clrstack -f -c COUNT"}, {"stack", "clrstack -f"},
	{"locals REST...", "clrstack -a"}, {"args REST...", "clrstack -p"}, {"vars NAME", "statics NAME"}, {"regs -a", "registers -verbose"}, {"regs", "registers"},
	{"funcs NAME", "name2ee *!NAME"},
	{"sources REST...", "ls"}, {"libraries", "modules"}, {"transcript -off", "logclose"}, {"transcript FILE", "logopen FILE"}, {"dump FILE", "gcore"},
	// sosgo's own, for a process instead of a dump.
	{"triage -p", "collect -then triage -p"}, {"triage --pid", "collect -then triage -p"},
	{"triage -p PID REST...", "collect -then triage -p PID REST..."}, {"triage --pid PID REST...", "collect -then triage -p PID REST..."},
	// The shell.
	{"clear", "cls"},
}

// refined are spellings of sosgo's own commands with options and arguments of other tools.
var refined = []spelling{
	{"u ADDRESS LENGTH", "clru ADDRESS"}, {"clru ADDRESS LENGTH", "clru ADDRESS"},
	{"dumpgen GENERATION -stat", "dumpgen GENERATION"}, {"dumpgen GENERATION -stat ARGS...", "dumpgen GENERATION ARGS..."},
	{"dg GENERATION -stat", "dumpgen GENERATION"},
	{"dumpheap gen0 ARGS...", "dumpheap -gen gen0 ARGS..."}, {"dumpheap gen1 ARGS...", "dumpheap -gen gen1 ARGS..."}, {"dumpheap gen2 ARGS...", "dumpheap -gen gen2 ARGS..."},
	{"dumpheap loh ARGS...", "dumpheap -gen loh ARGS..."}, {"dumpheap poh ARGS...", "dumpheap -gen poh ARGS..."}, {"dumpheap foh ARGS...", "dumpheap -gen foh ARGS..."},
	{"dumpheap -loh ARGS...", "dumpheap -gen loh ARGS..."}, {"dumpheap -poh ARGS...", "dumpheap -gen poh ARGS..."}, {"dumpheap -foh ARGS...", "dumpheap -gen foh ARGS..."},
	{"dumpheap -gcheap NUMBER ARGS...", "dumpheap -heap NUMBER ARGS..."},
	{"dumpheap -startatlowerbound ADDRESS ARGS...", "dumpheap ADDRESS ARGS..."},
	{"objsize --all", "objsize"}, {"objsize -all", "objsize"}, {"objsize -aggregate REST...", "objsize"}, {"dumpheap -t TYPE ARGS...", "dumpheap -type TYPE ARGS..."},
	{"dumpstack -n ARGS...", "dumpstack ARGS..."}, {"dumpstack -ee -n ARGS...", "dumpstack -ee ARGS..."}, {"dumpmodule -prof ADDRESS", "dumpmodule ADDRESS"}, {"locks -v", "locks"},
	{"analyze -v REST...", "crashinfo"}, {"analyze -hang REST...", "waits"}, {"dumplog -addr ADDRESS", "dumplog -address ADDRESS"}, {"dumplog FILE", "stresslog>"},
	{"heapstat -inclunrooted", "gcheapstat -unreachable"}, {"heapstat -iu", "gcheapstat -unreachable"},
	{"gcheapstat -inclunrooted", "gcheapstat -unreachable"}, {"gcheapstat -iu", "gcheapstat -unreachable"},
}

// isPhrase reports whether more than the first word is fixed, as in "info threads".
func (sp *spelling) isPhrase() bool {
	_, second, found := strings.Cut(sp.typed, " ")
	second, _, _ = strings.Cut(second, " ")
	return found && second != strings.ToUpper(second) && !strings.HasSuffix(second, "...")
}

// match translates words by sp. ok is false if words do not match.
func (sp *spelling) match(words []word) (out []word, ok bool) {
	if first, _, _ := strings.Cut(sp.typed, " "); len(words) == 0 || words[0].literal || !strings.EqualFold(words[0].text, first) {
		return nil, false
	}
	named := map[string][]word{}
	typed := strings.Fields(sp.typed)
	for i, t := range typed {
		fixed := i == 0 || t != strings.ToUpper(t)
		switch {
		case strings.HasSuffix(t, "..."):
			named[t] = words[i:]
			words = words[:i]
		case i >= len(words) || words[i].literal && fixed:
			return nil, false
		case !fixed && words[i].isOption():
			return nil, false
		case !fixed:
			named[t] = words[i : i+1]
		case !strings.EqualFold(words[i].text, t):
			return nil, false
		}
	}
	if len(words) > len(typed) {
		return nil, false
	}
	for _, f := range strings.Fields(sp.sosgo) {
		if w, isName := named[f]; isName {
			out = append(out, w...)
		} else if w, isName := named[strings.TrimPrefix(f, "*!")]; isName { // all modules, unless one is named
			if !strings.Contains(w[0].text, "!") {
				w[0].text = "*!" + w[0].text
			}
			out = append(out, w...)
		} else {
			out = append(out, word{text: f})
		}
	}
	return out, true
}

// fromDebugger translates another debugger's command to sosgo's.
func (t *table) fromDebugger(words []word) []word {
	if len(words) == 0 || words[0].literal {
		return words
	}
	words = places(t.ofExtension(words))
	if phrase := phraseNotThere(words); phrase != nil {
		return phrase
	}
	if out := translated(words); out != nil {
		return out
	}
	first := strings.ToLower(words[0].text)
	if first == "?" && len(words) > 1 && t.named(strings.TrimPrefix(words[1].text, "!")) == nil {
		return calculation(words[1:]) // a single ? is help
	}
	own := t.named(first) != nil && first != "q"
	plain := words
	if name, ok := strings.CutPrefix(words[0].text, "!"); ok {
		plain = append([]word{{text: name}}, words[1:]...)
	}
	for i := range refined {
		if out, ok := refined[i].match(plain); ok {
			return out
		}
	}
	if t.named(plain[0].text) != nil {
		plain = words
	}
	for i := range spellings {
		if own && !spellings[i].isPhrase() {
			continue // sosgo's own command of that name takes precedence
		}
		for _, w := range [...][]word{words, plain} {
			if out, ok := spellings[i].match(w); ok {
				return stackArguments(out)
			}
		}
	}
	return words
}

// translated translates commands with a syntax that a spelling can't describe. It returns nil for others.
func translated(words []word) []word {
	name := strings.ToLower(strings.TrimPrefix(words[0].text, "!"))
	behind := words[1:]
	for _, try := range [...]func([]word) []word{examine, listModules, stackCommand, memoryForm, registerList, readMemory, readRegisters, disassembled, printed, ofSosex} {
		if out := try(words); out != nil {
			return out
		}
	}
	switch {
	case isScript(name):
		return []word{{text: "$<"}}
	case ofClrMD.submatches(name) != nil:
		return []word{{text: clrMD}}
	case name == "whatis" && len(behind) > 0 && !isAddress(behind[0].text):
		return calculation(behind) // Delve's, of an expression
	case name == ".echo" || name == "echo":
		for i := range behind {
			behind[i].literal = true
		}
		return append([]word{{text: ".echo"}}, behind...)
	case slices.ContainsFunc(behind, func(w word) bool { return !w.literal && strings.Contains(w.text, "poi(") }):
		return []word{{text: "poi"}}
	case name == "??" || name == "dx" || name == ".formats":
		return calculation(behind)
	case name == "dt" && len(behind) == 1 && isAddress(behind[0].text):
		return append([]word{{text: "dumpobj"}}, behind...)
	case name == "info" && len(behind) == 2 && strings.EqualFold(behind[0].text, "line") && strings.HasPrefix(behind[1].text, "*"):
		return []word{{text: "ln"}, {text: behind[1].text[1:]}}
	case name == "dt" && len(behind) > 1 && behind[0].isOption():
		return translated(append([]word{words[0]}, behind[1:]...))
	case name == "dt" && len(behind) > 1 && !strings.Contains(behind[0].text, "!_"):
		return append([]word{{text: "dumpobj"}}, behind[1:]...)
	case (name == "dt" || name == "x") && len(behind) > 0 && (strings.Contains(behind[0].text, "::") || strings.Contains(behind[0].text, "!_")):
		return []word{{text: nativeNames}}
	case name == "x" && len(behind) == 1 && isAddress(behind[0].text):
		return append([]word{{text: "d"}}, behind...)
	case name == "x" && len(behind) > 1 && len(behind[0].text) > 1 && strings.HasPrefix(behind[0].text, "/"):
		if isAddress(behind[1].text) || strings.ContainsAny(behind[1].text[:1], "$@") {
			return examine(append([]word{{text: "x" + behind[0].text}}, behind[1:]...)) // gdb's x /8gx
		}
		return translated(append([]word{words[0]}, behind[1:]...)) // WinDbg's options about the form
	case name == "x" && len(behind) == 1 && strings.Contains(strings.TrimPrefix(behind[0].text, "*!"), "*"):
		if !strings.Contains(behind[0].text, "!") {
			behind = []word{{text: "*!" + behind[0].text}}
		}
		return append([]word{{text: "name2ee"}}, behind...)
	case name == ".printf" && len(behind) > 1:
		return []word{{text: ".printf"}}
	}
	return nil
}

// isAddress reports whether text is an address with so many digits, or a prefix, that it is no name.
func isAddress(text string) bool {
	_, err := ParseAddress(text)
	return err == nil && (len(text) >= 8 || strings.HasPrefix(text, "0x"))
}

// stackCommands matches WinDbg's k with letters for what it shows, and the number of frames.
var stackCommands = newPattern("kK", `^(?i)k([bcflmnpv]*)(\d*)$`)

// stackCommand translates k, kPn, kb 100 and kb100. It returns nil for other commands.
func stackCommand(words []word) []word {
	m := stackCommands.submatches(strings.TrimPrefix(words[0].text, "!"))
	if m == nil {
		return nil
	}
	out := []word{{text: "clrstack"}, {text: "-f"}}
	if m[2] != "" {
		out = append(out, word{text: "-c"}, word{text: m[2]})
	}
	return stackArguments(append(out, words[1:]...))
}

// showsMemory matches WinDbg's commands that show memory.
var showsMemory = newPattern("dD", `^(?i)d[abcdpquw][apsu]?$`)

// memoryForm translates the arguments of WinDbg's commands that show memory: L with the number of elements behind a
// blank (dd ADDRESS l 4), and the columns of a row (dq /c1 ADDRESS). It returns nil for other commands and arguments.
func memoryForm(words []word) []word {
	if showsMemory.submatches(words[0].text) == nil {
		return nil
	}
	out, changed := words[:1:1], false
	for i := 1; i < len(words); i++ {
		w, last := words[i], i == len(words)-1
		columns := columnsOf().FindStringSubmatch(w.text)
		switch {
		case w.literal:
		case columns != nil && columns[1] != "":
			out, changed = append(out, word{text: "-width"}), true
			w.text = columns[1]
		case columns != nil && !last:
			w.text, changed = "-width", true
		case strings.EqualFold(w.text, "L") && i == len(words)-2 && i > 1:
			w.text, changed = "L"+words[i+1].text, true
			i++
		}
		out = append(out, w)
	}
	if !changed {
		return nil
	}
	return out
}

// columnsOf matches WinDbg's option for the columns of a row: /c4, or /c before the number.
var columnsOf = lazyRegexp(`^(?i)/c(\d*)$`)

// registerList translates WinDbg's r with names joined by commas, and recognizes its assignment. It returns nil for
// other commands.
func registerList(words []word) []word {
	if !strings.EqualFold(words[0].text, "r") || len(words) < 2 {
		return nil
	}
	out, joined := []word{{text: "registers"}}, false
	for _, w := range words[1:] {
		if strings.Contains(w.text, "=") {
			return []word{{text: "r="}}
		}
		joined = joined || strings.Contains(w.text, ",")
		for name := range strings.SplitSeq(w.text, ",") {
			if name != "" {
				out = append(out, word{text: name})
			}
		}
	}
	if !joined {
		return nil
	}
	return out
}

// decimals matches WinDbg's decimal numbers.
var decimals = lazyRegexp(`(^|[^\w])0n(\d+)`)

// beginsWithRegister matches a register and what is added to it.
var beginsWithRegister = lazyRegexp(`^(\w+)([-+*/].*)?$`)

// calculation translates the arguments of WinDbg's ?, ??, dx and .formats: 0n before decimal numbers, registers without @,
// and options about the form.
func calculation(words []word) []word {
	out := []word{{text: "eval"}}
	for _, w := range words {
		m := beginsWithRegister().FindStringSubmatch(w.text)
		switch {
		case w.literal:
		case w.isOption() && len(w.text) > 1 && strings.ContainsAny(w.text[1:2], "grvcnx"):
			continue
		case strings.HasPrefix(w.text, "@$"):
			return []word{{text: "@$"}}
		case decimals().MatchString(w.text):
			w.text = decimals().ReplaceAllString(w.text, "$1$2")
		case m != nil && IsRegister(m[1]):
			w.text = "@" + w.text
		}
		out = append(out, w)
	}
	return out
}

// Entries of notThere for more than one word.
const (
	nativeNames = "native names"   // of types and variables
	typedMemory = "memory read -t" // LLDB's form that shows memory as a type
	clrMD       = "clrmd"          // its classes
)

// ofClrMD matches an expression about ClrMD's objects, as C# and interactive tools have it.
var ofClrMD = newPattern("cdhrCDHR", `^(?i)(clrmd$|(datatarget|clrruntime|runtime|clrheap|heap|clrthread|clrobject|clrinfo|clrtype)\.\w)`)

var (
	// listedModules matches WinDbg's lm with its options: the letters, and after m the pattern, which may be glued to them.
	listedModules = newPattern("lL", `^(?i)lm(d?)([a-z0-9]*?)(?:m(.*))?$`)
	isLetters     = lazyRegexp(`^(?i)(sm|[fkuvtndl1oa])+$`)
)

// listModules translates WinDbg's lm: letters as options, m and a pattern, a and an address. It returns nil for other
// commands, and for lm with options of sosgo.
func listModules(words []word) []word {
	name := words[0].text
	m := listedModules.submatches(name)
	if m == nil || m[2] != "" && !isLetters().MatchString(m[2]) {
		return nil
	}
	out := []word{{text: "modules"}}
	if strings.ContainsAny(m[2], "vV") {
		out = append(out, word{text: "-v"})
	}
	pattern, wants := m[3], strings.HasSuffix(strings.ToLower(name[2:]), "m") && m[3] == ""
	if strings.ContainsAny(m[2], "aA") && len(words) == 2 {
		return append(out, word{text: "-address"}, words[1])
	}
	for i := 1; i < len(words); i++ {
		w := words[i]
		last := i == len(words)-1
		switch lower := strings.ToLower(w.text); {
		case wants:
			pattern, wants = w.text, false
		case lower == "vm" && !last:
			out, wants = append(out, word{text: "-v"}), true
		case w.literal || w.isOption():
			return nil
		case lower == "m" && !last:
			wants = true
		case lower == "a" && !last:
			out = append(out, word{text: "-address"}, words[i+1])
			i++
		case lower == "v":
			out = append(out, word{text: "-v"})
		case !isLetters().MatchString(lower):
			return nil
		}
	}
	if pattern != "" {
		out = append(out, word{text: "-name"}, word{text: fileGlob(pattern)})
	}
	return out
}

// fileGlob returns the regular expression of a pattern with * and ? for the name of a file, with or without its
// extension. A pattern without either finds a part of the name.
func fileGlob(pattern string) string {
	if !strings.ContainsAny(pattern, "*?") {
		return regexp.QuoteMeta(pattern)
	}
	expr := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(pattern))
	if middle, open := strings.CutPrefix(expr, ".*"); open {
		expr = middle
	} else {
		expr = "^" + expr
	}
	if middle, open := strings.CutSuffix(expr, ".*"); open {
		return middle
	}
	return expr + `(\.[^.]*)?$`
}

// extensions are the names of debugger extensions that may stand before a command without its exclamation mark, too:
// sos.dumpheap.
var extensions = []string{"sos", "ext", "exts", "sosex", "mex", "netext", "psscor2", "psscor4", "ntsdexts", "uext"}

// ofExtension removes the name of a debugger extension: sos dumpheap, !sos.dumpheap, !mex.us.
func (t *table) ofExtension(words []word) []word {
	first := strings.ToLower(strings.TrimPrefix(words[0].text, "!"))
	if (first == "sos" || first == "ext") && len(words) > 1 {
		return bang(words[1:])
	}
	if extension, name, found := strings.Cut(first, "."); found && name != "" && notThere()[first] == "" && (slices.Contains(extensions, extension) || extension != "" && words[0].text[0] == '!') {
		return bang(append([]word{{text: name}}, words[1:]...))
	}
	return words
}

// bang prefixes a command with !, which selects SOS's command.
func bang(words []word) []word {
	if strings.HasPrefix(words[0].text, "!") {
		return words
	}
	return append([]word{{text: "!" + words[0].text}}, words[1:]...)
}
