// Typecheck type-checks packages and their tests for the system and processor of GOOS and GOARCH, from source: to compile
// the standard library for each of them, as go vet has to, takes ten times as long.
package main

import (
	"fmt"
	"os"

	"golang.org/x/tools/go/packages"
)

func main() {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax, Tests: true}, os.Args[1:]...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if len(pkgs) == 0 || packages.PrintErrors(pkgs) > 0 {
		os.Exit(1)
	}
}
