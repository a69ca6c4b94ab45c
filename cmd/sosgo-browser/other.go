//go:build !js

// Command sosgo-browser runs only in a web page.
package main

import (
	"fmt"
	"os"
)

// main reports that the program needs the worker of a page.
func main() {
	fmt.Fprintln(os.Stderr, "sosgo-browser runs in a web page: build it with GOOS=js GOARCH=wasm, or run node site.mjs in ui")
	os.Exit(1)
}
