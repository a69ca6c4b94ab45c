package commands_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
)

// runSpelling runs sosgo and returns its exit code and output.
func runSpelling(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	env := keep(t, args[slices.IndexFunc(args, func(a string) bool { return strings.HasSuffix(a, ".zst") })])
	env.Commands, env.Threads, env.Limits, env.Mask = commands.All(), commands.Threads, commands.Limits(), commands.Mask
	code = cli.Main(t.Context(), args, strings.NewReader(""), &out, &errs, env)
	return code, out.String(), errs.String()
}

// TestSpellings checks that commands of WinDbg, SOS, gdb and LLDB print the same as sosgo's own commands.
func TestSpellings(t *testing.T) {
	const dump = "../../../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst"
	_, list, _ := runSpelling(t, "-d", dump, "dumpheap", "-short", "-type", "System.String")
	require.NotEmpty(t, list)
	object := strings.Fields(list)[0]
	for typed, plain := range map[string]string{
		"!DumpObj /d OBJECT":                     "dumpobj OBJECT",
		"!do OBJECT":                             "dumpobj OBJECT",
		"po OBJECT":                              "dumpobj OBJECT",
		"dt System.String OBJECT":                "dumpobj OBJECT",
		"dumpheap /stat":                         "dumpheap -stat",
		"!DumpHeap /d -stat":                     "dumpheap -stat",
		"!threads":                               "clrthreads",
		"!sos.threads":                           "clrthreads",
		"sos threads":                            "clrthreads",
		".threads":                               "threads",
		"k":                                      "clrstack -f",
		"kb 3":                                   "clrstack -f -c 3",
		"kn":                                     "clrstack -f",
		"bt":                                     "clrstack -f",
		"!soshelp dumpheap":                      "help dumpheap",
		"!k":                                     "clrstack -f",
		"!finq -stat":                            "finalizequeue -stat",
		"!ao":                                    "analyzeoom",
		"!tp":                                    "threadpool",
		"!vh":                                    "verifyheap",
		"!dae -live":                             "dumpexceptions -live",
		"strings":                                "dumpheap -strings",
		"!mk":                                    "clrstack",
		"!mdt OBJECT":                            "dumpobj OBJECT",
		"!mroot OBJECT":                          "gcroot OBJECT",
		"!mx System.String":                      "name2ee *!System.String",
		"p $rsp":                                 "eval @rsp",
		"x/2gx $rsp":                             "dq -count 2 rsp",
		"bt 2":                                   "clrstack -f -c 2",
		"~*k":                                    "~*e clrstack -f",
		"~0s":                                    "setthread 0",
		"!clrstack -a":                           "clrstack -a",
		"!eestack -short":                        "eestack -short",
		"info threads":                           "threads",
		"info registers rsp":                     "registers rsp",
		"thread apply all bt":                    "clrstack -f -all",
		"thread backtrace all":                   "clrstack -f -all",
		"!analyze -v":                            "crashinfo",
		".exr -1":                                "crashinfo",
		".ecxr":                                  "registers",
		"r @rsp":                                 "registers rsp",
		"lm":                                     "modules",
		"lmvm coreclr":                           "modules -v -name coreclr",
		"x/4gx OBJECT":                           "dq OBJECT -count 4",
		"memory read OBJECT":                     "db OBJECT",
		"memory read -c 32 OBJECT":               "db OBJECT -count 32",
		"memory read -s 8 -f x -c 4 OBJECT":      "dq OBJECT -count 4",
		"memory read -f x -c 4 OBJECT":           "dd OBJECT -count 4",
		"examinemem -count 16 OBJECT":            "db OBJECT -count 16",
		"dds OBJECT L4":                          "dps OBJECT L4",
		"dqs OBJECT":                             "dps OBJECT",
		"? 1+1":                                  "eval 1+1",
		"?? 1+1":                                 "eval 1+1",
		"p 1+1":                                  "eval 1+1",
		"dx 1+1":                                 "eval 1+1",
		"x System.Private.CoreLib!System.String": "name2ee System.Private.CoreLib!System.String",
		"x System.Private.CoreLib!*PulseAll*":    "name2ee System.Private.CoreLib!*PulseAll*",
		"x *PulseAll*":                           "name2ee *!*PulseAll*",
		"clrstack /?":                            "help clrstack",
		"dt System.String":                       "name2ee *!System.String",
		"!address OBJECT":                        "ln OBJECT",
		"address OBJECT":                         "ln OBJECT",
		"!address -summary":                      "memory",
		"address -summary":                       "memory",
		"!address":                               "memory -list",
		"vmstat":                                 "memory",
		"vmmap":                                  "memory -list",
		"procinfo":                               "process",
		"!peb":                                   "process",
		".time":                                  "process",
		"maddress":                               "memory -list",
		"maddress -summary":                      "memory -list",
		"info proc mappings":                     "memory -list",
		"memory region --all":                    "memory -list",
		"mem read OBJECT":                        "db OBJECT",
		"me r OBJECT":                            "db OBJECT",
		"dt OBJECT":                              "dumpobj OBJECT",
		"info line *OBJECT":                      "ln OBJECT",
		"thread apply all clrstack":              "clrstack -all",
		"thread apply all dso":                   "dso -all",
		"h clrstack":                             "help clrstack",
		"lm vm coreclr":                          "modules -v -name coreclr",
		"memory region OBJECT":                   "ln OBJECT",
		"? dumpobj":                              "help dumpobj",
		"dumpobj -?":                             "help dumpobj",
		"dumpheap -stat | less":                  "dumpheap -stat",
		"dumpheap -stat | more":                  "dumpheap -stat",
	} {
		typed, plain = strings.ReplaceAll(typed, "OBJECT", object), strings.ReplaceAll(plain, "OBJECT", object)
		code, out, errs := runSpelling(t, "-d", dump, "-c", typed)
		wantCode, want, wantErrs := runSpelling(t, "-d", dump, "-c", plain)
		assert.Equal(t, wantCode, code, "%s: %s", typed, errs)
		assert.Equal(t, want, out, typed)
		assert.Equal(t, wantErrs, errs, typed)
		assert.NotEqual(t, cli.ExitUsage, wantCode, "%s: %s", plain, wantErrs)
	}
	for _, quit := range []string{"q", "qq", "quit", "exit", ".exit", "qd"} {
		code, out, errs := runSpelling(t, "-d", dump, "-c", quit, "-c", "eval 1+1")
		assert.Zero(t, code, quit)
		assert.Empty(t, out+errs, quit)
	}
	_, byRegister, _ := runSpelling(t, "-d", dump, "-c", "dq rsp L4")
	_, byAt, errs := runSpelling(t, "-d", dump, "-c", "dq @rsp L4")
	assert.NotEmpty(t, byAt, errs)
	assert.Equal(t, byAt, byRegister)
}

