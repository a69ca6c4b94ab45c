package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/test/testcli"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// sosCommands are the names of SOS's commands, and the short ones, that work on
// dumps: on Windows, Linux and in dotnet-dump.
const sosCommands = `dumpobj do dumpvc dumparray da dumpdelegate dumpheap dumpstackobjects dso gcroot pathto objsize dumpobjgcrefs dumpgen dg
gcheapstat dumpgcdata gcwhere listnearobj lno verifyheap verifyobj eeheap finalizequeue fq gchandles gchandleleaks syncblk dumpruntimetypes
traverseheap notreachableinrange ephrefs ephtoloh sizestats analyzeoom findpointersin gctonative maddress histinit histobj histobjfind histroot
histstats histclear dumplog enummem clrstack clrthreads threads setthread threadstate printexception pe dumpexceptions crashinfo clrma
parallelstacks pstacks dumpstack eestack findroots registers r watsonbuckets comstate dumpmt dumpclass dumpmd ip2md dumpmodule dumpassembly
dumpdomain dumpalc name2ee token2ee dumpil dumpsig dumpsigelem ehinfo gcinfo clru u findappdomain dumprcw dumpccw rcwcleanuplist assemblies
clrmodules savemodule saveallmodules dumpasync threadpool threadpoolqueue tpq taskstate tks timerinfo ti dumpconcurrentdictionary dcd
dumpconcurrentqueue dcq dumphttp dumprequests dumplocks eeversion modules lm runtimes setruntime setsymbolserver loadsymbols setclrpath d
readmemory db dc du dw dd dp dq sosstatus sosflush logopen logclose logging dbgout vmmap vmstat procinfo minidumpmode tracetocode
suppressjitoptimization processor verifygmt exposedml bpmd soe watch savestate soshelp help exit quit q`

// TestNamesOfSOS: every name of SOS's is a command, or is said not to be there yet; and
// none that is there is said not to be.
func TestNamesOfSOS(t *testing.T) {
	d := testdump.Open(t, "net10-crash-null-triage")
	for name := range strings.FieldsSeq(sosCommands) {
		_, errs, _ := run(t, "-d", d.Plain(), "-c", name+" -nosuchoption")
		assert.NotContains(t, errs, "there is no command", name)
	}
	known, _, _ := run(t, "help", "all")
	for _, line := range strings.Split(known, "\n") {
		names, _, _ := strings.Cut(strings.TrimSpace(line), "  ")
		for name := range strings.SplitSeq(names, ", ") {
			if strings.HasPrefix(line, "  ") && !strings.HasPrefix(name, "-") {
				_, errs, _ := run(t, "-d", d.Plain(), "-c", name+" -nosuchoption")
				assert.NotContains(t, errs, "not there yet", name)
			}
		}
	}
}

// TestNumbersAsPrinted: threads by their ids as listings print them, and what people
// write elsewhere for counts, generations and registers.
func TestNumbersAsPrinted(t *testing.T) {
	d := testdump.Open(t, "net10-zoo") // its threads are 0x2cde (index 0) to 0x2ce7
	kept := testcli.Kept{Path: d.Plain()}
	for line, want := range map[string]string{
		"clrstack 2ce6":                   "OS Thread Id: 0x2ce6 (8)",
		"clrstack 0x2ce6":                 "OS Thread Id: 0x2ce6 (8)",
		"clrstack 0n11494":                "OS Thread Id: 0x2ce6 (8)",
		"clrstack 11494":                  "OS Thread Id: 0x2ce6 (8)",
		"clrstack 8":                      "OS Thread Id: 0x2ce6 (8)",
		"setthread -t 2ce6;clrstack":      "OS Thread Id: 0x2ce6 (8)",
		"setthread -t 11494;clrstack":     "OS Thread Id: 0x2ce6 (8)",
		"~8s;clrstack":                    "OS Thread Id: 0x2ce6 (8)",
		"~~[2ce6]e clrstack":              "OS Thread Id: 0x2ce6 (8)",
		"r rip":                           "rip = 0x00007F0824283F16\n",
		"r RIP":                           "rip = 0x00007F0824283F16\n",
		"~0 r rip":                        "rip = 0x00007F0824283F16\n",
		"dq 7efbcd80b550 L2":              "00007efbcd80b550: 00007f07a5b48748 00007f079cc008b8",
		"dd 7efbcd80b550 7efbcd80b554":    "00007efbcd80b550: a5b48748 00007f07",
		"dumpheap -stat -type:Zoo.Dog":    "Debuggee.Zoo.Dog",
		"dumpheap -stat -gen 0":           "System.String",
		"dumpgen 0":                       "System.String",
		"dumpheap -stat -type Zoo.dog":    "did you mean Zoo.Dog?",
		"dumpheap -type Dogg":             "did you mean Dog?",
		"dumpheap -stat -type Dog -gen 2": "no object was found",
		"dumpheap -gen 2":                 "no object was found",
		"dumpheap -min 1000000000":        "no object was found",
		"statics Statcs":                  `no static field was found for "Statcs"`,
		"types Zoo.Dgo":                   `no loaded type was found for "Zoo.Dgo"`,
	} {
		out, errs, code := runIn(t, kept.Env(), "-d", kept.Path, "-c", line)
		assert.Zero(t, code, "%s: %s", line, errs)
		assert.Contains(t, out+errs, want, line)
	}
	for line, want := range map[string]string{
		"clrstack 187z":            `"187z" is not a thread`,
		"clrstack 2ce6f":           "no thread has the index or OS id 2ce6f",
		"dq 7efbcd80b550 Lx":       "neither L and a number",
		"dq 7efbcd80b550 L0":       "neither L and a number",
		"dumpheap -stat -gen gen7": "is not a supported generation",
	} {
		_, errs, code := runIn(t, kept.Env(), "-d", kept.Path, "-c", line)
		assert.Equal(t, 1, code, line)
		assert.Contains(t, errs, want, line)
	}
	out, _, _ := runIn(t, kept.Env(), "-d", kept.Path, "-sos", "-c", "dumpheap -stat -type zoo.dog")
	assert.Empty(t, out, "SOS's form says no more than SOS")
	require.NoError(t, kept.Close())
}

// TestNoAnswer: that an expression has no answer is no fault of the dump: nobody is sent to look what it is.
func TestNoAnswer(t *testing.T) {
	kept := testcli.Kept{Path: testdump.Open(t, "net10-zoo").Plain()}
	for line, want := range map[string]string{
		"1 / 0":                             "division by zero",
		`"abc"[7]`:                          "its length is 3",
		"Debuggee.Zoo.Statics.Array[3]":     "no element [3]",
		"Debuggee.Zoo.Statics.Null.Length":  "of a null reference",
		"obj(0x7efbcd80b550).name - 1":      "is not defined for",
		"(Debuggee.Zoo.Dog)0x7efbcd805be8":  "is no Debuggee.Zoo.Dog",
		"Debuggee.Zoo.Statics.String / 2.5": "is not defined for",
	} {
		_, errs, code := runIn(t, kept.Env(), "-d", kept.Path, "eval", line)
		assert.Equal(t, cli.ExitUsage, code, "%s: %s", line, errs)
		assert.Contains(t, errs, want, line)
		assert.NotContains(t, errs, "sosgo info", line)
	}
	require.NoError(t, kept.Close())
}
