package symbolserver_test

import (
	"fmt"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/files/symbolserver"
)

// Use a symbol server for files that are missing on this machine.
func Example() {
	microsoft := &symbolserver.Server{URL: "https://msdl.microsoft.com/download/symbols", Budget: &symbolserver.Budget{File: 100 << 20}}
	d, err := sosgo.Open("../../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{SymbolServers: []sosgo.SymbolServer{microsoft}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	fmt.Println(len(d.Runtimes()), d.FileProblems())
	// Output: 1 []
}