// TestWaysToNameADump checks the orders of a command, its dump and its file.
func TestWaysToNameADump(t *testing.T) {
	const dump = "../../../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst"
	_, want, _ := runSpelling(t, "-d", dump, "dumpheap", "-stat", "-type", "String")
	require.NotEmpty(t, want)
	for _, args := range [][]string{
		{"dumpheap", dump, "-stat", "-type", "String"},
		{"dumpheap", "-stat", "-type", "String", dump},
		{"-d", dump, "dumpheap -stat -type String"},
		{dump, "dumpheap -stat -type String"},
		{"-z", dump, "-c", "!dumpheap -stat -type String"},
		{"--core", dump, "dumpheap", "-stat", "-type", "String"},
		{"analyze", dump, "--command", "dumpheap -stat -type String"},
	} {
		code, out, errs := runSpelling(t, args...)
		assert.Zero(t, code, errs)
		assert.Equal(t, want, out, args)
	}
	file := filepath.Join(t.TempDir(), "out.html")
	code, _, errs := runSpelling(t, "-d", "../../../../testdata/dumps/net10-crash-null-triage/net10-crash-null-triage.dmp.zst", "report", file)
	assert.Zero(t, code, errs)
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.NotZero(t, info.Size())
}

// TestRetainedTypes checks that retained accepts a type, or a part of its name, instead of an object.
func TestRetainedTypes(t *testing.T) {
	const dump = "../../../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst"
	for typed, want := range map[string]string{
		"retained System.String":          "System.String",
		"retained ystem.Strin":            "System.String",
		"retained -garbage System.String": "System.String",
		"retained -top 1 -min 10k String": "System.String",
	} {
		code, out, errs := runSpelling(t, "-d", dump, "-json", "-c", typed)
		require.Zero(t, code, "%s: %s", typed, errs)
		var doc struct {
			Result struct{ Rows []struct{ Name string } }
		}
		require.NoError(t, json.Unmarshal([]byte(out), &doc), typed)
		require.NotEmpty(t, doc.Result.Rows, typed)
		assert.Equal(t, want, doc.Result.Rows[0].Name, typed)
		for _, row := range doc.Result.Rows {
			assert.Contains(t, row.Name, "Strin", typed)
		}
	}
	code, out, errs := runSpelling(t, "-d", dump, "retained", "Nosuch.Type")
	assert.Zero(t, code)
	assert.NotContains(t, out, "System.")
	assert.Contains(t, errs, `no type on the heap has "Nosuch.Type" in its name`)
	_, list, _ := runSpelling(t, "-d", dump, "dumpheap", "-short", "-type", "System.String")
	for _, wrong := range [][]string{{"System.String", "1234"}, {"-garbage", strings.Fields(list)[0]}, {"-gen", "System.String"}} {
		code, _, errs = runSpelling(t, append([]string{"-d", dump, "retained"}, wrong...)...)
		assert.Equal(t, cli.ExitUsage, code, "%s: %s", wrong, errs)
	}
}

