// Command viewgen writes view_questions.go and view_options.go of the root package: a method of View for each question in
// the table, and the options that importers can set. The functions and their comments stand in internal/app; options
// of functions are structs there, with fields that only sosgo's own packages set, and embedded structs. An importer's
// options are flat and without them.
package main

import (
	"fmt"
	"os"
)

func main() {
	files, err := generate(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "viewgen:", err)
		os.Exit(1)
	}
	for name, text := range files {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "viewgen:", err)
			os.Exit(1)
		}
	}
}
