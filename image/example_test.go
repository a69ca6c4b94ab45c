package image_test

import (
	"fmt"
	"log"

	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/image"
)

// Print which builds of the runtime's libraries were loaded.
func ExampleIdentityOf() {
	f, err := dump.Open("../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", dump.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	for _, m := range f.Modules() {
		switch m.Path {
		case "/app/net10/libcoreclr.so", "/app/net10/libclrjit.so":
			fmt.Println(m.Path, image.IdentityOf(f, &m))
		}
	}
	// Output:
	// /app/net10/libclrjit.so build id 37a2f0a0384c6c2f9f483fbd7774bb12505e6d0a
	// /app/net10/libcoreclr.so build id e217f0fc049d68f827cc2e462c0c3b59ad69a198
}
