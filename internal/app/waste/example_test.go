package waste_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/waste"
)

// Which fields hold strings that are there twice?
func Example() {
	d, err := sosgo.Open("../../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	h, err := d.Heap()
	if err != nil {
		log.Fatal(err)
	}
	r, err := d.Objects()
	if err != nil {
		log.Fatal(err)
	}
	w, err := waste.Find(context.Background(), h, r, waste.Options{Kinds: []answer.WasteForm{answer.WasteStrings}, Top: 2})
	if err != nil {
		log.Fatal(err)
	}
	for _, k := range w.Kinds {
		fmt.Println(k.Objects, "strings waste", k.Wasted, "bytes")
		for _, holder := range k.Holders {
			fmt.Println(holder.References, "references of", holder.Holder)
		}
	}
	// Output:
	// 99 strings waste 4748 bytes
	// 74 references of System.RuntimeType+RuntimeTypeCache.m_namespace
	// 94 references of System.String[]
}
