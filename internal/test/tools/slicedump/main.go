// Command slicedump makes a small dump from a large one. It runs commands on the large dump,
// records what they read, and writes a dump of the same process with this memory and all other
// memory of the process itself that is not zero. Memory read from module files becomes part of the
// new dump, which therefore needs no module files. It then runs the commands on the new dump and
// fails unless they print the same. Folders of the machine where the dump was made get other names
// of the same length in the new dump.
//
//	go run ./internal/test/tools/slicedump -out testdata/dumps CORPUS/CASE...
//
// testdata/dumps/README.md describes how the canned dumps were made.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	var o options
	flag.StringVar(&o.out, "out", ".", "the folder in which each dump gets a folder")
	flag.StringVar(&o.name, "name", "", "the name of the new dump; default: that of the case")
	flag.StringVar(&o.commands, "commands", "", "a file with the command lines whose answers to keep, instead of the general ones")
	flag.Uint64Var(&o.grain, "grain", pageSize, "size in bytes of the pieces of memory that are kept or left out, a power of 2")
	flag.BoolVar(&o.lean, "lean", false, "of the process's own memory too, keep only what was read")
	flag.BoolVar(&o.bare, "bare", false, "take nothing from module files: the slice needs them as the dump does")
	flag.Usage = usage
	flag.Parse()
	if flag.NArg() == 0 || o.grain == 0 || o.grain&(o.grain-1) != 0 || pageSize%o.grain != 0 || o.name != "" && flag.NArg() > 1 {
		flag.Usage()
		os.Exit(2)
	}
	for _, dir := range flag.Args() {
		if err := slice(context.Background(), dir, o); err != nil {
			fmt.Fprintf(os.Stderr, "slicedump: %s: %v\n", dir, err)
			os.Exit(1)
		}
	}
}

func usage() {
	fmt.Fprintln(flag.CommandLine.Output(), "usage: slicedump [-out DIR] [-name NAME] [-lean] [-bare] [-commands FILE] [-grain N] CASE...")
	flag.PrintDefaults()
}

type options struct {
	out, name string
	commands  string
	lean      bool
	grain     uint64
	bare      bool
}

// A manifest is a case's manifest.json. Members that slicedump does not use are copied.
type manifest map[string]any

func (m manifest) text(key string) string {
	s, _ := m[key].(string)
	return s
}

// slice makes a slice of one case.
func slice(ctx context.Context, dir string, o options) error {
	m := manifest{}
	raw, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	if err != nil {
		return err
	}
	c := &job{dump: filepath.Join(dir, m.text("dump")), lean: o.lean, grain: o.grain, chosen: o.commands != ""}
	if set := m.text("modules"); set != "" {
		folder, err := withoutPDBs(filepath.Join(dir, set))
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		c.modules = []string{folder}
	}
	run := c.run
	if o.bare {
		c.commands, run = bareCommands(), c.runBare
	} else if c.commands, err = chosenCommands(o.commands, dir, m); err != nil {
		return err
	}
	name := o.name
	if name == "" {
		name = m.text("name")
	}
	small, err := run(ctx)
	if small == nil {
		return err
	}
	// A slice with other answers is written too, for examination.
	return errors.Join(err, write(filepath.Join(o.out, name), filepath.Base(name), m, small))
}

// withoutPDBs makes a folder of links to the module files in dir: the content of PDBs can't become
// memory of a dump.
func withoutPDBs(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	out, err := os.MkdirTemp("", "slicedump")
	if err != nil {
		return "", err
	}
	return out, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.EqualFold(filepath.Ext(path), ".pdb") {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		link := filepath.Join(out, rel)
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			return err
		}
		return os.Symlink(path, link)
	})
}

// write writes the folder of a canned dump.
func write(dir, name string, m manifest, small []byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	packed, err := compress(small)
	if err != nil {
		return err
	}
	m["source"] = m["name"]
	m["name"], m["dump"] = name, name+".dmp.zst"
	delete(m, "modules")
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(m); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(text.String()), 0o644); err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes, %d compressed\n", name, len(small), len(packed))
	return os.WriteFile(filepath.Join(dir, name+".dmp.zst"), packed, 0o644)
}