// TestQueryHelp checks the statements in query's help about types, paths, generations and the last address.
func TestQueryHelp(t *testing.T) {
	const dump = "../../../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst"
	for line, want := range map[string]string{
		"query from objects of List | select type | top 1":           `System\.Collections\.Generic\.List<`,
		"query from dead | select path(this) | top 1":                `(?m)^ *null$`,
		"query from objects | group by gen | select count()":         `(?m) frozen$`,
		"query from objects | where gen == \"loh\" | select gen":     `(?m)^loh$`,
		"query from objects of System.String | select this | top 1 ": `1 row`,
		"query from threads | select osid, user | top 1":             `(?m)^processor times of threads: not in the dump; cores of the kernel, and minidumps with thread information, have them`,
	} {
		code, out, errs := runSpelling(t, "-d", dump, "-c", line)
		assert.Zero(t, code, "%s: %s", line, errs)
		assert.Regexp(t, want, out, line)
	}
	_, list, _ := runSpelling(t, "-d", dump, "dumpheap", "-short", "-type", "Exception")
	addresses := strings.Fields(list)
	for filter, want := range map[string]string{"": addresses[len(addresses)-1], " | head -n 2": addresses[1]} {
		code, out, errs := runSpelling(t, "-d", dump, "-c", "dumpheap -short -type Exception"+filter, "-c", "eval $_")
		assert.Zero(t, code, errs)
		assert.Contains(t, out, "0x"+want+" ")
	}
}

