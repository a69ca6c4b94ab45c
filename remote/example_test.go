package remote_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/remote"
)

// Open a dump on a web server. Only what is read is transferred.
func ExampleOpen() {
	web := httptest.NewServer(http.FileServer(http.Dir("../testdata/dumps/net10-zoo")))
	defer web.Close()
	d, err := remote.Open(context.Background(), web.URL+"/net10-zoo.dmp.zst", remote.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	fmt.Println(len(d.Runtimes()), "runtime")
	// Output: 1 runtime
}

// Use a symbol server for files that are missing on this machine.
func ExampleNewSymbolServer() {
	microsoft := remote.NewSymbolServer("https://msdl.microsoft.com/download/symbols", remote.SymbolServerOptions{MaxFile: 100 << 20})
	d, err := sosgo.Open("../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{SymbolServers: []sosgo.SymbolServer{microsoft}})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	fmt.Println(len(d.Runtimes()), d.FileProblems())
	// Output: 1 []
}
