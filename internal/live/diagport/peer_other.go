//go:build !linux && !windows

package diagport

import "net"

// checkPeer does nothing: the standard library cannot ask these systems for the other end of a connection. The owner of
// the socket was checked, and the process answers with its own id.
func checkPeer(*net.UnixConn, int, uint32) error { return nil }
