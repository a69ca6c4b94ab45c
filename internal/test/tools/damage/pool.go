package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/target"
)

// pools are values in the output of commands for the undamaged dump, as arguments for other
// commands. The keys are names in JSON documents, prefixed with = for values that are not
// addresses.
type pools map[string][]string

// firstLines are commands with addresses and names in their output.
var firstLines = []string{
	"assemblies", "modules", "clrthreads", "threads", "eeheap", "dumpheap", "clrstack -all", "clrstack -a", "dumpstackobjects -all", "gchandles",
	"finalizequeue", "types", "dumpexceptions", "syncblk -all", "runtimes", "dumpdomain", "statics -all", "printexception", "dumpruntimetypes",
	"eestack -EE", "registers", "dumpheap -stat",
}

// linesAfter take arguments from the output of firstLines.
var linesAfter = map[string][]string{
	"methodTable": {"dumpmt -md", "dumpclass", "dumpheap -mt"}, "module": {"dumpmodule -mt"}, "object": {"dumpobj"},
	"methodDesc": {"dumpmd"}, "ip": {"ip2md"}, "assembly": {"dumpassembly"},
}

// poolSize is the maximum number of values of a kind.
const poolSize = 400

// learnPools runs firstLines and linesAfter on an undamaged dump.
func (s *subject) learnPools(random *rand.Rand) {
	s.pools = pools{}
	run := func(line string) result { return s.run(context.Background(), s.dump, 1, line) }
	if !s.alone() {
		if d, err := sosgo.OpenReaderAt(target.BytesSource(s.dump), int64(len(s.dump)), s.options(1)); err == nil {
			run = func(line string) result { return s.runOpen(context.Background(), d, 1, line) }
		}
	}
	ask := func(line string) {
		r := run(line + " -json")
		var doc struct {
			Result any `json:"result"`
		}
		if json.Unmarshal([]byte(r.stdout), &doc) == nil {
			name, _, _ := strings.Cut(line, " ")
			s.pools.add(name, "", doc.Result)
		}
	}
	for _, line := range firstLines {
		ask(line)
	}
	s.pools.trim(random)
	for _, key := range slices.Sorted(maps.Keys(linesAfter)) {
		for _, line := range linesAfter[key] {
			for range 6 {
				if a, ok := s.pools.pick(random, key); ok {
					ask(line + " " + a)
				}
			}
		}
	}
	s.pools.trim(random)
}

// add collects the addresses and names in a document. A kind is also stored together with its
// command.
func (p pools) add(command, key string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			p.add(command, k, e)
		}
	case []any:
		for _, e := range v {
			p.add(command, key, e)
		}
	case float64:
		if key == "osId" || key == "managedId" {
			p.put("="+key, strconv.FormatUint(uint64(v), 10))
		}
	case string:
		a, isAddress := strings.CutPrefix(v, "0x")
		switch {
		case isAddress && len(a) > 4:
			p.put(key, a)
			p.put(command+"."+key, a)
			p.put("any", a)
		case !isAddress && v != "" && len(v) < 200 && !strings.ContainsAny(v, "\"'|>\n\r\t;"):
			p.put("="+key, v)
		}
	}
}

func (p pools) put(key, v string) {
	if n := len(p[key]); n == 0 || p[key][n-1] != v {
		p[key] = append(p[key], v)
	}
}

// trim sorts the pools, so that they are the same each time, and cuts them.
func (p pools) trim(random *rand.Rand) {
	for _, key := range slices.Sorted(maps.Keys(p)) {
		list := p[key]
		slices.Sort(list)
		list = slices.Compact(list)
		if len(list) > poolSize {
			random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			list = list[:poolSize]
			slices.Sort(list)
		}
		p[key] = list
	}
}

// pick returns a value of the first of the kinds that has any.
func (p pools) pick(random *rand.Rand, keys ...string) (string, bool) {
	for _, key := range keys {
		if list := p[key]; len(list) > 0 {
			return list[random.IntN(len(list))], true
		}
	}
	return "", false
}

func hex(a uint64) string { return fmt.Sprintf("%x", a) }
