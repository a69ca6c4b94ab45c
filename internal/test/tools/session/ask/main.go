// Command ask passes its command line to the server of internal/test/tools/session, and prints what that answers:
//
//	ask SOCKET -d DUMP -c COMMAND...
//
// It is small, so that asking ten thousand questions costs little.
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
)

func main() {
	var answer struct {
		Stdout, Stderr []byte
		Code           int
	}
	conn, err := net.Dial("unix", os.Args[1])
	if err == nil {
		err = json.NewEncoder(conn).Encode(os.Args[2:])
	}
	if err == nil {
		err = json.NewDecoder(conn).Decode(&answer)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ask:", err)
		os.Exit(1)
	}
	_, _ = os.Stdout.Write(answer.Stdout)
	_, _ = os.Stderr.Write(answer.Stderr)
	os.Exit(answer.Code)
}
