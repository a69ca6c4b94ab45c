package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// inventoryName is a command of slicedump itself.
const inventoryName = "slicedumpinventory"

// commandsOf lists the commands whose answers a slice of the case must keep: the commands that SOS
// was run with (sos/*.txt), with their arguments, and those for every case. Unknown commands fail
// on both dumps.
func commandsOf(dir string, m manifest) ([]string, error) {
	lines := []string{
		inventoryName,
		"eeversion", "runtimes", "modules -v", "clrmodules -v", "clrthreads", "threads", "registers", "eeheap", "eeheap -gc",
		"dumpheap", "dumpheap -stat", "dumpheap -strings", "dumpheap -thinlock", "gchandles", "gchandles -stat", "syncblk -all",
		"dumpexceptions", "finalizequeue", "finalizequeue -stat", "gcheapstat", "dumpdomain", "verifyheap", "threadpool",
		"dumpruntimetypes", "sizestats", "clrstack -all", "clrstack -a", "dumpstackobjects -all", "printexception", "parallelstacks",
		"dumpasync", "dumpasync -locals -fields -tasks -completed", "timerinfo", "assemblies", "crashinfo", "gcroot -all",
	}
	lines = append(lines, factCommands(m)...)
	for i := range 64 { // the maximum number of threads in the corpus
		lines = append(lines, fmt.Sprintf("setthread %d", i), "clrstack -a", "clrstack -f", "clrstack -gc", "clrstack -r",
			"dso", "dso -verify", "printexception", "threadstate", "registers")
	}
	files, err := filepath.Glob(filepath.Join(dir, "sos", "*.txt"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	for _, file := range files {
		asked, err := promptLines(file)
		if err != nil {
			return nil, err
		}
		lines = append(lines, asked...)
	}
	return slices.DeleteFunc(lines, touchesFiles), nil
}

// chosenCommands returns the lines of a file, without comments (#), or commandsOf if there is no
// file.
func chosenCommands(file, dir string, m manifest) ([]string, error) {
	if file == "" {
		return commandsOf(dir, m)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	lines := []string{inventoryName}
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// factCommands returns commands about the objects in the manifest's facts.
func factCommands(m manifest) []string {
	facts, _ := m["facts"].(map[string]any)
	var names []string
	for name := range facts {
		names = append(names, name)
	}
	slices.Sort(names)
	var lines []string
	for _, name := range names {
		text, _ := facts[name].(string)
		words := strings.Fields(text)
		if len(words) == 0 || !strings.HasPrefix(words[0], "0x") {
			continue
		}
		at := words[0]
		if strings.HasPrefix(name, "type ") {
			lines = append(lines, "dumpmt -md "+at, "dumpclass "+at, "dumpheap -mt "+at,
				"name2ee * \""+strings.TrimPrefix(name, "type ")+"\"")
			continue
		}
		if len(words) > 1 && strings.HasSuffix(words[1], "]") {
			lines = append(lines, "dumparray -details "+at)
		}
		lines = append(lines, "dumpobj "+at, "dumpdelegate "+at, "printexception "+at, "gcwhere "+at, "gcroot "+at, "objsize "+at,
			"verifyobj "+at, "listnearobj "+at)
	}
	return lines
}

// promptLines returns the commands in a file of SOS's answers.
func promptLines(file string) ([]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var lines []string
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		if line, ok := strings.CutPrefix(sc.Text(), "$ "); ok {
			lines = append(lines, line)
		}
	}
	return lines, errors.Join(sc.Err())
}

// touchesFiles reports whether a line writes a file or runs a program.
func touchesFiles(line string) bool {
	return strings.Contains(line, " >") || strings.Contains(line, "|")
}