// readHabits returns the rows of testdata/habits.txt with words of the dump in place of their names.
func readHabits(t *testing.T, words map[string]string) (rows [][2]string) {
	t.Helper()
	text, err := os.ReadFile("testdata/habits.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		typed, rest, found := strings.Cut(line, " => ")
		i := strings.LastIndex(rest, " | ")
		require.True(t, found && i > 0, line)
		row := [2]string{typed, rest[:i]}
		for name, word := range words {
			named := regexp.MustCompile(`(^|[^-\w])` + name + `\b`)
			for j := range row {
				row[j] = named.ReplaceAllString(row[j], "${1}"+word)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// TestHabits checks that what people type in other tools does what it means, or is refused with the command that does,
// in a session and as the arguments of sosgo.
func TestHabits(t *testing.T) {
	const dump = "../../../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst"
	const kind = "Debuggee.Zoo.Dog"
	first := func(line string) string {
		_, out, errs := runSpelling(t, "-d", dump, "-c", line)
		fields := strings.Fields(out)
		require.NotEmpty(t, fields, "%s: %s", line, errs)
		return fields[0]
	}
	field := func(line, label string) string {
		_, out, _ := runSpelling(t, "-d", dump, "-c", line)
		_, behind, found := strings.Cut(out, label)
		require.True(t, found, "%s: %s", line, out)
		return strings.Fields(behind)[0]
	}
	words := map[string]string{"TYPE": kind, "STRING": first("dumpheap -short -type System.String"),
		"ARRAY": first("dumpheap -short -type Zoo.Point[]"), "IMAGE": first("modules -name libcoreclr"), "MT": field("name2ee *!"+kind, "MethodTable:")}
	words["OBJECT"] = first("dumpheap -short -mt " + words["MT"])
	_, frame, _ := runSpelling(t, "-d", dump, "-c", "clrstack | grep Scenario.Hold")
	words["CODE"] = strings.Fields(frame)[1]
	words["MD"], words["MODULE"] = field("ip2md "+words["CODE"], "MethodDesc:"), field("ip2md "+words["CODE"], "Module:")
	rows := readHabits(t, words)
	require.Greater(t, len(rows), 500)
	dir := t.TempDir()
	for i, row := range rows {
		run := func(line string, asArguments bool) (int, string, string) {
			file := filepath.Join(dir, fmt.Sprint(i))
			_ = os.Remove(file)
			args := []string{"-d", dump, "-c", strings.ReplaceAll(line, "FILE", file)}
			if asArguments {
				args = append([]string{"-d", dump}, strings.Fields(line)...)
			}
			code, out, errs := runSpelling(t, args...)
			return code, strings.ReplaceAll(out, file, "FILE"), strings.ReplaceAll(errs, file, "FILE")
		}
		typed, plain := row[0], row[1]
		code, out, errs := run(typed, false)
		if refusal, refused := strings.CutPrefix(plain, "! "); refused {
			assert.NotZero(t, code, typed)
			assert.Contains(t, errs, refusal, typed)
		} else {
			wantCode, want, wantErrs := run(plain, false)
			assert.Equal(t, []any{wantCode, want, wantErrs}, []any{code, out, errs}, typed)
			if wantCode == cli.ExitUsage { // the line is right, and what it names is not there
				assert.Contains(t, wantErrs, "check the address: the dump knows of nothing there", plain)
			}
		}
		if strings.ContainsAny(typed, "|;'\"<>$") || strings.Contains(typed, "FILE") || strings.Contains(typed, "exit") || strings.HasPrefix(typed, "sosgo ") {
			continue // of the shell, or of a session
		}
		argCode, argOut, argErrs := run(typed, true)
		assert.Equal(t, []any{code, out, errs}, []any{argCode, argOut, argErrs}, "sosgo %s", typed)
	}
}

// TestTypesOfModule checks that types MODULE!PART lists the types of one module, and refuses a module without any.
func TestTypesOfModule(t *testing.T) {
	const dump = "../../../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst"
	rows := func(line string) []string {
		code, out, errs := runSpelling(t, "-d", dump, "-c", line)
		require.Zero(t, code, errs)
		return strings.Split(out, "\n")
	}
	all, own, dogs := rows("types -nocount"), rows("types -nocount Debuggee!"), rows("types -nocount debuggee.dll!Dog")
	assert.Greater(t, len(all), len(own))
	assert.Greater(t, len(own), len(dogs))
	assert.Equal(t, all, rows("types -nocount *!"))
	assert.Subset(t, all, own)
	for _, row := range dogs[1:] {
		assert.True(t, row == "" || strings.Contains(row, "Dog"), row)
	}
	for _, native := range []string{"libcoreclr!", "nosuch!Dog"} {
		code, out, errs := runSpelling(t, "-d", dump, "types", native)
		assert.Equal(t, cli.ExitUnsupported, code)
		assert.Empty(t, out)
		assert.Contains(t, errs, "no module is named")
	}
}

// TestPatternsOfNames checks that a name with stars finds types and methods.
func TestPatternsOfNames(t *testing.T) {
	const dump = "../../../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst"
	for pattern, want := range map[string][2]string{ // what it finds, and what not
		"*WaitHandle*":               {"Name:        System.Threading.WaitHandle\n", "Name:        System.Threading.WaitHandle.WaitOne("},
		"System.Threading.Monitor.*": {"Name:        System.Threading.Monitor.Enter(", "Name:        System.Threading.Monitor\n"},
		"*pulseall":                  {"Name:        System.Threading.Monitor.PulseAll(", "Name:        System.Threading.Monitor.Wait("},
	} {
		code, out, errs := runSpelling(t, "-d", dump, "x", "System.Private.CoreLib!"+pattern)
		assert.Equal(t, cli.ExitOK, code, errs)
		assert.Contains(t, out, want[0], pattern)
		assert.NotContains(t, out, want[1], pattern)
	}
}

// TestAdviceThatFits checks the next step for commands of other tools and wrong addresses.
func TestAdviceThatFits(t *testing.T) {
	const dump = "../../../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst"
	_, list, _ := runSpelling(t, "-d", dump, "dumpheap", "-short", "-type", "System.String")
	object := strings.Fields(list)[0]
	for typed, want := range map[string]string{
		"objsize -mt " + object:   "is not a MethodTable; it is an object (System.",
		"triage -p":               "the option -p needs a value",
		"comstate":                "clrthreads shows the apartments",
		"pe -ccw 1":               "dumpexceptions lists them",
		"dotnet-dump analyze x.y": "sosgo FILE opens a dump",
	} {
		code, out, errs := runSpelling(t, append([]string{"-d", dump}, strings.Fields(typed)...)...)
		assert.NotEqual(t, cli.ExitOK, code, typed)
		assert.Empty(t, out, typed)
		assert.Contains(t, errs, want, typed)
		assert.NotContains(t, errs, "doctor", typed)
	}
}
