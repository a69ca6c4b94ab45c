package testcase

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/target"
)

// A Manifest holds facts about a dump from the dumped program's side.
type Manifest struct {
	Name        string
	Source      string // for a slice: the original dump
	Dump        string
	Modules     string
	OS          string // "linux" or "windows"
	Arch        string // "x64" or "arm64"
	Runtime     string // version; both versions if there are two runtimes
	Kind        string // "full", "withheap", "normal", "triage"
	Scenario    string
	Environment map[string]string
	Tool        string // writer of the dump
	Output      string // output of a crashing program
	PID         uint32
	Threads     []ThreadFact
	Facts       map[string]json.RawMessage
	Expect      map[string]json.RawMessage // contents of objects, by the static field that refers to them
}

// A ThreadFact is a thread of the process just before the dump.
type ThreadFact struct {
	TID  uint32
	Comm string // the system's name for it
}

func readManifest(file string) (Manifest, error) {
	var m Manifest
	raw, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	if err != nil {
		return m, fmt.Errorf("%s: %w", file, err)
	}
	return m, nil
}

// NativeAOT reports whether the program was compiled ahead of time, without a runtime with
// metadata.
func (m *Manifest) NativeAOT() bool {
	return strings.Contains(m.Runtime, "NativeAOT") || strings.HasPrefix(m.Name, "nativeaot")
}

// Frozen is the generation of objects in the frozen heap.
const Frozen = 1<<31 - 1

// An ObjectFact is an object that the program knew: its address, its type in Type.ToString's form,
// and its generation.
type ObjectFact struct {
	Name       string
	Addr       target.Addr
	Type       string
	Generation int
}

// A TypeFact is the MethodTable of a type.
type TypeFact struct {
	Name string // in Type.ToString's form
	Addr target.Addr
}

// Objects returns the facts about objects, by address.
func (m *Manifest) Objects() []ObjectFact {
	var out []ObjectFact
	m.each(func(name, value string) {
		words := strings.Fields(value)
		if len(words) < 3 {
			return
		}
		gen, ok := strings.CutPrefix(words[len(words)-1], "gen")
		n, err := strconv.Atoi(gen)
		addr, isAddr := address(words[0])
		if ok && err == nil && isAddr {
			out = append(out, ObjectFact{name, addr, strings.Join(words[1:len(words)-1], " "), n})
		}
	})
	slices.SortFunc(out, func(a, b ObjectFact) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// Types returns the facts about types, by name.
func (m *Manifest) Types() []TypeFact {
	var out []TypeFact
	m.each(func(name, value string) {
		if name, ok := strings.CutPrefix(name, "type "); ok {
			name, _, _ = strings.Cut(name, " of ") // the assembly follows if several types have one name
			if addr, ok := address(value); ok {
				out = append(out, TypeFact{name, addr})
			}
		}
	})
	slices.SortFunc(out, func(a, b TypeFact) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Addr, b.Addr))
	})
	return out
}

// Fact returns the first text of the named fact.
func (m *Manifest) Fact(name string) (string, bool) {
	values := texts(m.Facts[name])
	if len(values) == 0 {
		return "", false
	}
	return values[0], true
}

func (m *Manifest) each(f func(name, value string)) {
	for name, raw := range m.Facts {
		for _, v := range texts(raw) {
			f(name, v)
		}
	}
}

// texts returns the values of a fact, which is a text or a list of texts.
func texts(raw json.RawMessage) []string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	var many []string
	if json.Unmarshal(raw, &many) != nil {
		return nil
	}
	return many
}

func address(s string) (target.Addr, bool) {
	digits, ok := strings.CutPrefix(s, "0x")
	n, err := strconv.ParseUint(digits, 16, 64)
	return target.Addr(n), ok && err == nil
}

// Address parses an address of the oracle. It returns 0 for anything else.
func Address(v any) target.Addr {
	s, _ := v.(string)
	a, _ := address(s)
	return a
}
