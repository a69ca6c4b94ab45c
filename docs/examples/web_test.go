package examples

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/ui"
)

// Serve the page of a dump, and the JSON of all commands, from a handler of net/http.
func Example_web() {
	d, err := sosgo.Open("../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	server := httptest.NewServer(ui.Handler(d, ui.Options{})) // or http.Handle
	defer server.Close()
	answer, err := http.Get(server.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	fmt.Println(answer.Status, answer.Header.Get("Content-Type"))
	// Output:
	// 200 OK text/html; charset=utf-8
}
