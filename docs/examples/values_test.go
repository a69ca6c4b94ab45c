package examples

import (
	"fmt"
	"log"
	"math/big"
	"time"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// Read values of common structs: DateTime, TimeSpan, Guid, decimal, Nullable and enums.
func Example_values() {
	d, err := sosgo.Open("../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	r, err := v.Objects()
	if err != nil {
		log.Fatal(err)
	}
	o, err := r.Object(0x7efbcd805c98) // a Debuggee.Zoo.Primitives
	if err != nil {
		log.Fatal(err)
	}
	when, err := objects.As[time.Time](o.Field("DateTime"))
	fmt.Println(when, err)
	span, err := objects.As[time.Duration](o.Field("TimeSpan"))
	fmt.Println(span, err)
	id, err := objects.As[target.GUID](o.Field("Guid"))
	fmt.Println(id, err)
	price, err := objects.As[*big.Rat](o.Field("Decimal"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(price.FloatString(4))
	some, err := objects.As[*int](o.Field("Some"))
	if err != nil {
		log.Fatal(err)
	}
	none, err := objects.As[*int](o.Field("None"))
	fmt.Println(*some, none, err)
	color, err := o.Field("Enum").Enum()
	fmt.Println(color, err)
	// Output:
	// 2013-02-28 01:02:03 +0000 UTC <nil>
	// 1h30m30s <nil>
	// 00112233-4455-6677-8899-aabbccddeeff <nil>
	// 12345.6789
	// 17 <nil> <nil>
	// Green <nil>
}
